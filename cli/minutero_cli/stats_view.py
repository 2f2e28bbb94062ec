"""The numbers of a deployment as people read them."""

from collections.abc import Iterator, Mapping
from typing import Any

from minutero_cli.durations import span
from minutero_cli.task_view import COLOURS

Told = Mapping[str, Any]


def stats_rows(told: Told) -> Iterator[tuple[str, str]]:
    """Yield what there is to say, in the order it is read in."""
    backlog = told.get("backlog") or {}
    yield "now", str(told.get("now"))
    yield "shards", str(told.get("shards"))
    yield "settled up to", settled(told)
    yield "tasks queue", depth(told.get("queue") or {})
    yield "dead-letter queue", depth(told.get("dead_letter_queue") or {})
    if "overdue" in told:
        yield "oldest overdue", overdue(told)
    if "lateness_ms" in told:
        yield "lateness", lateness_quantiles(told)
    more = "" if backlog.get("complete", True) else ", and there are more than were counted"
    yield "tasks due", f"from {backlog.get('from')} to {backlog.get('to')}{more}"
    for status, count in (backlog.get("counts") or {}).items():
        yield status, str(count)


def stats_style(name: str, value: str) -> str:
    """Give the count of a status its colour, and dim what is nothing."""
    return COLOURS.get(name, "") if value != "0" else "dim"


def settled(told: Told) -> str:
    """Tell how far the watermark is."""
    watermark = told.get("watermark") or {}
    if watermark.get("oldest") is None:
        return "nothing yet: no tick has served every shard"
    return f"{watermark['oldest']} ({watermark.get('lag_seconds')} s ago)"


def depth(of_queue: Told) -> str:
    """Tell what a queue holds, as SQS knew it about a minute ago."""
    parts = ("ready", "delayed", "in_flight")
    return ", ".join(f"{of_queue.get(part)} {part.replace('_', ' ')}" for part in parts)


def overdue(told: Told) -> str:
    """Tell which task should have begun long ago, and of which tasks that is said."""
    found = told.get("overdue") or {}
    among = f"of those due since {found.get('from')}"
    if not found.get("complete", True):
        among += " that were looked at; there are more"
    if found.get("task_id") is None:
        return f"none {among}"
    return (
        f"{found['task_id']}, due {found.get('run_at')} ({found.get('age_seconds')} s ago), {among}"
    )


def lateness_quantiles(told: Told) -> str:
    """Tell how late tasks started, and how many starts that is said of."""
    late = told.get("lateness_ms") or {}
    if not late.get("samples"):
        return "none of the tasks due has started"
    values = ", ".join(
        f"{name} {span(late.get(name) or 0)}" for name in ("p50", "p90", "p99", "max")
    )
    return f"{values} of {late['samples']} starts"
