"""Read a task as users see it."""

from dataclasses import dataclass

from minutero.domain.lifecycle import Status, status_of
from minutero.domain.run import RunRecord
from minutero.domain.task import Task
from minutero.ports import Clock, RunLedger, TaskStore
from minutero.service.find_task import find_task


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task with what its run came to; `run` is None before the first start."""

    task: Task
    run: RunRecord | None
    status: Status

    @property
    def lateness_ms(self) -> int | None:
        """First start minus `run_at`; None before the first start."""
        if self.run is None or self.run.started_at is None:
            return None
        return self.run.started_at - self.task.run_at


@dataclass(frozen=True, slots=True)
class ReadTask:
    """Two reads: the task item, found by its id alone, and the record of its run."""

    store: TaskStore
    ledger: RunLedger
    clock: Clock

    def __call__(self, task_id: str) -> TaskView:
        """Raises NotFound for an id of no task, or of none any more."""
        task = find_task(self.store, task_id)
        run = self.ledger.get(task.run_id)
        return TaskView(task, run, status_of(task, run, self.clock.now()))
