"""Schedules as people read them: what they say, how they stand, and their times."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from minutero_cli.columns import Columns
from minutero_cli.task_view import lateness, short
from minutero_cli.terminal import at_terminal, print_error, show_facts

NAMES = ("schedule", "state", "next", "last", "job", "expression", "timezone", "tenant")
EXPLAINED = ("time", "what", "lateness", "task", "why")
COLOURS = {
    "enabled": "green",
    "paused": "yellow",
    "finished": "dim",
    "ran": "green",
    "caught up": "cyan",
    "skipped": "dim",
    "pending": "blue",
    "missed": "red",
}
OPTIONAL = ("start_at", "end_at", "jitter_seconds", "tenant")


def columns() -> Columns:
    """Give the columns of a list of schedules."""
    return Columns(NAMES, _style)


def row(schedule: dict[str, Any]) -> Sequence[str]:
    """Give a schedule's cells, in the order of NAMES."""
    return (
        str(schedule.get("name")),
        _state(schedule),
        schedule.get("next_run_at") or "",
        schedule.get("last_run_at") or "",
        str(schedule.get("job")),
        str(schedule.get("expression")),
        str(schedule.get("timezone")),
        schedule.get("tenant") or "",
    )


def show_schedule(schedule: dict[str, Any]) -> None:
    """Print a schedule: a panel at a terminal, `name value` lines elsewhere."""
    show_facts(str(schedule.get("name")), _facts(schedule), _style)


def print_times(told: dict[str, Any]) -> None:
    """Print the next times; that a schedule is paused is said on stderr."""
    times = told.get("fire_times") or ()
    zone = str(told.get("timezone"))
    Columns(("utc", zone, "day", "due")).print(
        [
            (
                one["utc"],
                one["local"],
                f"{datetime.fromisoformat(one['local']):%a}",
                one["run_at"],
            )
            for one in times
        ]
    )
    if told.get("paused"):
        print_error("note: the schedule is paused; none of these fires until it is resumed")
    elif not times:
        print_error("note: the schedule has no more times")


def print_explained(told: dict[str, Any]) -> None:
    """Print what became of each time, and on stderr where to go on."""
    times = told.get("times") or ()
    Columns(EXPLAINED, _style).print([_explained(one) for one in times])
    if at_terminal() and not times:
        print("none")
    if told.get("next_from"):
        print_error(f"note: there are more; go on with --from {told['next_from']}")


def _explained(one: dict[str, Any]) -> Sequence[str]:
    late = one.get("lateness_ms")
    return (
        str(one.get("scheduled_for")),
        str(one.get("what")),
        "" if late is None else lateness(late),
        one.get("task_id") or "",
        one.get("why") or "",
    )


def _facts(schedule: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "schedule", str(schedule.get("name"))
    for name in ("job", "expression", "timezone"):
        yield name, str(schedule.get(name))
    yield "state", _state(schedule)
    if schedule.get("paused_reason"):
        yield "reason", str(schedule["paused_reason"])
    yield "next", schedule.get("next_run_at") or "none"
    yield "last", schedule.get("last_run_at") or "none"
    if schedule.get("payload") is not None:
        yield "payload", short(schedule["payload"])
    for name in OPTIONAL:
        if schedule.get(name):
            yield name.replace("_", " "), str(schedule[name])
    for name in ("on_gap", "on_overlap", "overlap"):
        yield name.replace("_", " "), str(schedule.get(name))
    yield "misfire", _misfire(schedule.get("misfire") or {})
    yield "attempts", str(schedule.get("max_attempts"))
    yield "version", str(schedule.get("version"))
    yield "created", str(schedule.get("created_at"))
    yield "changed", str(schedule.get("changed_at"))


def _misfire(misfire: dict[str, Any]) -> str:
    most = f", at most {misfire.get('max_catch_up')}" if misfire.get("policy") == "all" else ""
    return f"{misfire.get('policy')} when over {misfire.get('grace_seconds')} s late{most}"


def _state(schedule: dict[str, Any]) -> str:
    if not schedule.get("enabled"):
        return "paused"
    return "finished" if schedule.get("finished") else "enabled"


def _style(name: str, value: str) -> str:
    return COLOURS.get(value, "") if name in ("state", "what") else ""
