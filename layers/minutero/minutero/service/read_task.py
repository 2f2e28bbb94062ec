"""Read a task as users see it."""

from collections.abc import Sequence
from dataclasses import dataclass

from minutero.domain.lifecycle import Status, status_of
from minutero.domain.run import RunRecord
from minutero.domain.task import NEAR, State, Task, run_id_of
from minutero.errors import NotFound
from minutero.ports import Clock, RunLedger, TaskStore
from minutero.service.find_task import find_task

EARLIER = 20
"""Runs before the last one that are read, as many as a task may have attempts."""


@dataclass(frozen=True, slots=True)
class TaskView:
    """A task with what its run came to; `run` is None before the first start.

    `at` is when it was read, in milliseconds. Of a task that is read alone `earlier` has the records of the
    runs before this one, oldest first; `sent` says that the queue has the message of a claimed task.
    """

    task: Task
    run: RunRecord | None
    status: Status
    at: int
    earlier: Sequence[RunRecord] = ()
    sent: bool = False

    @property
    def lateness_ms(self) -> int | None:
        """First start minus `run_at`; None before the first start."""
        if self.run is None or self.run.started_at is None:
            return None
        return self.run.started_at - self.task.run_at


@dataclass(frozen=True, slots=True)
class ReadTask:
    """Two reads: the task item, found by its id alone, and the record of its run. One more for a task that
    was moved, and for one that is claimed and has not started."""

    store: TaskStore
    ledger: RunLedger
    clock: Clock

    def __call__(self, task_id: str) -> TaskView:
        """Raises NotFound for an id of no task, or of none any more."""
        task = find_task(self.store, task_id)
        run = self.ledger.get(task.run_id)
        now = self.clock.now()
        earlier = self._earlier(task) if task.run_no else ()
        return TaskView(
            task, run, status_of(task, run, now), now, earlier, self._is_sent(task, run)
        )

    def by_key(self, key: str, tenant: str = "") -> TaskView:
        """The task that a client's key stands for. Raises NotFound."""
        holder = self.store.get_key(tenant, key, self.clock.now())
        if holder is None:
            whose = f"of tenant {tenant!r}" if tenant else "without a tenant"
            raise NotFound(
                f"no task {whose} has the key {key!r}; a key is its tenant's, and goes with its task"
            )
        return self(holder.task_id)

    def _earlier(self, task: Task) -> Sequence[RunRecord]:
        """The runs that moves have closed, the last ones of them. What has outlived its retention is gone."""
        numbers = range(max(0, task.run_no - EARLIER), task.run_no)
        ids = [run_id_of(task.task_id, number) for number in numbers]
        found = self.ledger.get_many(ids)
        return [found[run_id] for run_id in ids if run_id in found]

    def _is_sent(self, task: Task, run: RunRecord | None) -> bool:
        """Whether the message of a task that has not started is in the queue.

        A claim is closed once all its tasks are sent, and a rescuer opens its own before it closes another's:
        so what is claimed in a bucket without an open claim is sent."""
        if run is not None or task.state is not State.CLAIMED or task.claim_id == NEAR:
            return False
        return not self.store.open_claims(task.place.bucket)
