"""CPU of adding many tasks at once, a task: by the Python client, and by the function of the HTTP API.

Beside each, in the same run, the floor: the same batch writes, or the same transactions of tasks with keys,
made by a bare client in one thread.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from bench import stub
from bench.replay import Call, beside, cpu_us, load_function, make_again, recorded
from bench.worker import PAYLOAD, unread_log
from minutero import Client, wiring
from minutero.aws import clients
from minutero.aws.settings_store import DynamoSettingsStore
from minutero.domain.instants import HOUR, SECOND, format_instant
from minutero.wiring.process import CLOCK

TASKS = 500
"""Of a round: as many as one request takes."""

ROUNDS = 5

Asked = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Way:
    """A way to add tasks: what brings them, what adds them and which clients (`tables`) it does that by, and
    the results that its answer holds."""

    brought: Callable[[Asked], Any]
    added: Callable[[Any], Any]
    results: Callable[[Any], list[dict[str, Any]]]
    tables: Any


def by_client() -> Way:
    """`Client.add_tasks`."""
    client = Client.from_environment()
    return Way(list, client.add_tasks, list, _tables_of(client._api))


def over_http() -> Way:
    """`POST /tasks/batch`, as API Gateway brings it."""
    app, context = load_function("api"), SimpleNamespace(aws_request_id="bench")
    event = json.loads((stub.ROOT / "events" / "http_post_tasks.json").read_text())
    event["requestContext"]["http"]["path"] = event["rawPath"] = "/tasks/batch"
    return Way(
        lambda asked: {**event, "body": json.dumps({"tasks": asked})},
        lambda request: app.handler(request, context),
        lambda answer: list(json.loads(answer["body"])["results"]),
        _tables_of(wiring.api()),
    )


def measure(tasks: int = TASKS, rounds: int = ROUNDS) -> dict[str, Any]:
    """Microseconds of CPU, of all threads. The client's come first; `keyed` are of tasks with keys."""
    with stub.deployed() as server, unread_log():
        client, http = by_client(), over_http()
        without, keyed = asked(tasks), asked(tasks, "order")
        return {
            **_beside_floor(server, client, without, rounds),
            "keyed": _beside_floor(server, client, keyed, rounds),
            "http": _beside_floor(server, http, without, rounds),
            "http_keyed": _beside_floor(server, http, keyed, rounds),
        }


def asked(n: int, key: str = "") -> Asked:
    """Tasks that are due in an hour, so that none is near and sent at once."""
    first = CLOCK.now() + HOUR
    return [
        {
            "job": "echo",
            "payload": json.loads(PAYLOAD),
            "run_at": format_instant(first + number * SECOND),
            **({"key": f"{key}-{number}"} if key else {}),
        }
        for number in range(n)
    ]


def calls_of(server: stub.Stub, way: Way, tasks: Asked) -> list[Call]:
    """The writes that adding these tasks takes."""
    with (
        recorded(way.tables.client, "TransactWriteItems") as transactions,
        recorded(way.tables.once, "BatchWriteItem") as batches,
    ):
        _add(server, way, tasks)
    return [*transactions, *batches]


def _beside_floor(server: stub.Stub, way: Way, tasks: Asked, rounds: int) -> dict[str, float]:
    calls, bare = calls_of(server, way, tasks), clients.dynamodb()

    def ours() -> float:
        return _add(server, way, tasks) / len(tasks)

    def floor() -> float:
        server.clear()
        return cpu_us(lambda: make_again(bare, calls)) / len(tasks)

    return beside(rounds, ours, floor)


def _add(server: stub.Stub, way: Way, tasks: Asked) -> float:
    """The CPU of it. Raises AssertionError when not all are added."""
    server.clear()
    DynamoSettingsStore(way.tables, CLOCK).announce_jobs(frozenset({"echo"}))
    brought, answers = way.brought(tasks), list[Any]()
    spent = cpu_us(lambda: answers.append(way.added(brought)))
    refused = [one for one in way.results(answers[0]) if one["status"] != 201]
    if refused:
        raise AssertionError(f"not all are added: {refused[:3]}")
    return spent


def _tables_of(api: Any) -> Any:
    return api.add_tasks.store._tables


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
