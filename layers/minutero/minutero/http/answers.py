"""What is told about a task, in HTTP and by the Python client alike."""

import json
from typing import Any

from minutero.domain.exchanged import DeadLetter
from minutero.domain.instants import format_instant
from minutero.domain.lifecycle import Status
from minutero.domain.occurrence import Trigger
from minutero.domain.run import RunRecord
from minutero.domain.task import State, Task
from minutero.http.history import history_answer
from minutero.service.dead_list import task_id_of
from minutero.service.read_task import TaskView


def task_answer(view: TaskView) -> dict[str, Any]:
    """The whole of a task: what it is, its status, what became of it."""
    run = view.run
    outcome = run.outcome if run else None
    return {
        **_wanted(view.task),
        "status": str(view.status),
        "attempts": view.task.attempts_before + (run.attempts if run else 0),
        "result": json.loads(outcome.result) if outcome and outcome.result else None,
        "error": _error(view),
        "note": (outcome.note or None) if outcome else None,
        "lateness_ms": view.lateness_ms,
        "timeline": _timeline(view.task, run),
        "history": history_answer(view),
    }


def added_answer(task: Task) -> dict[str, Any]:
    """A task as it is told to whom has just added it: scheduled, whatever has come of it since."""
    return {**_wanted(task), "status": str(Status.SCHEDULED)}


def listed_answer(view: TaskView) -> dict[str, Any]:
    """A task as it stands in a list: a payload that lies in an item of its own is left out."""
    left_out = {"payload_omitted": True} if view.task.large else {}
    return {**task_answer(view), **left_out}


def letter_answer(letter: DeadLetter) -> dict[str, Any]:
    """A dead run as it is listed; a row that could not be read is no task's."""
    return {
        "task_id": task_id_of(letter),
        "run_id": letter.run_id,
        "job": letter.job,
        "tenant": letter.tenant or None,
        "reason": letter.reason,
        "died_at": format_instant(letter.died_at),
    }


def dead_answer(letter: DeadLetter, view: TaskView) -> dict[str, Any]:
    """A dead run with its task."""
    return {**letter_answer(letter), "task": task_answer(view)}


def _wanted(task: Task) -> dict[str, Any]:
    of = task.occurrence
    return {
        "task_id": task.task_id,
        "job": task.job,
        "payload": None if task.payload is None else json.loads(task.payload),
        "run_at": format_instant(task.run_at),
        "key": task.key or None,
        "tenant": task.tenant or None,
        "max_attempts": task.max_attempts,
        "expires_after_seconds": task.expires_after_seconds,
        "schedule": of.schedule if of else None,
        "scheduled_for": format_instant(of.nominal) if of else None,
        "trigger": str(of.trigger if of else Trigger.TASK),
        "is_catch_up": of is not None and of.is_catch_up,
    }


def _error(view: TaskView) -> str | None:
    run = view.run
    if view.status is Status.SUCCEEDED:
        return None
    if run is not None and run.outcome is not None and run.outcome.reason:
        return run.outcome.reason
    # A task that its worker has moved takes its attempts along, and so the errors of the runs before.
    before = view.earlier if view.task.attempts_before else ()
    runs = (*before, run) if run is not None else before
    failures = [failure for one in runs for failure in one.failures]
    return failures[-1].error if failures else None


def _timeline(task: Task, run: RunRecord | None) -> dict[str, str | None]:
    moments = {
        "created_at": task.created_at,
        "claimed_at": task.claimed_at if task.state is not State.SCHEDULED else None,
        "started_at": run.started_at if run else None,
        "finished_at": run.finished_at if run else None,
    }
    return {name: None if at is None else format_instant(at) for name, at in moments.items()}
