"""Add a task: store it, and send it at once if it is near."""

import logging
from dataclasses import dataclass

from minutero.domain.instants import SECOND
from minutero.domain.new_task import INLINE_PAYLOAD_LIMIT, NewTask
from minutero.domain.task import (
    KeyRecord,
    Task,
    delay_seconds,
    first_place,
    is_near,
    new_task_id,
)
from minutero.domain.timing import Timing
from minutero.errors import KeyConflict, Unavailable, UnknownJob
from minutero.ports import Clock, Outgoing, Sent, TaskQueue, TaskStore
from minutero.service.job_catalog import JobCatalog
from minutero.service.shards import Shards

logger = logging.getLogger(__name__)

NEAR = "near"
"""The claim id of a task its writer sent: no open claim has this name, so no rescue ever takes it."""


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
    ) -> None:
        self._store = store
        self._queue = queue
        self._shards = shards
        self._jobs = jobs
        self._clock = clock
        self._timing = timing

    def __call__(self, new: NewTask, body_hash: str = "") -> Added:
        """Stores the task, scheduled. `body_hash` tells two requests with one key apart.

        Raises UnknownJob, InvalidInput (too far ahead), KeyConflict, Unavailable.
        """
        now = self._clock.now()
        if not self._jobs.has(new.job, now):
            raise UnknownJob(new.job, self._jobs.names(now))
        task = new_task(new, now, self._shards.for_writing(now), self._timing.retention)
        if new.key:
            holder = self._store.put_keyed(task, _key_record(new, task, body_hash), now)
            if holder is not None:
                return self._made_before(new.key, holder, body_hash)
        else:
            self._store.put(task)
        return Added(self._send_if_near(task), created=True)

    def _made_before(self, key: str, holder: KeyRecord, body_hash: str) -> Added:
        if holder.body_hash != body_hash:
            raise KeyConflict(key, holder.task_id)
        task = self._store.get(first_place(holder.task_id))
        if task is None:
            raise Unavailable(f"the task of key {key!r} is just expiring; send the request again later")
        return Added(task, created=False)

    def _send_if_near(self, task: Task) -> Task:
        """A crash anywhere in here leaves a `scheduled` task in a bucket that is not settled yet: the next
        tick sends it. A tick that comes between sends it too, and the run record takes only one."""
        now = self._clock.now()
        if not is_near(task.run_at, now, self._timing.look_ahead):
            return task
        message = Outgoing(task.pointer, delay_seconds(task.run_at, now))
        try:
            if self._queue.send([message]) != [Sent.SENT]:
                return task
            if self._store.mark_sent(task.place, NEAR, now):
                return task.claimed(NEAR, now)
        except Unavailable as error:
            # The task is stored, and that is what the answer promises.
            logger.info("near task %s is left to the next tick: %s", task.task_id, error)
        return task


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


def _key_record(new: NewTask, task: Task, body_hash: str) -> KeyRecord:
    return KeyRecord(new.tenant, new.key, task.task_id, body_hash, task.keep_until)
