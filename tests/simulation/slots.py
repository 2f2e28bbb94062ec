"""Slots in the simulation: a run pays twice, under a slot of its own and under one it shares with others."""

from collections import Counter
from collections.abc import Sequence
from zlib import crc32

from minutero.domain.run import Ending
from minutero.domain.slot import Slot, Write
from minutero.jobs import Run
from minutero.testing.memory_slots import MemorySlots, MemoryTable
from tests.simulation.watch import Violation, Watch

PURSES = 12


class WatchedSlots(MemorySlots):
    """`paid` counts by slot how often its writes took effect."""

    def __init__(self, watch: Watch) -> None:
        super().__init__(purses=MemoryTable("id"))
        self.watch = watch
        self.paid: Counter[str] = Counter()

    def take(self, slot: Slot, writes: Sequence[Write]) -> bool:
        before = self._coins()
        told = super().take(slot, writes)
        if self._coins() > before:
            self.paid[slot.slot_id] += 1
        if self.paid[slot.slot_id] > 1:
            raise Violation("slot", f"{slot.slot_id} was committed twice")
        if self.paid[slot.slot_id] == 0:
            raise Violation("slot", f"{slot.slot_id} is told to be taken, and nothing was written")
        return told

    def check_end(self) -> None:
        """Each slot that is taken has paid; who succeeded has paid under its own."""
        if set(self.taken) != set(self.paid) or self._coins() != sum(self.paid.values()):
            raise Violation("slot", f"{self.taken} are taken, {self.paid} have paid")
        paid_by = {slot_id.rpartition("#")[2] for slot_id in self.paid}
        for task_id, ending in self.watch.ended.items() if self.paid else ():
            if ending is Ending.SUCCEEDED and task_id not in paid_by:
                raise Violation("slot", f"{task_id} succeeded and has not paid")

    def _coins(self) -> int:
        return sum(purse["coins"] for purse in self.tables["purses"].items())


def pay(run: Run) -> None:
    """What a job of the simulation does before all else, in worlds with slots."""
    purse = crc32(run.task_id.encode()) % PURSES
    for key in (f"purse-{purse}", run.key):
        with run.once(key) as tx:
            tx.update("purses", {"id": purse}, "ADD coins :one", values={":one": 1})
