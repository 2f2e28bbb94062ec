"""What users see: the status, derived on read and never written only so that it can be shown."""

from enum import StrEnum

from minutero.domain.run import Ending, RunRecord
from minutero.domain.task import State, Task


class Status(StrEnum):
    """The values of the API's `status`."""

    SCHEDULED = "scheduled"
    CLAIMED = "claimed"
    RUNNING = "running"
    RETRYING = "retrying"
    SUCCEEDED = "succeeded"
    SKIPPED = "skipped"
    EXPIRED = "expired"
    DEAD = "dead"
    CANCELLED = "cancelled"


_ENDED = {
    Ending.SUCCEEDED: Status.SUCCEEDED,
    Ending.SKIPPED: Status.SKIPPED,
    Ending.EXPIRED: Status.EXPIRED,
    Ending.DEAD: Status.DEAD,
    Ending.CANCELLED: Status.CANCELLED,
    Ending.DISCARDED: Status.DEAD,
}

_STORED = {
    State.SCHEDULED: Status.SCHEDULED,
    State.CLAIMED: Status.CLAIMED,
    State.CANCELLED: Status.CANCELLED,
    State.DEAD: Status.DEAD,
    # Only met between a move and the read that follows its address.
    State.MOVED: Status.SCHEDULED,
    # Not over, as far as this version can tell.
    State.UNKNOWN: Status.SCHEDULED,
}


def status_of(task: Task, run: RunRecord | None, now: int) -> Status:
    """A finished outcome first, then a living or broken-off attempt, then the task item's own state."""
    if run is None:
        return _STORED[task.state]
    if run.outcome is not None:
        return _ENDED.get(run.outcome.ending, _STORED[task.state])
    return Status.RUNNING if run.is_running(now) else Status.RETRYING
