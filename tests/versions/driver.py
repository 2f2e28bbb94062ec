"""One version of the package in a process of its own, driven by lines of JSON: calls in, answers out.

Which version it is, PYTHONPATH says; so nothing here needs more than the older one has. The clock is the
caller's, and so is the queue: what is sent is told in the answer, and the caller delivers it to either.
"""

import json
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

from minutero import Client, wiring
from minutero.aws import clients, oldest_message
from minutero.domain.new_task import body_hash
from minutero.errors import PermanentFailure, RetryLater
from minutero.http.answers import task_answer
from minutero.jobs import job, registry
from minutero.service.cancel import CancelTask
from minutero.service.move import MoveTask
from minutero.service.run_messages import Delivery
from minutero.service.send_near import SendNear
from minutero.testing import SettableClock

MINUTE = 60_000
ADDED = {"schedule", "scheduled_for", "trigger", "is_catch_up"}
"""Members of a task that the older version does not tell."""


class Died(BaseException):
    """Here the process would have ended: nothing between may catch it."""


class Queue:
    """In the place of the SQS client. `dies` ends the process with the next request, before it is made; what
    has ended makes no request of DynamoDB either, whatever a version does with a job's last words."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.dies = False
        self.process_has_ended = False

    def before_dynamodb(self, **_: Any) -> None:
        if self.process_has_ended:
            raise Died

    def send_message_batch(self, *, QueueUrl: str, Entries: Any) -> Any:  # noqa: N803 - SQS's names
        for entry in Entries:
            self.send_message(QueueUrl=QueueUrl, **entry)
        return {"Successful": [{"Id": entry["Id"]} for entry in Entries]}

    def send_message(self, *, QueueUrl: str, MessageBody: str, **more: Any) -> None:  # noqa: N803
        if self.dies:
            raise Died
        delay = more.get("DelaySeconds", 0)
        self.sent.append({"queue": QueueUrl, "body": MessageBody, "delay": delay})


clock = SettableClock(0)
queue = Queue()
dynamodb = clients.dynamodb(connections=32)
ran: list[dict[str, Any]] = []
dynamodb.meta.events.register_first("before-send.dynamodb", queue.before_dynamodb)

wiring.CLOCK.now, wiring.CLOCK.sleep = clock.now, clock.sleep
clients.dynamodb = lambda *_, **__: dynamodb
clients.sqs = lambda *_, **__: queue
clients.cloudwatch = lambda: None
# As of an empty queue.
oldest_message.OldestMessage = lambda *_: lambda now: now


@job("work")
def work_job(payload: Any, run: Any) -> Any:
    """Does at each attempt what the payload's `do` says, and succeeds with the one after."""
    to_do = dict(enumerate(payload.get("do", ()), start=1)).get(run.attempt, "succeed")
    ran.append(
        {
            "task_id": run.task_id,
            "attempt": run.attempt,
            "at": clock.now(),
            "did": to_do,
        }
    )
    match to_do:
        case "fail":
            raise ValueError("no such wallet")
        case "fail for long":
            raise RetryLater(1200)
        case "refuse":
            raise PermanentFailure("no such wallet")
        case "die":
            queue.process_has_ended = True
            raise Died
        case "skip":
            run.skip("a holiday")
    return payload


def open_deployment(environment: dict[str, str]) -> None:
    """Another deployment: its tables."""
    os.environ.update(environment)
    for built in vars(wiring).values():
        if hasattr(built, "cache_clear"):
            built.cache_clear()
    client.cache_clear()
    wiring.worker(registry).announce(registry.names())


@cache
def client() -> Client:
    return Client.from_environment()


def add(**wanted: Any) -> Any:
    return client().add_task("work", **wanted)


def add_many(tasks: list[Any]) -> Any:
    return client().add_tasks([{"job": "work", **task} for task in tasks])


def read(task_id: str) -> Any:
    """What either version tells of a task."""
    told = task_answer(wiring.api().read_task(task_id))
    told["history"] = [_failure(one) for one in told["history"] if _is_told_by_both(one, told)]
    return {name: value for name, value in told.items() if name not in ADDED}


