"""Cancel a task: a confirmed cancel never runs, whatever waits in the queue."""

from dataclasses import dataclass

from minutero.domain.instants import SECOND
from minutero.domain.run import Ending, RunRecord
from minutero.domain.task import Task
from minutero.domain.timing import Timing
from minutero.errors import Conflict, Unavailable
from minutero.ports import Clock, TaskStore
from minutero.service.find_task import FOLLOWS, find_task
from minutero.service.pass_on import PassOn


@dataclass(frozen=True, slots=True)
class CancelTask:
    """Takes the lock a starting run takes, so that the one who comes second knows it.

    `clock_margin` is how far ahead the clock may be, in milliseconds: 0 within AWS.
    """

    store: TaskStore
    pass_on: PassOn
    clock: Clock
    timing: Timing
    clock_margin: int = 0

    def __call__(self, task_id: str) -> Task:
        """The task, cancelled; cancelling it again is no error.

        Raises NotFound, Conflict (running, or over), Unavailable.
        """
        for _ in range(FOLLOWS):
            now = self.clock.now()
            task = find_task(self.store, task_id)
            self.pass_on(task)
            keep_until = max(task.keep_until, (now + self.timing.retention) // SECOND)
            record = self.store.cancel(task, now, keep_until, now - self.clock_margin)
            if record.outcome is not None and record.outcome.ending is Ending.CANCELLED:
                return task
            if not is_superseded(record):
                raise Conflict(why_not(task_id, record, "cancelled"))
        raise Unavailable(f"task {task_id} is being moved again and again; try later")


def is_superseded(record: RunRecord) -> bool:
    """The task was moved between the look and the transaction: look again, at its new address."""
    return record.outcome is not None and record.outcome.ending is Ending.SUPERSEDED


def why_not(task_id: str, record: RunRecord, verb: str) -> str:
    """One sentence on what stands in the way."""
    if record.outcome is None:
        return f"task {task_id} is running; it cannot be {verb} now, try when it has ended"
    return f"task {task_id} is over ({record.outcome.ending}); it cannot be {verb}"
