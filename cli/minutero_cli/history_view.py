"""A task's history as people read it: what happened, when, and what there is to say of it."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from minutero_cli.durations import span

Entry = Mapping[str, Any]
NOT_KEPT = "yes; when, is not kept"
"""That a queue took a message is known, and the time is not: it would be one more write a task."""


def history_rows(task: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield a row for each event; of an older API, which tells of failures alone, for each of these."""
    entries = [entry for entry in task.get("history") or () if isinstance(entry, dict)]
    for entry in entries:
        what = str(entry.get("what") or "attempt")
        name = f"attempt {entry.get('attempt')}" if what == "attempt" else what
        at = entry.get("at") or (NOT_KEPT if what == "sent" else "")
        yield name, ", ".join(filter(None, (at, _DETAILS.get(what, _error)(entry))))


def _claimed(entry: Entry) -> str:
    early = entry.get("early_ms") or 0
    when = f"{span(abs(early))} {'before it was due' if early >= 0 else 'late'}"
    if entry.get("claim_id") == "near":
        return f"{when}, by its writer"
    return f"{when}, by claim {entry.get('claim_id')}"


def _attempt(entry: Entry) -> str:
    if entry.get("error"):
        after = _took(entry, "failed after") or f"failed {entry.get('failed_at')}"
        return f"{after}: {entry['error']}"
    if entry.get("came") == "running":
        return "running"
    return _took(entry, "took") or "never told its end"


def _took(entry: Entry, verb: str) -> str:
    """Tell how long an attempt took, or nothing where one of its ends is not known."""
    at, ended_at = entry.get("at"), entry.get("ended_at")
    if not at or not ended_at:
        return ""
    try:
        took = datetime.fromisoformat(ended_at) - datetime.fromisoformat(at)
    except ValueError:
        return ""
    return f"{verb} {span(round(took.total_seconds() * 1000))}"


def _due(entry: Entry) -> str:
    return f"due {entry['run_at']}" if entry.get("run_at") else ""


def _error(entry: Entry) -> str:
    return str(entry.get("error") or "")


_DETAILS: dict[str, Callable[[Entry], str]] = {
    "created": _due,
    "claimed": _claimed,
    "attempt": _attempt,
    "moved": _due,
    "redriven": _due,
}
"""What there is to say of an event; of all others, why it came."""
