"""CPU of the dispatcher a task: one tick of the real function over tasks of one minute, against the stub.

Beside it, in turns within the same run, the floor: the very Query pages, claims (BatchExecuteStatement) and
sends (SendMessageBatch) that a tick made, made again by clients of the same configuration with nothing
around them: one thread, parameters at hand, answers dropped. So the floor is what botocore takes to build,
sign, send and read these requests. What it has not is the tick's: settings, cursors, leases and open claims
(requests of their own), threads, the counting of units, metrics and log lines.

`fill(n)` and `dispatch(n)` are all that whatever is measured beside it needs to have.
"""

import json
from collections.abc import Callable
from functools import cache
from types import ModuleType, SimpleNamespace
from typing import Any

from bench import stub
from bench.replay import beside, cpu_us, load_function, make_again, recorded
from bench.worker import unread_log
from minutero import wiring
from minutero.aws import clients
from minutero.aws.settings_store import DynamoSettingsStore
from minutero.aws.task_store import DynamoTaskStore
from minutero.domain.exchanged import Growth
from minutero.domain.instants import DAY, MINUTE, SECOND
from minutero.domain.task import Task, new_task_id, place_of
from minutero.wiring.process import CLOCK, bound_tables

TASKS = 4_000
ROUNDS = 5
AHEAD = 2 * MINUTE
"""The tasks' minute: within the look-ahead, even if a minute ends while it is filled."""

BEHIND = 6 * MINUTE
"""Where the watermark begins: about where it is in a deployment that keeps up."""

PAYLOAD = json.dumps({"text": "x" * 189})
READS, SENDS = ("Query", "BatchExecuteStatement"), ("SendMessageBatch",)


def fill(n: int) -> list[Task]:
    """Stores n tasks of one minute, evenly over its seconds and at random over the shards."""
    now, shards = CLOCK.now(), wiring.settings_here().shards
    DynamoSettingsStore(_tables(), CLOCK).grow(Growth(shards, now - BEHIND))
    minute = now - now % MINUTE + AHEAD
    tasks = [_task(minute + at * MINUTE // n, now, shards) for at in range(n)]
    put(tasks)
    return tasks


def dispatch(n: int) -> None:
    """One tick. Raises AssertionError when it does not claim and send n tasks."""
    context = SimpleNamespace(
        aws_request_id="bench", get_remaining_time_in_millis=lambda: 50 * SECOND
    )
    total = _function().handler({}, context)["total"]
    if (total["claimed"], total["sent"]) != (n, n):
        raise AssertionError(f"{n} tasks were due: {total}")


def measure(tasks: int = TASKS, rounds: int = ROUNDS) -> dict[str, float]:
    """Microseconds of CPU, of all threads of the process."""
    with stub.deployed() as server, unread_log():
        filled = fill(tasks)
        requests = recorded_floor(tasks)

        def ours() -> float:
            server.clear()
            fill(tasks)
            return cpu_us(lambda: dispatch(tasks)) / tasks

        def floor() -> float:
            # The same tasks at the same places, so that the same requests are answered as they were.
            server.clear()
            put(filled)
            return cpu_us(requests) / tasks

        return beside(rounds, ours, floor)


def recorded_floor(n: int) -> Callable[[], None]:
    """Dispatches n tasks; what makes the requests of the floor again."""
    parts: Any = wiring.dispatcher().dispatcher
    used = parts.store._tables.client, parts.queue._client
    with recorded(used[0], *READS) as reads, recorded(used[1], *SENDS) as sends:
        dispatch(n)
    dynamodb, sqs = clients.dynamodb(), clients.sqs()

    def floor() -> None:
        make_again(dynamodb, reads)
        make_again(sqs, sends)

    return floor


def put(tasks: list[Task]) -> None:
    """Stores tasks at their places."""
    DynamoTaskStore(_tables(), CLOCK).put_many(tasks)


@cache
def _function() -> ModuleType:
    return load_function("dispatcher")


def _tables() -> Any:
    return bound_tables(wiring.settings_here(), clients.dynamodb())


def _task(run_at: int, now: int, shards: int) -> Task:
    task_id = new_task_id(run_at, shards)
    keep_until = (run_at + 30 * DAY) // SECOND
    place = place_of(task_id, 0, run_at)
    return Task(task_id, 0, place, "echo", run_at, now, keep_until, PAYLOAD)


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
