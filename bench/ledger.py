"""What a task costs: requests, units and dollars, from its creation until nobody looks at it any more.

The functions are called with the events of API Gateway, EventBridge and SQS, over MiniStack. All is done
twice, with tasks and without: the difference is what the tasks cost. Without any it costs `idle_month`.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from bench import units
from bench.deployment import BATCH, deployed
from bench.idle import idle_month
from bench.prices import AS_OF, GIGABYTE, MILLION, Used, dollars
from bench.ways import AUDIT, PHASES, RUN, SHARDS, Way, burst, far, near, play
from minutero.service.claim_batch import CLAIM_CHUNK
from minutero_cli.local.scratch import folder, ministack

SIZES = (200, 2_048, 20_480)
WAYS = (burst("burst"), burst("burst, batched", batched=True), near(), far())
TRACED = 0.05
"""X-Ray's share of calls, beyond the first of each second."""

Counts = Mapping[tuple[str, str], float]


class Ledger:
    """Plays ways on a MiniStack, each of them once without tasks."""

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        self._idle: dict[str, Counts] = {}

    def row(self, way: Way, size: int, *, keyed: bool) -> dict[str, Any]:
        """What one task costs."""
        counts = self._played(way, size, keyed=keyed, tasks=way.tasks)
        if way.name not in self._idle:
            self._idle[way.name] = self._played(way, size, keyed=keyed, tasks=0)
        idle = self._idle[way.name]
        share = {key: (counts[key] - idle.get(key, 0)) / way.tasks for key in counts}
        used = _used(share)
        return {
            "way": way.name,
            "payload": size,
            "keyed": keyed,
            "write_units": used.write_units,
            "as_the_database_says": _sum(share, "told_write_units"),
            "with_idle": _sum(counts, "write_units", but=AUDIT) / way.tasks,
            "read_units": used.read_units,
            "dynamodb": _sum(share, "dynamodb_requests"),
            "sqs": used.sqs_requests,
            "usd": _per_million(used),
            "share": share,
        }

    def _played(self, way: Way, size: int, *, keyed: bool, tasks: int) -> Counts:
        with deployed(self._endpoint, SHARDS) as deployment:
            play(deployment, way, size, keyed=keyed, tasks=tasks)
            meter = deployment.meter
            stored = {
                ("", f"{table}_bytes"): meter.stored_bytes(table) for table in ("tasks", "runs")
            }
            return {**meter.counts, **stored}


def measure(
    ways: Iterable[Way] = WAYS, sizes: Iterable[int] = SIZES, shards: int = 8
) -> dict[str, Any]:
    """The first way, with the first size and without a key, is the ledger's own figure."""
    with folder() as home, ministack(home) as endpoint:
        ledger = Ledger(endpoint)
        rows = [
            ledger.row(way, size, keyed=keyed)
            for size in sizes
            for keyed in (False, True)
            for way in ways
        ]
        idle = idle_month(endpoint, shards)
    plain = [row for row in rows if not row["keyed"]]
    first = rows[0]
    return {
        "write_units_per_task": first["write_units"],
        "read_units_per_task": first["read_units"],
        "requests_per_task": {"dynamodb": first["dynamodb"], "sqs": first["sqs"]},
        "usd_per_million_tasks": first["usd"]["total"],
        "tasks": [
            {name: cell for name, cell in row.items() if name not in ("share", "usd")}
            for row in rows
        ],
        "usd_per_million": [{**_named(row), **row["usd"]} for row in rows],
        "by_phase": _phases(first["share"]),
        "floor": floor(first["share"]["", "tasks_bytes"]),
        "eventbridge_scheduler": [
            {**_named(row), **scheduler(row["share"], row["payload"])} for row in plain
        ],
        "idle_month": idle,
        "prices_as_of": AS_OF,
    }


def floor(item_bytes: float) -> dict[str, float]:
    """The least this design can do for a small task: create, claim, start, finish, in full batches."""
    return {
        "write_units": 4.0,
        "read_units": item_bytes / units.READ_UNIT + 1,
        "dynamodb": 1 + 1 / CLAIM_CHUNK + 1 / BATCH + 2,
        "sqs": 3 / BATCH,
    }


def scheduler(share: Counts, size: int) -> dict[str, float]:
    """Dollars for a million by EventBridge Scheduler, with the same worker behind the same queue.

    It sends one message a request, with the payload in it. To create a schedule costs nothing."""
    run = {key: count for key, count in share.items() if key[0] == RUN}
    batch = round(share[RUN, "messages"] / share[RUN, "function_calls"]) if size else BATCH
    received = units.sqs_requests(["x" * size] * batch) / batch
    same = _used({**run, ("", "runs_bytes"): share["", "runs_bytes"]})
    used = Used(
        scheduler_calls=1,
        write_units=same.write_units,
        gb_months=same.gb_months,
        sqs_requests=units.sqs_requests(["x" * size]) + received + 1 / batch,
        function_calls=same.function_calls,
        gb_seconds=same.gb_seconds,
        log_gb=same.log_gb,
        traces=same.traces,
    )
    return _per_million(used)


def _used(share: Counts) -> Used:
    calls = _sum(share, "function_calls")
    kept = sum(share.get(("", f"{table}_bytes"), 0) for table in ("tasks", "runs"))
    return Used(
        write_units=_sum(share, "write_units"),
        read_units=_sum(share, "read_units"),
        gb_months=kept / GIGABYTE,
        sqs_requests=_sum(share, "sqs_requests"),
        function_calls=calls,
        gb_seconds=_sum(share, "gb_seconds"),
        log_gb=_sum(share, "log_bytes") / GIGABYTE,
        traces=calls * TRACED,
        http_requests=_sum(share, "http_requests"),
    )


def _sum(counts: Counts, name: str, but: str = "") -> float:
    return sum(count for (phase, one), count in counts.items() if one == name and phase != but)


def _per_million(used: Used) -> dict[str, float]:
    return dollars(used.times(MILLION))


def _named(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row[name] for name in ("way", "payload", "keyed")}


def _phases(share: Counts) -> list[dict[str, Any]]:
    names = ("write_units", "read_units", "dynamodb_requests", "sqs_requests", "log_bytes")
    return [
        {"phase": phase, **{name: share.get((phase, name), 0.0) for name in names}}
        for phase in PHASES
    ]


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
