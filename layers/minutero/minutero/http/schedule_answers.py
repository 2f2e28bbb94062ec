"""What is told about a schedule, in HTTP and by the Python client alike."""

import json
from collections.abc import Iterator
from dataclasses import asdict
from itertools import islice
from typing import Any

from minutero.domain.coming import coming_times
from minutero.domain.expression import next_in_gap
from minutero.domain.instants import format_instant
from minutero.domain.schedule import Schedule
from minutero.domain.wall_clock import format_local, format_wall
from minutero.domain.zones import load_zone
from minutero.service.explain import Explained, Told
from minutero.service.put_schedule import Put


def schedule_answer(schedule: Schedule, now: int) -> dict[str, Any]:
    """The whole of a schedule: its definition, how it stands, and the times around now."""
    said = schedule.definition
    payload = None if said.payload is None else json.loads(said.payload)
    return {"name": schedule.name, "job": said.job, "payload": payload, **_rest(schedule, now)}


def listed_schedule_answer(schedule: Schedule, now: int) -> dict[str, Any]:
    """A schedule as it stands in a list: without its payload."""
    return {"name": schedule.name, "job": schedule.definition.job, **_rest(schedule, now)}


def put_answer(put: Put, now: int) -> dict[str, Any]:
    """A schedule as it is told to whom has just put it: whether that changed it, and what to look out for."""
    return {
        **schedule_answer(put.schedule, now),
        "changed": put.changed,
        "warnings": list(_warnings(put.schedule, now)),
    }


def next_answer(schedule: Schedule, now: int, count: int) -> dict[str, Any]:
    """The times that come next, and when each is due: of the rule alone while the schedule is paused."""
    zone = load_zone(schedule.definition.timezone)
    return {
        "name": schedule.name,
        "expression": schedule.definition.expression,
        "timezone": schedule.definition.timezone,
        "paused": not schedule.enabled,
        "fire_times": [
            {
                "utc": format_instant(time),
                "local": format_local(time, zone),
                "run_at": format_instant(schedule.due_at(time)),
            }
            for time in islice(coming_times(schedule, now), count)
        ],
    }


def explain_answer(explained: Explained) -> dict[str, Any]:
    """The times of a schedule, and what became of each."""
    following = explained.next
    return {
        "name": explained.schedule.name,
        "times": [_told(one) for one in explained.times],
        "next_from": None if following is None else format_instant(following),
    }


def _rest(schedule: Schedule, now: int) -> dict[str, Any]:
    said = schedule.definition
    following = schedule.next_run_at(now)
    return {
        "expression": said.expression,
        "timezone": said.timezone,
        "start_at": _instant(said.start_at),
        "end_at": _instant(said.end_at),
        "jitter_seconds": said.jitter_seconds,
        "on_gap": said.on_gap,
        "on_overlap": said.on_overlap,
        "misfire": asdict(said.misfire),
        "overlap": said.overlap,
        "enabled": schedule.enabled,
        "max_attempts": said.max_attempts,
        "tenant": said.tenant or None,
        "paused_reason": schedule.paused_reason or None,
        "version": schedule.version,
        "next_run_at": _instant(following),
        "last_run_at": _instant(schedule.last_run_at(now)),
        "finished": schedule.enabled and following is None,
        "created_at": format_instant(schedule.created_at),
        "changed_at": format_instant(schedule.changed_at),
    }


def _warnings(schedule: Schedule, now: int) -> Iterator[str]:
    """Sentences about what few have in mind."""
    said = schedule.definition
    if not schedule.enabled:
        yield "the schedule is paused: none of its times fires until it is resumed"
    lost = next_in_gap(schedule.times.rule, max(now, said.start_at or now))
    if lost is None or (said.end_at is not None and lost.instant > said.end_at):
        return
    wall = f"{format_wall(lost.wall)} does not exist in {said.timezone}"
    if said.on_gap == "skip":
        yield f"{wall}: it is skipped; with on_gap next it fires at {format_instant(lost.instant)}"
    else:
        yield f"{wall}: it fires at {format_instant(lost.instant)}, as on_gap says"


def _told(told: Told) -> dict[str, Any]:
    view = told.view
    return {
        "scheduled_for": format_instant(told.time),
        "what": str(told.what),
        "why": told.why or None,
        "task_id": view.task.task_id if view else None,
        "status": str(view.status) if view else None,
        "lateness_ms": told.lateness_ms,
    }


def _instant(ms: int | None) -> str | None:
    return None if ms is None else format_instant(ms)
