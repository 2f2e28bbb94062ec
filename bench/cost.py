"""What a month costs by volume; `python -m bench.cost` measures it and writes it into docs/cost.md.

The tasks of a month are spread evenly here. What one costs is measured as densely as they come then: the open
claim, the page and the lease are shared by the tasks of one shard and minute.
"""

from collections.abc import Mapping
from typing import Any

from bench.deployment import ROOT
from bench.idle import MINUTES, idle_month
from bench.ledger import Ledger, scheduler
from bench.pages import fill, table
from bench.prices import AS_OF, MILLION, PRICES
from bench.ways import Way, burst, far
from minutero_cli.local.scratch import folder, ministack

PAGE = ROOT / "docs" / "cost.md"

VOLUMES = (10_000, 1_000_000, 10_000_000, 100_000_000)
SHARDS = 8
PAYLOAD = 200
LINES = {
    "dynamodb": "DynamoDB, requests",
    "storage": "DynamoDB, storage for 30 days, with backups",
    "sqs": "SQS",
    "lambda": "Lambda",
    "http": "API Gateway",
    "logs": "CloudWatch, logs",
    "cloudwatch": "CloudWatch, metrics, alarms, dashboard",
    "xray": "X-Ray",
}
"""Lines of the bill in the ledger, and what the page calls them. The two EventBridge rules cost nothing."""

BESIDE = {
    "EventBridge Scheduler alone": "scheduler",
    "Scheduler and the same worker behind a queue": "total",
}

TOLD_AT_WORK = 6
"""Metrics that are billed in each hour with a task: Created, Claimed, Sent, Started, Succeeded and
LatenessAtStart. Even 10,000 tasks a month leave no hour without one."""

Bill = Mapping[str, float]


def way_of(volume: int) -> Way:
    """How the tasks of one shard come, of so many a month."""
    a_minute = round(volume / MINUTES / SHARDS)
    return burst("burst", a_minute) if a_minute else far()


def million(ledger: Ledger, volume: int) -> dict[str, Bill]:
    """The bill for a million of tasks that come as densely as so many a month, and the same by Scheduler."""
    row = ledger.row(way_of(volume), PAYLOAD, keyed=False)
    return {"ours": row["usd"], "scheduler": scheduler(row["share"], PAYLOAD)}


def idle(endpoint: str) -> Bill:
    """The bill for a month in which nothing is due."""
    bills = {bill["what"]: bill for bill in idle_month(endpoint, SHARDS)["usd"]}
    return {line: cost for line, cost in bills["all"].items() if line != "what"}


def measure() -> dict[str, Any]:
    """Dollars: of an idle month, and of a million at each volume."""
    with folder() as home, ministack(home) as endpoint:
        ledger = Ledger(endpoint)
        return {
            "idle": idle(endpoint),
            "millions": {volume: million(ledger, volume) for volume in VOLUMES},
        }


def tables(told: Mapping[str, Any]) -> dict[str, str]:
    """The tables of the page, by their names."""
    empty, millions = told["idle"], told["millions"]
    ours = {volume: bills["ours"] for volume, bills in millions.items()}
    beside = {volume: bills["scheduler"] for volume, bills in millions.items()}
    lines = {**{name: line for line, name in LINES.items()}, "**all of it**": "total"}
    rows = [
        [name, _usd(empty.get(line, 0)), *(_usd(month(empty, ours[n], line, n)) for n in VOLUMES)]
        for name, line in lines.items()
    ]
    rows += [
        [name, _usd(0), *(_usd(_of(beside[n], line, n)) for n in VOLUMES)]
        for name, line in BESIDE.items()
    ]
    head = ["dollars a month", "idle", *(f"{volume:,}" for volume in VOLUMES)]
    per = [[name, *(_usd(ours[n].get(line, 0.0)) for n in VOLUMES)] for line, name in LINES.items()]
    per += [["**all of it**", *(_usd(ours[n]["total"]) for n in VOLUMES)]]
    return {
        "month": table(head, rows),
        "million": table(["dollars for a million", *(f"{n:,}" for n in VOLUMES)], per),
        "asof": f"Prices are those of us-east-1, as of {AS_OF}, without free tiers.",
    }


def month(empty: Bill, bill: Bill, line: str, tasks: int) -> float:
    """A line of the bill, of an idle month and so many tasks."""
    watched = TOLD_AT_WORK * PRICES["metrics"][1] if line in ("cloudwatch", "total") else 0
    return empty.get(line, 0) + watched + _of(bill, line, tasks)


def _of(bill: Bill, line: str, tasks: int) -> float:
    return bill.get(line, 0.0) * tasks / MILLION


def _usd(cost: float) -> str:
    return f"{cost:,.2f}" if cost < 100 else f"{cost:,.0f}"


if __name__ == "__main__":
    fill(PAGE, tables(measure()))
