"""Whether the deployment keeps up, and whether anything has died."""

from collections.abc import Iterator

from minutero.domain.instants import DAY, MINUTE, SECOND, format_instant
from minutero.domain.timing import Timing
from minutero_cli.doctor.deployment import Deployment
from minutero_cli.doctor.finding import Finding, failed, ok, warning
from minutero_cli.times import now

NORMAL = (Timing().settle_grace + 4 * MINUTE) // SECOND
"""Seconds: a bucket's own minute, its grace, and a tick or two."""

ALARMING = 600
"""Seconds more than that, as the alarm watermark-lag has it."""

PAGE = 100


def watermark(deployment: Deployment) -> Iterator[Finding]:
    """Ticks settle one minute after the other."""
    lag = deployment.get("/stats")["watermark"]["lag_seconds"]
    if lag is None:
        yield warning(
            "watermark", "no tick has served every shard yet", "wait two minutes and look again"
        )
        return
    found = f"is {lag} s behind now, where up to {NORMAL} s are normal"
    advice = "ask again in a minute; if it is no nearer, see watermark-lag in docs/operations.md"
    if lag <= NORMAL:
        yield ok("watermark", found)
    elif lag <= NORMAL + ALARMING:
        yield warning("watermark", found, advice)
    else:
        yield failed("watermark", found, advice)


def dead_letters(deployment: Deployment) -> Iterator[Finding]:
    """Nothing has died in the last day, and no message waits in the dead-letter queue."""
    depth = deployment.get("/stats")["dead_letter_queue"]
    waiting = sum(depth.values())
    if waiting:
        yield warning(
            "DeadLetterQueue", f"{waiting} messages wait in it",
            "they are listed within seconds; if not, see dead-letter-age in docs/operations.md",
        )  # fmt: skip
    told = deployment.get("/dead", **{"from": format_instant(now() - DAY), "limit": PAGE})
    dead = len(told["dead"])
    if dead:
        more = " or more" if told.get("next_token") else ""
        yield warning(
            "dead tasks", f"{dead}{more} since yesterday",
            "minutero dead list --since -24h; see dead-tasks in docs/operations.md",
        )  # fmt: skip
    else:
        yield ok("dead tasks", "none since yesterday")
