"""CPU of the worker a task: from an event of SQS to its answer, beside its two calls to the ledger alone.

The handler is that of `functions/worker` with all that surrounds it; the job is `echo`; ten messages come at
a time. The floor makes the same requests to the ledger, two a run: one starts it, one finishes it.
"""

import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from bench import stub
from bench.replay import FUNCTIONS, beside, cpu_us, load_function, make_again, recorded
from minutero import wiring
from minutero.aws import clients
from minutero.aws.queue import encode_message
from minutero.aws.task_store import DynamoTaskStore
from minutero.domain.instants import SECOND
from minutero.domain.new_task import NewTask
from minutero.domain.task import Task
from minutero.jobs import registry
from minutero.service.add_task import new_task
from minutero.wiring.process import CLOCK, bound_tables

TASKS = 100
"""Of a round."""

ROUNDS = 9
BATCH = 10
PAYLOAD = json.dumps({"text": "x" * 189})

Event = dict[str, Any]


def fill(n: int) -> list[Event]:
    """Stores n tasks that are due, and makes the events with their messages."""
    settings = wiring.settings_here()
    now = CLOCK.now()
    tasks = [
        new_task(NewTask("echo", PAYLOAD), now, settings.shards, settings.timing.retention)
        for _ in range(n)
    ]
    claimed = [task.claimed("claim", now) for task in tasks]
    DynamoTaskStore(bound_tables(settings, clients.dynamodb()), CLOCK).put_many(claimed)
    return [_event(claimed[at : at + BATCH]) for at in range(0, n, BATCH)]


def run(function: ModuleType, events: Sequence[Event]) -> None:
    """Has the worker take them, one after the other."""
    context = SimpleNamespace(
        aws_request_id="bench", get_remaining_time_in_millis=lambda: 60 * SECOND
    )
    for event in events:
        function.handler(event, context)


def measure(tasks: int = TASKS, rounds: int = ROUNDS) -> dict[str, float]:
    """Microseconds of CPU, of all threads of the process."""
    with stub.deployed() as server, unread_log():
        function = worker_function()
        # Requests of one run can be made again once all is forgotten.
        with recorded(ledger_client(), "UpdateItem") as calls:
            run(function, fill(tasks))
        bare = clients.dynamodb()

        def ours() -> float:
            server.clear()
            events = fill(tasks)
            spent = cpu_us(lambda: run(function, events)) / tasks
            check(server.calls(), tasks)
            return spent

        def floor() -> float:
            server.clear()
            return cpu_us(lambda: make_again(bare, calls)) / tasks

        return beside(rounds, ours, floor)


def check(calls: Counter[str], tasks: int) -> None:
    """Raises AssertionError when not each of them was started and finished, once."""
    made = {name: calls[name] for name in calls.keys() - {"BatchWriteItem"}}
    if made != {"UpdateItem": 2 * tasks, "BatchGetItem": -(-tasks // BATCH)}:
        raise AssertionError(f"not all have run, or more than once: {made}")


@contextmanager
def unread_log() -> Iterator[None]:
    """Lines are written as they are on Lambda, and kept by nobody."""
    with Path(os.devnull).open("w", encoding="utf-8") as log, redirect_stdout(log):
        yield


def worker_function() -> ModuleType:
    """`functions/worker/app.py` with its jobs."""
    sys.path.insert(0, str(FUNCTIONS / "worker"))
    return load_function("worker")


def ledger_client() -> Any:
    """What the worker's calls to DynamoDB go through."""
    return wiring.worker(registry).messages.store._tables.client  # type: ignore[attr-defined]


def _event(tasks: Sequence[Task]) -> Event:
    pattern = json.loads((stub.ROOT / "events" / "sqs_tasks.json").read_text())["Records"][0]
    records = [
        {
            **pattern,
            "messageId": task.task_id,
            "receiptHandle": task.task_id,
            "body": encode_message(task.pointer),
        }
        for task in tasks
    ]
    event: Event = json.loads(json.dumps({"Records": records}))
    return event


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
