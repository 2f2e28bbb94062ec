"""The ways tasks come: in a burst or one by one, and how each is played through a deployment."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bench.deployment import JOB, START, Deployment
from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND, format_instant

SHARDS = 1
BURST = 250
"""Tasks of one minute in one shard: what each of 8 shards has of 2,000."""

ONE_BY_ONE = 10
SETTLED_AFTER = 10
"""Minutes: the look-back, the grace, and some more."""

CREATE, DISPATCH, RUN, SETTLE, AUDIT = "create", "dispatch", "run", "settle", "audit"
PHASES = (CREATE, DISPATCH, RUN, SETTLE, AUDIT)

Instant = Callable[[int, int], int]
"""(which task, of how many) -> milliseconds after the start."""


@dataclass(frozen=True, slots=True)
class Way:
    """When tasks are created and when they are due; `batched` in requests of many."""

    name: str
    tasks: int
    created: Instant
    due: Instant
    batched: bool = False


def burst(name: str, tasks: int = BURST, *, batched: bool = False) -> Way:
    """Tasks of one minute, created some minutes before it."""
    return Way(name, tasks, lambda *_: MINUTE, lambda at, n: 6 * MINUTE + at * MINUTE // n, batched)


def near(tasks: int = ONE_BY_ONE) -> Way:
    """One task a minute, due at once and sent by the API."""
    return Way("one by one, near", tasks, _each_minute, _each_minute)


def far(tasks: int = ONE_BY_ONE) -> Way:
    """One task a minute, each claimed by a tick of its own."""
    return Way(
        "one by one, by a tick", tasks, _each_minute, lambda at, _: (6 + at) * MINUTE + SECOND
    )


def _each_minute(at: int, _: int) -> int:
    return (1 + at) * MINUTE


def play(deployment: Deployment, way: Way, size: int, *, keyed: bool, tasks: int) -> None:
    """Minute by minute until all is settled, then the two looks of the audit. `tasks` is 0 for what all that
    takes without any. Raises AssertionError when not every task ran."""
    meter, clock = deployment.meter, deployment.clock
    deployment.begin(SHARDS)
    meter.counts.clear()
    due = [START + way.due(at, way.tasks) for at in range(way.tasks)]
    bodies = [_body(at, due[at], size, keyed=keyed) for at in range(tasks)]
    created = [way.created(at, way.tasks) // MINUTE for at in range(tasks)]
    last, ran = (max(due) - START) // MINUTE, 0
    for minute in range(last + SETTLED_AFTER):
        clock.set(START + minute * MINUTE)
        meter.phase = DISPATCH if minute <= last else SETTLE
        deployment.tick()
        meter.phase = CREATE
        _post(
            deployment, [one for one, at in zip(bodies, created, strict=True) if at == minute], way
        )
        clock.set(START + (minute + 1) * MINUTE - 1)
        meter.phase = RUN
        ran += deployment.deliver()
    meter.phase = AUDIT
    for age in (HOUR, DAY):
        clock.set(START + last * MINUTE + age + 5 * MINUTE)
        deployment.audit()
    if ran != tasks:
        raise AssertionError(f"{ran} of {tasks} tasks ran")


def _post(deployment: Deployment, bodies: Sequence[dict[str, Any]], way: Way) -> None:
    if way.batched and bodies:
        deployment.post("/tasks/batch", {"tasks": list(bodies)})
        return
    for body in bodies:
        deployment.post("/tasks", body)


def _body(at: int, due: int, size: int, *, keyed: bool) -> dict[str, Any]:
    quotes = 2
    body = {"job": JOB, "payload": "x" * (size - quotes), "run_at": format_instant(due)}
    return {**body, "key": f"order-{at:06d}-reminder"} if keyed else body
