"""The dead letter of a dead run: the same whoever lists it, and however often."""

from minutero.domain.exchanged import DeadLetter
from minutero.domain.instants import SECOND
from minutero.domain.run import Ending, RunRecord
from minutero.domain.task import Task
from minutero.domain.timing import Timing


def ending_of(record: RunRecord | None) -> Ending | None:
    """How a run ended, None while it has not."""
    return record.outcome.ending if record is not None and record.outcome is not None else None


def letter_of(task: Task, record: RunRecord, timing: Timing) -> DeadLetter:
    """Raises ValueError for a run that has not ended."""
    if record.outcome is None or record.finished_at is None:
        raise ValueError(f"run {record.run_id} has not ended")
    keep_until = max(task.keep_until, (record.finished_at + timing.retention) // SECOND)
    return DeadLetter(
        task.run_id,
        task.place,
        task.job,
        task.tenant,
        record.outcome.reason,
        record.finished_at,
        keep_until,
    )
