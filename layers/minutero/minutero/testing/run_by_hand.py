"""A run made by hand, so that a test can call a job without a worker."""

from datetime import UTC, datetime

from minutero.domain.instants import SECOND
from minutero.domain.occurrence import Trigger
from minutero.jobs import Run
from minutero.ports import Slots
from minutero.testing.clock import SettableClock
from minutero.testing.memory_slots import MemorySlots
from minutero.transaction import SlotsOfRun

A_MINUTE = 60.0


def job_run(
    job: str,
    slots: Slots | None = None,
    *,
    scheduled_for: datetime | None = None,
    task_id: str = "task-1",
    attempt: int = 1,
    trigger: Trigger = Trigger.TASK,
) -> Run:
    """The run of a task of `job`, due at `scheduled_for` (now, if left out), with a minute left.

    Give the same `slots` to the runs that shall meet; without them the run has some of its own.
    """
    at = scheduled_for or datetime.now(UTC)
    clock = SettableClock(int(at.timestamp() * SECOND))
    return Run(
        task_id=task_id,
        key=task_id,
        attempt=attempt,
        run_at=at.astimezone(UTC),
        scheduled_for=at.astimezone(UTC),
        trigger=trigger,
        is_catch_up=False,
        _remaining=lambda: A_MINUTE,
        _slots=SlotsOfRun(slots if slots is not None else MemorySlots(), job, task_id, clock),
    )
