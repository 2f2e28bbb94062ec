"""Runs: the locks after SQS, and the call around a job."""

from collections.abc import Callable, Sequence
from typing import Protocol

from minutero.domain.exchanged import RunResult
from minutero.domain.run import Outcome, RunRecord
from minutero.domain.slot import Slot, Write


class RunLedger(Protocol):
    """The Runs table: the lock after SQS. One record a run, one owner an attempt."""

    def start(self, run_id: str, owner: str, now: int, until: int, keep_until: int) -> RunRecord:
        """Starts an attempt and counts it. Guard: no record, or one whose attempt failed or ran out.

        The record as it now is when started (its `owner` is ours), else as it was: finished, or running
        under another owner. Finding one's own token there is one's own retry: started."""

    def finish(self, run_id: str, owner: str, outcome: Outcome, now: int) -> bool:
        """Ends a run. Guard: still ours (or ended by us before). False: overtaken, nothing written."""

    def fail(self, run_id: str, owner: str, error: str, now: int) -> bool:
        """Ends an attempt, keeping its error. Guard: still ours. False: overtaken, nothing written."""

    def close(self, run_id: str, outcome: Outcome, now: int, keep_until: int) -> RunRecord:
        """Ends a run that nobody is running. Guard: it may start. The record as it then is: ended (by this
        call or before), or running."""

    def get(self, run_id: str) -> RunRecord | None:
        """The record of a run."""

    def get_many(self, run_ids: Sequence[str]) -> dict[str, RunRecord]:
        """The records of up to 100 runs, no id twice, in one read; those without one are left out."""

    def known(self, run_ids: Sequence[str]) -> frozenset[str]:
        """Which of up to 100 runs have a record. Not consistent: a record may be a moment too new."""


class RunOnce(Protocol):
    """The idempotent call around a job: start in the ledger, body, finish or fail in the ledger."""

    def __call__(
        self, run_id: str, until: int, keep_until: int, body: Callable[[int], Outcome], /
    ) -> "RunResult":
        """Calls `body(attempt)` if the run may start. An exception of the body fails the attempt."""


class Slots(Protocol):
    """What jobs take together with their own writes. Slots lie beside the run records."""

    def take(self, slot: Slot, writes: Sequence[Write]) -> bool:
        """Takes a slot and makes the writes, in one transaction. Guard: nobody has taken it, or its time is
        over. False when somebody has: then nothing was written, whatever the writes' own conditions say.
        Finding the own owner there is one's own try: True.

        Raises ConditionFailed when the slot is free and a write's own condition failed, InvalidInput for
        writes that can never be made; the slot is free then."""


class OverlapLocks(Protocol):
    """One lock a schedule, for those whose runs must not overlap."""

    def take(self, schedule: str, run_id: str, now: int, until: int) -> bool:
        """For a run, until then. Guard: free, run out, or this very run's. False: another run has it."""

    def let_go(self, schedule: str, run_id: str) -> None:
        """Guard: this very run's; else another has taken it since, and it stays."""
