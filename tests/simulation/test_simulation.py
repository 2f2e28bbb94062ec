"""The promises hold in every weather."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.simulation.many import run_seeds, summary
from tests.simulation.run import run_seed

SEEDS = 2_000
LEAST_TASKS = 100_000
ROOT = Path(__file__).parents[2]


def test_nothing_is_early_lost_or_doubled_over_two_thousand_seeds():
    totals = summary(run_seeds(range(SEEDS), os.cpu_count() or 1))

    assert totals["tasks"] >= LEAST_TASKS
    assert {name: totals[name] for name in ("early", "lost", "doubled", "other")} == {
        "early": 0,
        "lost": 0,
        "doubled": 0,
        "other": 0,
    }


def test_the_same_seed_gives_the_same_result():
    assert run_seed(17) == run_seed(17)
    assert run_seed(17).digest != run_seed(18).digest


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_the_command_ends_with_the_documented_line_and_repeats_to_the_letter(hash_seed):
    command = [sys.executable, "-m", "tests.simulation", "--seeds", "4", "--from", "30"]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    run = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True
    )

    told = json.loads(run.stdout.splitlines()[-1])
    assert told == summary(run_seeds(range(30, 34), 1))
