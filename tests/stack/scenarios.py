"""One call of each function that makes every kind of request the function can make.

`owner` prepares what is to be found: the same services with the rights of the account's owner.
"""

import json
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

from minutero import wiring
from minutero.aws.queue import SqsTaskQueue, encode_message
from minutero.domain.exchanged import Growth, Move, ScheduleChange
from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.new_task import NewTask
from minutero.domain.schedule import PARTITIONS, Definition, Schedule, partition_of
from minutero.domain.task import Task, first_place, task_id_from
from minutero.errors import JobsUnknown, PermanentFailure, RetryLater
from minutero.jobs import JobRegistry, job
from minutero.service.add_tasks import Wanted
from minutero.service.dead_letter import BuryMessage
from minutero.service.entries import Api, Audit, Tick, Worker
from minutero.service.list_tasks import TaskQuery
from minutero.service.rearm import EVERY
from minutero.service.run_messages import Delivery

JOBS = JobRegistry()


@job("fails", into=JOBS)
def fails(payload: Any, run: Any) -> None:
    raise OSError("not today")


@job("gives_up", into=JOBS)
def gives_up(payload: Any, run: Any) -> None:
    raise PermanentFailure("never")


@job("waits", into=JOBS)
def waits(payload: Any, run: Any) -> None:
    raise RetryLater(3_600)


def of_api(api: Api, owner: Api) -> None:
    owner.settings.grow(Growth(1, minute_of(owner.clock.now() - HOUR)))
    api.signing_secret()
    with suppress(JobsUnknown):
        api.job_names()  # of nobody: the worker is asked
    owner.settings.announce_jobs(frozenset({"echo"}))
    near = api.add_task(NewTask("echo")).task
    api.add_tasks([Wanted(NewTask("echo"), body_hash="")])
    api.read_task(near.task_id)
    api.list_tasks(TaskQuery(near.run_at - MINUTE, near.run_at + 1), 10)
    for _ in range(2):  # from the first place, then from another, which is left
        api.move.reschedule(near.task_id, lambda now: now + HOUR)
    api.stats(near.run_at, near.run_at + 1)
    api.put_schedule("hourly", Definition("echo", "rate(1 hour)", payload="1"))
    api.put_schedule("hourly", Definition("echo", "rate(2 hours)"))
    api.schedules.page(0)
    api.revise_schedule.delete("hourly")


def of_dispatcher(tick: Tick, owner: Api) -> None:
    now = owner.clock.now()
    owner.settings.grow(Growth(8, minute_of(now) - 3 * MINUTE))
    tick.tick(None, deadline=0)  # one more shard, for a further dispatcher; no time for more
    stored(owner, now)
    armed(owner, "hourly", now)
    tick.tick([0], deadline=now + MINUTE)
    stored(owner, now)
    with refusing(tick.dispatcher.queue):
        tick.tick([0], deadline=now + MINUTE)


