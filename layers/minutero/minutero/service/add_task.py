"""Add a task: store it, and send it at once if it is near."""

from dataclasses import dataclass

from minutero.domain.instants import SECOND
from minutero.domain.metrics import SILENT, Metric
from minutero.domain.new_task import INLINE_PAYLOAD_LIMIT, NewTask
from minutero.domain.task import KeyRecord, Task, first_place, new_task_id
from minutero.domain.timing import Timing
from minutero.errors import KeyConflict, UnknownJob
from minutero.ports import Clock, Meter, TaskQueue, TaskStore
from minutero.service.find_task import find_task
from minutero.service.job_catalog import JobCatalog
from minutero.service.send_near import SendNear
from minutero.service.shards import Shards


@dataclass(frozen=True, slots=True)
class Added:
    """The task a request stands for; `created` is False when its key had made it before."""

    task: Task
    created: bool


class AddTask:
    """Adds one task. See `__call__`."""

    def __init__(
        self,
        store: TaskStore,
        queue: TaskQueue,
        shards: Shards,
        jobs: JobCatalog,
        clock: Clock,
        timing: Timing,
        meter: Meter = SILENT,
    ) -> None:
        self._store = store
        self.send_near = SendNear(store, queue, clock, timing, meter)
        self.meter = meter
        self._shards = shards
        self._jobs = jobs
        self._clock = clock
        self._timing = timing

    def __call__(self, new: NewTask, body_hash: str = "") -> Added:
        """Stores the task, scheduled. `body_hash` tells two requests with one key apart.

        Raises UnknownJob, InvalidInput (too far ahead), KeyConflict, Unavailable.
        """
        try:
            task = self.prepare(new)
        except UnknownJob as unknown:
            return self.repeated(new, body_hash, unknown)
        if new.key:
            holder = self._store.put_keyed(task, key_record(new, task, body_hash), task.created_at)
            if holder is not None:
                return self.made_before(new.key, holder, body_hash)
        else:
            self._store.put(task)
        self.meter.add(Metric.CREATED)
        return Added(self.send_near(task), created=True)

    def prepare(self, new: NewTask) -> Task:
        """The task, not stored yet. Raises UnknownJob, InvalidInput (too far ahead)."""
        now = self._clock.now()
        if not self._jobs.has(new.job, now):
            raise UnknownJob(new.job, self._jobs.names(now))
        return new_task(new, now, self._shards.for_writing(now), self._timing.retention)

    def repeated(self, new: NewTask, body_hash: str, unknown: UnknownJob) -> Added:
        """The task of a request that is repeated after its job was taken out.

        Raises `unknown` when there is none, KeyConflict, NotFound, Unavailable.
        """
        now = self._clock.now()
        holder = self._store.get_key(new.tenant, new.key, now) if new.key else None
        if holder is None:
            raise unknown
        return self.made_before(new.key, holder, body_hash)

    def made_before(
        self, key: str, holder: KeyRecord, body_hash: str, found: Task | None = None
    ) -> Added:
        """The task that has the key, read unless it is `found` already.

        Raises KeyConflict for another body, NotFound, Unavailable.
        """
        if holder.body_hash != body_hash:
            raise KeyConflict(key, holder.task_id)
        return Added(found or find_task(self._store, holder.task_id), created=False)


def new_task(new: NewTask, now: int, shards: int, retention: int) -> Task:
    """The task item of a request, at its place. Raises InvalidInput for a time too far ahead."""
    run_at = new.due(now)
    task_id = new_task_id(run_at, shards)
    return Task(
        task_id=task_id,
        run_no=0,
        place=first_place(task_id),
        job=new.job,
        run_at=run_at,
        created_at=now,
        keep_until=(run_at + retention) // SECOND,
        payload=new.payload,
        large=new.payload is not None and len(new.payload.encode()) > INLINE_PAYLOAD_LIMIT,
        tenant=new.tenant,
        key=new.key,
        max_attempts=new.max_attempts,
        expires_after_seconds=new.expires_after_seconds,
    )


def key_record(new: NewTask, task: Task, body_hash: str) -> KeyRecord:
    """What the key of a request stands for."""
    return KeyRecord(new.tenant, new.key, task.task_id, body_hash, task.keep_until)
