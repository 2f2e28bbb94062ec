"""What a dispatcher's memory is over a small bucket and over a large one, against the stub.

Each bucket is filled by one process and dispatched by another, which has done nothing else. All tasks are
late: of each of them its lateness is counted as well.
"""

import json
import multiprocessing
import os
import resource
import sys
from concurrent.futures import ProcessPoolExecutor
from contextlib import redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from bench import stub
from bench.dispatch import put
from bench.replay import load_function
from minutero import wiring
from minutero.aws import clients
from minutero.aws.settings_store import DynamoSettingsStore
from minutero.domain.exchanged import Growth
from minutero.domain.instants import DAY, MINUTE, SECOND
from minutero.domain.task import Task, new_task_id, place_of
from minutero.wiring.process import CLOCK, bound_tables

SMALL, LARGE = 10_000, 100_000
MUCH_TIME = 10 * MINUTE
AT_ONCE = 5_000
MEGABYTE = 1024 * 1024


def measure(small: int = SMALL, large: int = LARGE) -> dict[str, Any]:
    """Megabytes a process has at its most, and how many of them the tick has added."""
    rows = [_row(tasks) for tasks in (small, large)]
    return {"buckets": rows, "more_for_the_large_mb": rows[1]["added_mb"] - rows[0]["added_mb"]}


def _row(tasks: int) -> dict[str, float]:
    with stub.deployed(), patch.dict(os.environ, {"MINUTERO_SHARDS": "1"}):
        _in_its_own_process(fill, tasks)
        before, most = _in_its_own_process(dispatched, tasks)
    return {"tasks": tasks, "most_mb": most / MEGABYTE, "added_mb": (most - before) / MEGABYTE}


def _in_its_own_process(work: Any, tasks: int) -> Any:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(work, tasks).result()


def fill(tasks: int) -> None:
    """One bucket of the minute before the last."""
    now = CLOCK.now()
    tables = bound_tables(wiring.settings_here(), clients.dynamodb())
    minute = now - now % MINUTE - 2 * MINUTE
    DynamoSettingsStore(tables, CLOCK).grow(Growth(1, minute - MINUTE))
    keep = (now + 30 * DAY) // SECOND
    for start in range(0, tasks, AT_ONCE):
        due = [minute + at * MINUTE // tasks for at in range(start, min(start + AT_ONCE, tasks))]
        ids = [(new_task_id(at, 1), at) for at in due]
        put([Task(one, 0, place_of(one, 0, at), "echo", at, now, keep, "{}") for one, at in ids])


def dispatched(tasks: int) -> tuple[int, int]:
    """Bytes of this process before the tick and at most. Raises AssertionError when not all was sent."""
    handler = load_function("dispatcher").handler
    context = SimpleNamespace(
        aws_request_id="bench", get_remaining_time_in_millis=lambda: MUCH_TIME
    )
    wiring.dispatcher()
    before = _most()
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere):
        sent = handler({}, context)["total"]["sent"]
    if sent != tasks:
        raise AssertionError(f"{sent} of {tasks} tasks were sent")
    return before, _most()


def _most() -> int:
    """The most memory this process has had."""
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
