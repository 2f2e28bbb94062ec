"""A task as people read it: what it is, its status, and when what happened."""

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from minutero_cli.history_view import history_rows
from minutero_cli.terminal import show_facts

COLOURS = {
    "scheduled": "blue",
    "claimed": "cyan",
    "running": "yellow",
    "retrying": "yellow",
    "succeeded": "green",
    "skipped": "dim",
    "expired": "magenta",
    "dead": "red",
    "cancelled": "dim",
}
MOMENTS = {
    "created_at": "created",
    "claimed_at": "claimed",
    "started_at": "started",
    "finished_at": "finished",
}
OPTIONAL = (
    "schedule",
    "scheduled_for",
    "key",
    "tenant",
    "expires_after_seconds",
    "result",
    "error",
    "note",
)


def show_task(task: dict[str, Any]) -> None:
    """Print a task: a panel at a terminal, `name value` lines elsewhere."""
    show_facts(str(task.get("task_id")), rows(task), status_style)


def status_style(name: str, value: str) -> str:
    """Give a status its colour."""
    return COLOURS.get(value, "") if name == "status" else ""


def rows(task: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what there is to say about a task, in the order it is read in."""
    for name, member in (("task", "task_id"), ("job", "job"), ("status", "status")):
        yield name, str(task.get(member))
    yield "due", str(task.get("run_at"))
    if task.get("payload") is not None:
        yield "payload", short(task["payload"])
    if task.get("attempts"):
        yield "attempts", f"{task['attempts']} of {task.get('max_attempts')}"
    for name in OPTIONAL:
        if task.get(name) is not None:
            yield name.replace("_seconds", "").replace("_", " "), short(task[name])
    if task.get("lateness_ms") is not None:
        yield "lateness", lateness(task["lateness_ms"])
    yield from history_rows(task)
    if not any("what" in entry for entry in task.get("history") or ()):
        # An older API's history has no more than failures.
        yield from moments(task)


def moments(task: dict[str, Any]) -> list[tuple[str, str]]:
    """List what has happened to a task so far and when, by its timeline."""
    timeline = task.get("timeline") or {}
    return [(name, timeline[member]) for member, name in MOMENTS.items() if timeline.get(member)]


def lateness(ms: int | None) -> str:
    """Tell how late a task started."""
    if ms is None:
        return "not started"
    return f"{ms / 1000:.2f} s late" if ms >= 0 else f"{-ms / 1000:.2f} s EARLY"


def clock_time(instant: str) -> str:
    """Turn an RFC 3339 instant into the time of day here, to the tenth of a second."""
    at = datetime.fromisoformat(instant).astimezone()
    return f"{at:%H:%M:%S}.{at.microsecond // 100_000}"


def short(value: Any) -> str:
    """Give a value as text, cut where it is long."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 1000 else text[:1000] + "..."  # noqa: PLR2004