def of_auditor(audit: Audit, owner: Api) -> None:
    begin = minute_of(owner.clock.now() - HOUR) - 4 * MINUTE
    owner.stats.cursors.begin(0, begin)
    stored(owner, begin + MINUTE)
    stored(owner, begin + MINUTE, sent=True)
    armed(owner, "hourly", begin + MINUTE)
    for later in (0, EVERY):  # this audit looks at one of these partitions
        broken(owner, (owner.clock.now() + later) // EVERY % PARTITIONS)
    look(audit, owner, begin + MINUTE)
    stored(owner, begin + 2 * MINUTE)
    with refusing(audit.auditor.queue):
        look(audit, owner, begin + 2 * MINUTE)


def look(audit: Audit, owner: Api, settled: int) -> None:
    now = owner.clock.now()
    assert owner.stats.cursors.advance(0, "owner", now, settled, until=0)
    audit.audit(deadline=now + MINUTE)


def of_worker(worker: Worker, owner: Api) -> None:
    now = owner.clock.now()
    worker.announce(JOBS.names())
    outlived = stored(owner, now, job="gives_up")
    owner.read_task.ledger.start(
        outlived.run_id, "owner", now - 40 * DAY, now - 40 * DAY, (now - 10 * DAY) // SECOND
    )
    tasks = [
        outlived,
        moved(owner, stored(owner, now, job="waits")),
        stored(owner, now, job="fails"),
    ]
    batch = worker.batch(now + MINUTE)
    # The last one is a suspect: the others are acknowledged before it runs.
    deliveries = [
        Delivery(encode_message(task.pointer), f"receipt-{number}", receives=number)
        for number, task in enumerate(tasks)
    ]
    for delivery in batch.read(deliveries):
        batch.run(delivery)


def of_dead_letter(bury: BuryMessage, owner: Api) -> None:
    bury.message(encode_message(stored(owner, owner.clock.now()).pointer, "killed its worker"))


SCENARIOS = {
    "api": (wiring.api, of_api),
    "dispatcher": (wiring.dispatcher, of_dispatcher),
    "auditor": (wiring.auditor, of_auditor),
    "worker": (lambda: wiring.worker(JOBS), of_worker),
    "dead_letter": (wiring.dead_letter, of_dead_letter),
}
"""Function -> what builds its services, and what they are asked to do."""


def minute_of(ms: int) -> int:
    return ms - ms % MINUTE


def stored(owner: Api, run_at: int, *, job: str = "echo", sent: bool = False) -> Task:
    """A task of shard 0, not sent by its writer unless told so."""
    task_id = task_id_from(run_at, 0, secrets.token_bytes(11))
    kept = owner.clock.now() // SECOND + 30 * DAY // SECOND
    task = Task(task_id, 0, first_place(task_id), job, run_at, run_at, kept)
    store = owner.read_task.store
    store.put(task)
    if sent:
        store.mark_sent(task.place, "near", run_at)
    return task


def armed(owner: Api, name: str, time: int) -> Schedule:
    """A schedule that nobody has fired at that time; its occurrence lies in shard 0."""
    said = Definition("echo", "rate(1 hour)")
    schedule = Schedule(name, 1, said, anchor=time, created_at=time, changed_at=time)
    schedule = replace(schedule, pending=schedule.link(time, time, shards=1))
    assert schedule.pending is not None
    task = schedule.task(schedule.pending, time, 30 * DAY)
    assert owner.schedules.create(ScheduleChange(None, schedule, time, task.keep_until, time, task))
    return schedule


def broken(owner: Api, partition: int) -> None:
    """A schedule of that partition that has fired ahead, and has no occurrence that comes next."""
    name = next(name for name in map(str, count()) if partition_of(name) == partition)
    schedule = armed(owner, name, owner.clock.now() + DAY)
    assert schedule.pending is not None
    fired = replace(schedule, pending=None, fired=(schedule.pending,))
    at = schedule.created_at
    assert owner.schedules.step(ScheduleChange(schedule, fired, at, at // SECOND, at))


def moved(owner: Api, task: Task) -> Task:
    """The task, elsewhere."""
    now = owner.clock.now()
    to = task.moved(now, now, 30 * DAY)
    token = secrets.token_hex(8)
    assert owner.read_task.store.move(Move(task, to, token, now, to.keep_until, now)) is None
    return to


@contextmanager
def refusing(queue: Any) -> Iterator[None]:
    """SQS refuses every message for good, and says so in an answer that is no error."""
    assert isinstance(queue, SqsTaskQueue)
    events = queue._client.meta.events
    name = "before-call.sqs.SendMessageBatch"
    events.register(name, _refused)
    try:
        yield
    finally:
        events.unregister(name, _refused)


def _refused(params: Any, **_: Any) -> tuple[SimpleNamespace, dict[str, Any]]:
    entries = json.loads(params["body"])["Entries"]
    failed = [
        {"Id": one["Id"], "SenderFault": True, "Code": "InvalidMessageContents"} for one in entries
    ]
    return SimpleNamespace(status_code=200), {"Failed": failed}
