"""How late tasks start: through HTTP, on a local stack of its own, with the functions in their processes.

All are due at random milliseconds of one stretch of time. Half of them are created long before it, so that
a tick claims them, the others within the look-ahead, so that the API sends them. When a task was called, and
how often, is what its job wrote down.
"""

import json
import shutil
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from minutero.domain.instants import format_instant, parse_instant
from minutero_cli.api_client import Api, ApiError
from minutero_cli.local import LocalStack
from minutero_cli.local.build import build
from minutero_cli.local.scratch import folder, running

TASKS = 300
SECONDS = 30
LOOK_AHEAD_MINUTES = 1
FAR_SECONDS = 60 * LOOK_AHEAD_MINUTES + 30
"""Before the first is due, so that none of them is near when it is created."""

NEAR_SECONDS = 25
WARM_TASKS = 20
PATIENCE_SECONDS = 100
SEED = 20_261_130
CLIENTS = 2
TRIES = 3
NEAR, BY_TICK = "near", "by_tick"


@dataclass(frozen=True, slots=True)
class Created:
    """A task whose creation was confirmed; `due` in milliseconds."""

    task_id: str
    due: int
    how: str


def measure(tasks: int = TASKS, seconds: int = SECONDS) -> dict[str, Any]:
    """Milliseconds from `run_at` to the call of the job; and how many were early, lost or doubled."""
    with folder() as home:
        built = home / "built"
        shutil.copytree(build(), built, symlinks=True)
        shutil.copy(Path(__file__).with_name("marked.py"), built / "WorkerFunction" / "jobs")
        parameters = {"LookAheadMinutes": str(LOOK_AHEAD_MINUTES)}
        with running(home, built, parameters, auth=False) as local:
            load = Load(local, Random(SEED))  # noqa: S311 - the same load each time
            return outcome(load.run(tasks, seconds), load.calls())


class Load:
    """Clients of a stack."""

    def __init__(self, local: LocalStack, draw: Random) -> None:
        state = local.running()
        self._api = Api(state.api_url, "the measured stack", None)
        self._dynamodb = local.client("dynamodb")
        self._runs = state.outputs["RunsTableName"]
        self._draw = draw

    def run(self, tasks: int, seconds: int) -> list[Created]:
        """Creates them, and waits until all are called or it has taken too long."""
        # Processes start and caches fill.
        self._create([time.time()] * WARM_TASKS, "warm")
        start = time.time() + FAR_SECONDS
        due = sorted(start + self._draw.uniform(0, seconds) for _ in range(tasks))
        created = self._create(due[::2], BY_TICK)
        _wait_until(start - NEAR_SECONDS)
        created += self._create(due[1::2], NEAR)
        _wait_until(start + seconds)
        end = time.time() + PATIENCE_SECONDS
        while time.time() < end and {one.task_id for one in created} - self.calls().keys():
            time.sleep(1)
        return created

    def _create(self, due: Sequence[float], how: str) -> list[Created]:
        with ThreadPoolExecutor(CLIENTS) as clients:
            return list(clients.map(partial(self._post, how), range(len(due)), due))

    def _post(self, how: str, number: int, due: float) -> Created:
        """With a key, so that a request without an answer can be made again."""
        at = int(due * 1000)
        body = {"job": "marked", "run_at": format_instant(at), "key": f"{how}-{number}"}
        for _ in range(TRIES):
            with suppress(ApiError):
                task = self._api.post("/tasks", body).body
                return Created(task["task_id"], parse_instant(task["run_at"], "run_at"), how)
        raise AssertionError(f"no task was created, asked {TRIES} times: {body}")

    def calls(self) -> dict[str, tuple[int, int]]:
        """By task: when it was called first, in milliseconds, and how often."""
        pages = self._dynamodb.get_paginator("scan").paginate(
            TableName=self._runs,
            FilterExpression="begins_with(id, :marked)",
            ExpressionAttributeValues={":marked": {"S": "marked#"}},
        )
        return {
            row["id"]["S"].partition("#")[2]: (int(row["called_at"]["N"]), int(row["calls"]["N"]))
            for page in pages
            for row in page["Items"]
        }


def outcome(created: Sequence[Created], calls: dict[str, tuple[int, int]]) -> dict[str, Any]:
    """What became of the tasks, all together and by how they were sent."""
    late: dict[str, list[int]] = {how: [] for how in (BY_TICK, NEAR)}
    for one in created:
        if one.task_id in calls:
            late[one.how].append(calls[one.task_id][0] - one.due)
    everyone = [*late[BY_TICK], *late[NEAR]]
    called = [calls[one.task_id][1] for one in created if one.task_id in calls]
    return {
        "tasks": len(created),
        "lateness_ms": lateness(everyone),
        "early": sum(ms < 0 for ms in everyone),
        "lost": len(created) - len(called),
        "doubled": sum(times > 1 for times in called),
        **{how: {"tasks": len(some), "lateness_ms": lateness(some)} for how, some in late.items()},
    }


def lateness(ms: Iterable[int]) -> dict[str, int]:
    """Of a hundred tasks, 50 and 99 are no later than p50 and p99."""
    ordered = sorted(ms)
    if not ordered:
        return {}
    at = {"p50": 50, "p99": 99, "max": 100}
    return {name: ordered[-(-len(ordered) * share // 100) - 1] for name, share in at.items()}


def _wait_until(moment: float) -> None:
    time.sleep(max(0, moment - time.time()))


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
