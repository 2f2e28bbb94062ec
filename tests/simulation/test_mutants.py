"""Each rule of the protocol is needed: without it the simulation breaks a promise."""

import logging

import pytest

from tests.simulation.mutant import Mutant
from tests.simulation.mutants import MUTANTS
from tests.simulation.run import run_seed
from tests.simulation.schedule_mutants import SCHEDULE_MUTANTS

ALL = (*MUTANTS, *SCHEDULE_MUTANTS)

MOST_SEEDS = 800
"""A mutant's own `seed` is tried first; a change of the code may shift what happens in it, and then others
are, up to this many."""


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_the_simulation_kills_the_protocol_without(mutant: Mutant):
    with mutant.breaks():
        for seed in (mutant.seed, *range(MOST_SEEDS)):
            result = run_seed(seed, season=mutant.season)
            if result.broken:
                break

    assert result.broken in mutant.seen_as, (
        f"{mutant.name} ({mutant.rule}): seed {seed}, broken: {result.detail or 'nothing'}"
    )


@pytest.mark.parametrize("mutant", ALL, ids=lambda mutant: mutant.name)
def test_the_whole_protocol_survives_the_seed_that_kills_the_one_without(mutant: Mutant):
    assert run_seed(mutant.seed, season=mutant.season).broken == ""
