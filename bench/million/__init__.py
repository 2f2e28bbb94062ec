"""One minute with a million tasks: what shards, look-ahead, tables and pollers make of it.

A simulation. What AWS allows is in `limits`, what this machine measured is in `scenario`. It is pessimistic
where AWS promises nothing: a partition has no burst, is never split, and a table does not grow.
"""

from dataclasses import asdict, replace
from typing import Any

from bench.million.limits import BATCHES_A_POLLER, NEW_TABLE, TABLE_QUOTA
from bench.million.scenario import Scenario, measured
from bench.million.simulate import Outcome, simulate

MILLION = 1_000_000
SHARDS = (8, 16, 32, 64, 128, 256)
LOOK_AHEADS = (3, 5, 10, 14)
PHASES = (0, 30, 59)
"""The tick may come at any second of its minute. The worst of these counts; where settings are compared it is
the last."""

ONCE = Scenario(MILLION, shards=64, look_ahead=10, table_units=TABLE_QUOTA, pollers=60)
"""What is recommended for a million in one minute, once."""

RECOMMENDED = {
    "10 M stored, 231 a minute": Scenario(231, minutes=5, creates=True),
    "10 k, every minute": Scenario(10_000, minutes=5, creates=True),
    "100 k, every minute": Scenario(
        100_000, minutes=5, creates=True, shards=32, look_ahead=10, table_units=10_000, pollers=20
    ),
    "1 M, in one minute": ONCE,
    "1 M, every minute": replace(
        ONCE, minutes=5, creates=True, shards=256, table_units=2 * TABLE_QUOTA
    ),
}
"""Ten million stored for the next 30 days are 231 a minute."""


def measure() -> dict[str, Any]:
    """Rows of numbers, by what they vary. Seconds, from the start of the minute on."""
    cpu = measured()
    once = replace(ONCE, cpu=cpu)
    return {
        "cpu_us_per_task": asdict(cpu),
        "shards_and_look_ahead": [
            _sending(replace(once, shards=shards, look_ahead=minutes))
            for shards in SHARDS
            for minutes in LOOK_AHEADS
        ],
        "queues": [_starting(one) for one in _queues(once)],
        "sensitivity": [_row(name, one) for name, one in _sensitivity(once).items()],
        "recommended": [_row(name, replace(one, cpu=cpu)) for name, one in RECOMMENDED.items()],
    }


def _queues(once: Scenario) -> list[Scenario]:
    """Ways to have the messages of a million worked off."""
    mapped = ((1, 100), (1, 1_000), (2, 500), (4, 250))
    return [
        *(replace(once, pollers=0, queues=queues, concurrency=most) for queues, most in mapped),
        *(replace(once, pollers=pollers) for pollers in (20, 40, 60, 80)),
    ]


def _sensitivity(once: Scenario) -> dict[str, Scenario]:
    """What the recommendation hangs on."""
    return {
        "as recommended": once,
        "requests three times slower": replace(once, slowness=3.0),
        "the dispatcher's CPU doubled": replace(
            once, cpu=replace(once.cpu, dispatch=2 * once.cpu.dispatch)
        ),
        "tables that are new": replace(once, table_units=NEW_TABLE),
        "8 shards": replace(once, shards=8),
        "a look-ahead of 3 minutes": replace(once, look_ahead=3),
    }


def worst(scenario: Scenario) -> Outcome:
    """With the tick at the second of its minute at which the hindmost task has least time."""
    outcomes = [simulate(replace(scenario, phase=phase)) for phase in PHASES]
    return min(outcomes, key=lambda outcome: outcome.ahead)


def _row(name: str, scenario: Scenario) -> dict[str, Any]:
    outcome = worst(scenario)
    return {
        "load": name,
        "shards": scenario.shards,
        "look_ahead": scenario.look_ahead,
        "table_units": scenario.table_units,
        "pollers": scenario.pollers,
        **_sent(outcome),
        **_started(outcome),
    }


def _sending(scenario: Scenario) -> dict[str, Any]:
    return {
        "shards": scenario.shards,
        "dispatchers": scenario.dispatchers,
        "look_ahead": scenario.look_ahead,
        **_sent(simulate(scenario)),
    }


def _starting(scenario: Scenario) -> dict[str, Any]:
    most = scenario.pollers * BATCHES_A_POLLER or scenario.concurrency
    return {
        "queues": scenario.queues,
        "pollers": scenario.pollers,
        "batches_each": most,
        **_started(simulate(scenario)),
    }


def _sent(outcome: Outcome) -> dict[str, float]:
    return {
        "last_claimed": round(outcome.claimed, 1),
        "last_sent": round(outcome.sent, 1),
        "sent_ahead": round(outcome.ahead, 1),
    }


def _started(outcome: Outcome) -> dict[str, float]:
    late = outcome.lateness
    return {
        "last_started": round(outcome.started, 1),
        "late_p50": late[50],
        "late_p99": late[99],
        "late_max": late[100],
    }
