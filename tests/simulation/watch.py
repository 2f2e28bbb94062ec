"""The invariants, checked where an effect takes place, never from what a service believes."""

from minutero.domain.buckets import bucket_name, parse_bucket
from minutero.domain.exchanged import Cursor, Move
from minutero.domain.instants import MINUTE
from minutero.domain.occurrence import Occurrence
from minutero.domain.run import Ending, RunRecord
from minutero.domain.task import OpenClaim, State, Task
from tests.simulation.kernel import Kernel

CLOCKS_DIFFER = 20_000
"""More than the clocks of two functions differ here, less than the margin the protocol has for it."""


class Violation(BaseException):
    """A promise was broken. `invariant` is its short name."""

    def __init__(self, invariant: str, detail: str) -> None:
        super().__init__(f"{invariant}: {detail}")
        self.invariant = invariant


class Watch:
    """Sees every effect. `due` and `ended` are by task: what was promised last."""

    def __init__(self, kernel: Kernel, *, true_clocks: bool) -> None:
        self._kernel = kernel
        self._true_clocks = true_clocks
        self.due: dict[str, int] = {}
        self.ended: dict[str, Ending] = {}
        self.cancelled: set[str] = set()
        self.discarded: set[str] = set()
        self.moved: set[str] = set()
        self.occurrences: dict[str, Occurrence] = {}
        self.running: dict[str, str] = {}
        self.bodies = 0

    def task_put(self, task: Task, watermark: int | None) -> None:
        """A task has been stored, new or moved."""
        self.due[task.task_id] = task.run_at
        if task.occurrence is not None:
            self.occurrences[task.task_id] = task.occurrence
        minute, shard = parse_bucket(task.place.bucket)
        if watermark is not None and minute <= watermark:
            raise Violation("behind", f"{task.place} is behind the watermark of shard {shard}")

    def task_moved(self, move: Move) -> None:
        """A run was superseded; a redriven task may run again."""
        self.ended.pop(move.task.task_id, None)
        self.moved.add(move.task.task_id)

    def body_started(self, task_id: str, own_clock: int) -> None:
        """A job's body begins, in the process with that clock."""
        self.bodies += 1
        if own_clock < self.due[task_id]:
            raise Violation(
                "early", f"{task_id} {self.due[task_id] - own_clock} ms before it is due"
            )
        if task_id in self.cancelled:
            raise Violation("cancelled", f"{task_id} runs although its cancel was confirmed")
        if task_id in self.discarded:
            raise Violation("dead", f"{task_id} runs although it was told discarded")
        if task_id in self.ended:
            raise Violation("doubled", f"{task_id} runs again after it {self.ended[task_id]}")

    def attempt_started(self, run_id: str, owner: str) -> None:
        """The ledger has given a run to an owner."""
        self.running[run_id] = owner

    def run_ended(self, run_id: str, owner: str | None, ending: Ending) -> None:
        """The ledger has taken an ending; from the `owner` of an attempt, or from outside (None)."""
        task_id = run_id.rpartition(".")[0]
        if owner is not None and self.running.get(run_id) != owner:
            raise Violation("fence", f"{run_id} was ended by an attempt that had been overtaken")
        if owner is not None and task_id in self.ended:
            raise Violation("doubled", f"{task_id} ends twice: {self.ended[task_id]}, {ending}")
        if ending is not Ending.SUPERSEDED:
            self.ended[task_id] = ending

    def closed_from_outside(self, run_id: str, before: RunRecord | None) -> None:
        """A cancel, a move or a burial has taken the run; not from an attempt that may still be alive."""
        if before is not None and before.in_progress_until - CLOCKS_DIFFER > self._kernel.now:
            raise Violation("fence", f"{run_id} was closed under a living attempt")

    def attempt_failed(self, run_id: str, owner: str) -> None:
        """The ledger has taken a failure."""
        if self.running.get(run_id) != owner:
            raise Violation("fence", f"{run_id} was failed by an attempt that had been overtaken")

    def cancel_confirmed(self, task_id: str) -> None:
        """A client was told that its task is cancelled."""
        if self.ended.get(task_id) is not Ending.CANCELLED:
            raise Violation(
                "cancelled", f"{task_id} was told cancelled, it is {self.ended.get(task_id)}"
            )
        self.cancelled.add(task_id)

    def arrived_early(self, task_id: str) -> None:
        """A worker has sent a first delivery on because it came too soon."""
        if self._true_clocks:
            raise Violation("early", f"the message of {task_id} came before it is due")

    def watermark_moved(
        self, old: Cursor, new: Cursor, buckets: dict[str, dict[str, Task | OpenClaim]]
    ) -> None:
        """Every bucket it has moved over must be settled: nothing scheduled, and nothing under an open
        claim. An open claim that took nothing is harmless: a dispatcher that read the bucket long before."""
        for minute in range(old.watermark + MINUTE, new.watermark + MINUTE, MINUTE):
            items = buckets.get(bucket_name(minute, new.shard), {}).values()
            claims = {item.claim_id for item in items if isinstance(item, OpenClaim)}
            for item in items:
                if isinstance(item, Task) and (
                    item.state is State.SCHEDULED
                    or (item.state is State.CLAIMED and item.claim_id in claims)
                ):
                    raise Violation("watermark", f"moved over {item}")
