"""The life of a task as it is told: one entry an event, in order."""

from typing import Any

from minutero.domain.history import Came, Event, Happened, history_of
from minutero.domain.instants import format_instant
from minutero.service.read_task import TaskView


def history_answer(view: TaskView) -> list[dict[str, Any]]:
    """What happened to a task. Of a task in a list, its last run alone."""
    events = history_of(view.task, view.run, view.at, view.earlier, sent=view.sent)
    return [_entry(event) for event in events]


def _entry(event: Event) -> dict[str, Any]:
    """`attempt`, `failed_at` and `error` are in every entry, the rest where it has a meaning."""
    failed = event.came is Came.FAILED
    return {
        "what": str(event.what),
        "at": _told(event.at),
        "attempt": event.attempt,
        "failed_at": _told(event.ended_at) if failed else None,
        "error": event.error or None,
        **_more(event),
    }


def _more(event: Event) -> dict[str, Any]:
    match event.what:
        case Happened.CREATED | Happened.MOVED | Happened.REDRIVEN:
            return {"run_at": _told(event.run_at)}
        case Happened.CLAIMED:
            return {"claim_id": event.claim_id, "early_ms": event.early_ms}
        case Happened.ATTEMPT:
            return {
                "came": str(event.came),
                "ended_at": _told(event.ended_at),
            }
        case _:
            return {}


def _told(at: int | None) -> str | None:
    return None if at is None else format_instant(at)
