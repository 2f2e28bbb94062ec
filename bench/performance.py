"""`python -m bench.performance`: writes what `make bench` found into docs/performance.md."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from bench.__main__ import RESULTS
from bench.deployment import ROOT
from bench.pages import fill, table

PAGE = ROOT / "docs" / "performance.md"
UNITS = {
    "write_units": "write units",
    "read_units": "read units",
    "dynamodb": "DynamoDB",
    "sqs": "SQS",
}
LINES = (
    "dynamodb",
    "storage",
    "sqs",
    "lambda",
    "logs",
    "xray",
    "http",
    "scheduler",
    "cloudwatch",
    "total",
)

CPU = {
    "dispatch": {"": "a tick of 4,000"},
    "worker": {"": "ten messages of `echo`"},
    "create": {
        "": "`Client.add_tasks`",
        "keyed": "the same with keys",
        "http": "`POST /tasks/batch`",
        "http_keyed": "the same with keys",
    },
}
"""The measurements of CPU, and what their members are."""

Rows = Sequence[Mapping[str, Any]]


def tables(results: Mapping[str, Any]) -> dict[str, str]:
    """Of the measurements there are results of, by the names of their marks."""
    made: dict[str, str] = {}
    if told := results.get("ledger"):
        made |= ledger(told)
    for name, rows in CPU.items():
        if told := results.get(name):
            made[name] = _cpu(told, rows)
    if told := results.get("end_to_end"):
        made["end_to_end"] = end_to_end(told)
    if told := results.get("memory"):
        made["memory"] = _plain(
            told["buckets"],
            {
                "tasks": "tasks in the bucket",
                "most_mb": "MB at most",
                "added_mb": "added by the tick",
            },
        )
    if told := results.get("start_up"):
        made["imports"] = _plain(
            told["functions"],
            {"function": "function", "import_ms": "import, ms", "open_ms": "first call, ms"},
        )
        made["layers"] = _plain(
            told["layers"],
            {"layer": "layer", "files": "files", "unzipped_mb": "MB", "zipped_mb": "MB zipped"},
        )
    return made


def ledger(told: Mapping[str, Any]) -> dict[str, str]:
    """The ledger's tables."""
    head = ["a task", *UNITS.values()]
    units = [[_name(row), *(_number(row[name]) for name in UNITS)] for row in told["tasks"]]
    floor = ["*the floor*", *(_number(told["floor"][name]) for name in UNITS)]
    phases = {
        "phase": "a task's share of",
        "write_units": "write units",
        "read_units": "read units",
        "dynamodb_requests": "DynamoDB",
        "sqs_requests": "SQS",
        "log_bytes": "bytes of log",
    }
    return {
        "units": table(head, [*units, floor]),
        "phases": _plain(told["by_phase"], phases),
        "usd": _bills([(_name(row), row) for row in told["usd_per_million"]]),
        "scheduler": _bills([(_name(row), row) for row in told["eventbridge_scheduler"]]),
        "idle": _bills([(str(row["what"]), row) for row in told["idle_month"]["usd"]]),
    }


def end_to_end(told: Mapping[str, Any]) -> str:
    """How late, and how many were not as they should be."""
    rows = [
        [
            name,
            str(one["tasks"]),
            *(f"{one['lateness_ms'].get(at, 0):,}" for at in ("p50", "p99", "max")),
        ]
        for name, one in {"all": told, "by a tick": told["by_tick"], "near": told["near"]}.items()
    ]
    counts = ", ".join(f"{told[name]} {name}" for name in ("early", "lost", "doubled"))
    return (
        table(["lateness, ms", "tasks", "p50", "p99", "max"], rows)
        + f"\n\nOf all {told['tasks']}: {counts}."
    )


def _cpu(told: Mapping[str, Any], names: Mapping[str, str]) -> str:
    rows = [(name, told[member] if member else told) for member, name in names.items()]
    columns = ("cpu_us_per_task", "floor_cpu_us_per_task", "ratio_to_floor")
    return table(
        ["us of CPU a task", "ours", "floor", "ratio"],
        [[name, *(_number(row[column]) for column in columns)] for name, row in rows],
    )


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['way']}, {row['payload']:,} B{', with a key' if row['keyed'] else ''}"


def _bills(bills: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    lines = [line for line in LINES if any(line in bill for _, bill in bills)]
    return table(
        ["dollars", *lines],
        [[name, *(_number(bill.get(line, 0.0)) for line in lines)] for name, bill in bills],
    )


def _plain(rows: Rows, columns: Mapping[str, str]) -> str:
    return table([*columns.values()], [[_number(row[name]) for name in columns] for row in rows])


def _number(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


if __name__ == "__main__":
    fill(PAGE, tables(json.loads(RESULTS.read_text("utf-8"))))
