"""Read a task as users see it."""

from dataclasses import dataclass, replace

from minutero.domain.lifecycle import Status, status_of
from minutero.domain.run import RunRecord
from minutero.domain.task import Task, run_id_of
from minutero.errors import NotFound
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
        status = status_of(task, run, self.clock.now())
        if task.attempts_before:
            run = self._with_earlier(task, run)
        return TaskView(task, run, status)

    def by_key(self, key: str, tenant: str = "") -> TaskView:
        """The task that a client's key stands for. Raises NotFound."""
        holder = self.store.get_key(tenant, key, self.clock.now())
        if holder is None:
            whose = f"of tenant {tenant!r}" if tenant else "without a tenant"
            raise NotFound(
                f"no task {whose} has the key {key!r}; a key is its tenant's, and goes with its task"
            )
        return self(holder.task_id)

    def _with_earlier(self, task: Task, run: RunRecord | None) -> RunRecord | None:
        """Its worker has moved the task, once an attempt at most: the failures of the earlier runs belong
        to it. Their number is in the task."""
        first = max(0, task.run_no - task.attempts_before)
        ids = [run_id_of(task.task_id, number) for number in range(first, task.run_no)]
        records = [record for run_id in ids if (record := self.ledger.get(run_id)) is not None]
        if run is None:
            run = RunRecord(task.run_id, attempts=0, in_progress_until=0)
        told = [failure for record in (*records, run) for failure in record.failures]
        numbered = (replace(failure, number=place) for place, failure in enumerate(told, start=1))
        return replace(run, failures=tuple(numbered))