def _failure(entry: Any) -> Any:
    return {name: entry[name] for name in ("attempt", "failed_at", "error")}


def _is_told_by_both(entry: Any, told: Any) -> bool:
    """The older version's history has the failures that did not end the run, and nothing else."""
    failed_at = entry["failed_at"]
    return failed_at is not None and failed_at != told["timeline"]["finished_at"]


def put_schedule(name: str, expression: str) -> None:
    """By the newer version alone, so its import is in here."""
    from minutero.domain.schedule import Definition

    wiring.api().put_schedule(name, Definition("work", expression, payload="{}"))


def cancel(task_id: str) -> None:
    parts = wiring.dispatcher().dispatcher
    change = getattr(wiring.api(), "cancel", None)  # an older API has none
    (change or CancelTask(parts.store, clock, parts.timing))(task_id)


def reschedule(task_id: str, run_at: int) -> None:
    _move().reschedule(task_id, lambda _: run_at)


def run_now(task_id: str) -> None:
    _move().run_now(task_id)


def redrive(task_id: str) -> None:
    _move().redrive(task_id)


def _move() -> MoveTask:
    if hasattr(wiring.api(), "move"):
        return wiring.api().move
    parts, ledger = wiring.dispatcher().dispatcher, wiring.api().read_task.ledger
    near = SendNear(parts.store, parts.queue, clock, parts.timing)
    return MoveTask(parts.store, ledger, near, clock, parts.timing)


def tick() -> Any:
    (report,) = wiring.dispatcher().tick([0], clock.now() + MINUTE)
    tally = report.tally
    return {
        "claimed": tally.claimed,
        "rescued": tally.rescued,
        "buried": tally.buried,
        "skipped": report.skipped,
    }


def work(bodies: list[str]) -> list[str]:
    """What became of each message; of one that is kept, by what error."""
    batch = wiring.worker(registry).batch(clock.now() + MINUTE)
    deliveries = [Delivery(body, str(at), receives=1) for at, body in enumerate(bodies)]
    return [_attempted(lambda one=one: batch.run(one)) for one in batch.read(deliveries)]


def bury(bodies: list[str]) -> list[str]:
    return [_attempted(lambda one=one: wiring.dead_letter().message(one)) for one in bodies]


def _attempted(call: Callable[[], Any]) -> str:
    try:
        return str(call())
    except Exception as error:  # noqa: BLE001 - as the function tells SQS: keep it
        return f"kept by {type(error).__name__}"


def audit() -> Any:
    report = wiring.auditor().audit(clock.now() + MINUTE)
    return {"claimed": report.tally.claimed, "sent_again": report.sent_again}


def discard(task_id: str) -> None:
    wiring.api().dead.discard(task_id)


def dead() -> list[str]:
    """Ids of the tasks on the list of the dead."""
    return [letter["task_id"] for letter in client().list_dead()]


def listed(start: str, end: str) -> list[Any]:
    return list(client().list_tasks(start, end))


CALLS = {
    "open": open_deployment,
    "hash": body_hash,
    "where": lambda: sys.modules["minutero"].__file__,
    **{
        call.__name__: call
        for call in (
            *(add, add_many, read, listed, cancel, reschedule, run_now, redrive),
            *(tick, work, bury, audit, discard, dead, put_schedule),
        )
    },
}


def answer(line: str) -> dict[str, Any]:
    asked = json.loads(line)
    clock.set(asked["now"])
    queue.sent, queue.dies, told = [], asked["dies"], {}
    queue.process_has_ended = False
    ran.clear()
    try:
        told = {"result": CALLS[asked["call"]](**asked["with"])}
    except Died:
        told = {"died": True}
    except Exception as error:  # noqa: BLE001 - the caller says which it expects
        told = {"error": type(error).__name__, "why": str(error)}
    return {**told, "sent": queue.sent, "ran": list(ran)}


if __name__ == "__main__":
    # What a library prints must not be taken for an answer.
    answers, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        print(json.dumps(answer(line), default=str), file=answers, flush=True)
