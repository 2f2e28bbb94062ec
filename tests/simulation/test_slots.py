"""No slot commits twice, and none without its writes: the simulation notices where it does."""

import logging
from contextlib import suppress
from dataclasses import replace
from unittest.mock import patch

import pytest

from minutero.errors import Unavailable
from minutero.testing.memory_slots import MemorySlots
from minutero.transaction import Transaction
from tests.simulation.run import SHARE, run_seed
from tests.simulation.slots import WatchedSlots

WITH_SLOTS = range(1, 10 * SHARE, SHARE)
_take = MemorySlots.take
_leave = Transaction.__exit__


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def upserted(self, slot, writes):
    self.taken.pop(slot.slot_id, None)
    return _take(self, slot, writes)


def written_before(self, slot, writes):
    """Whoever dies between the two leaves a slot that is taken, and no writes."""
    if slot.slot_id in self.taken:
        return self.taken[slot.slot_id].owner == slot.owner
    self.taken[slot.slot_id] = slot
    return _take(self, replace(slot, key=f"{slot.key}, its writes"), writes)


def unknown_is_done(self, kind, error, traceback):
    """No answer is taken for a good one."""
    with suppress(Unavailable):
        _leave(self, kind, error, traceback)


@pytest.mark.parametrize(
    ("owner", "method", "broken"),
    [
        (MemorySlots, "take", upserted),
        (MemorySlots, "take", written_before),
        (Transaction, "__exit__", unknown_is_done),
    ],
    ids=lambda one: getattr(one, "__name__", str(one)),
)
def test_the_simulation_kills_slots_that_are(owner, method, broken):
    with patch.object(owner, method, broken):
        told = {run_seed(seed).broken for seed in WITH_SLOTS}
    assert "slot" in told


def test_some_seeds_take_slots():
    taken = {}
    end = WatchedSlots.check_end

    def counting(self):
        taken[seed] = len(self.paid)
        end(self)

    with patch.object(WatchedSlots, "check_end", counting):
        for seed in (0, 1, 2, SHARE - 1, SHARE + 1):
            assert run_seed(seed).broken == ""
    assert {seed for seed, number in taken.items() if number > 20} == {1, SHARE + 1}
