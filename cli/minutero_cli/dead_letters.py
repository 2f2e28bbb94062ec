"""What is done to many dead letters at once, and what became of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from minutero_cli.api_client import Api, ApiError, path_of
from minutero_cli.errors import CommandError
from minutero_cli.listing import PAGE_LIMIT

SPOILS_NO_OTHER = (400, 404, 409)
"""Refusals of one task. After any other error the next would fare no better."""

AT_ONCE = 25
"""Letters redriven in one request: few are in doubt when an answer is lost."""


@dataclass(slots=True)
class Outcome:
    """How many letters were meant, and which failed; an entry of `failed` is as the API gives it."""

    matched: int = 0
    done: int = 0
    failed: list[dict[str, Any]] = field(default_factory=list)


def redrive_matching(api: Api, wanted: Mapping[str, Any], *, dry_run: bool) -> Outcome:
    """Redrive all that matches a filter, page by page. Raises CommandError, with the count so far."""
    outcome = Outcome()
    token = None
    while True:
        size = PAGE_LIMIT if dry_run else AT_ONCE
        body = {**wanted, "dry_run": dry_run, "limit": size, "next_token": token}
        try:
            page = api.post("/dead/redrive", _given(body)).body
        except ApiError as error:
            raise _broken_off(error, outcome) from None
        outcome.matched += page.get("matched", 0)
        outcome.done += page.get("redriven", 0)
        outcome.failed += page.get("failed", ())
        token = page.get("next_token")
        if token is None:
            return outcome


def redrive_each(api: Api, task_ids: Sequence[str], *, dry_run: bool) -> Outcome:
    """Redrive these tasks; a dry run only looks whether they are dead. Raises CommandError."""
    if dry_run:
        outcome = _each(task_ids, lambda one: api.get(path_of("dead", one)))
        outcome.done = 0
        return outcome
    return _each(task_ids, lambda one: api.post(path_of("tasks", one, "redrive")))


def discard_each(api: Api, task_ids: Sequence[str]) -> Outcome:
    """Take these tasks off the list of the dead. Raises CommandError."""
    return _each(task_ids, lambda one: api.delete(path_of("dead", one)))


def _each(task_ids: Sequence[str], ask: Callable[[str], object]) -> Outcome:
    outcome = Outcome()
    for task_id in task_ids:
        try:
            ask(task_id)
        except ApiError as error:
            if error.status not in SPOILS_NO_OTHER:
                raise _broken_off(error, outcome) from None
            told = {"code": error.code, "message": str(error)}
            outcome.failed.append({"task_id": task_id, "error": told})
        else:
            outcome.matched += 1
            outcome.done += 1
    return outcome


def _broken_off(error: ApiError, outcome: Outcome) -> CommandError:
    in_doubt = error.status == 0 or error.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if not (outcome.done or in_doubt):
        return error
    more = ", perhaps more" if in_doubt else ""
    return CommandError(
        f"{error}; {outcome.done} are done{more}, and the same command again goes on"
    )


def _given(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if value is not None}
