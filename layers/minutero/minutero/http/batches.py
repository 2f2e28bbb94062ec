"""Requests over many tasks: each is answered for itself."""

import json
from typing import Any

from minutero.domain.instants import format_instant
from minutero.domain.new_task import body_hash, check_whole
from minutero.errors import InvalidInput, MinuteroError
from minutero.http.answers import letter_answer
from minutero.http.bodies import RedriveBody, read_task_body
from minutero.http.fields import MOST_LISTED
from minutero.http.pages import Pages
from minutero.http.queries import LISTED, dead_query
from minutero.http.refusals import refusal_of
from minutero.service.add_task import Added
from minutero.service.add_tasks import Wanted
from minutero.service.dead_list import Redriven
from minutero.service.entries import Api


def add_batch(api: Api, bodies: list[Any]) -> list[dict[str, Any]]:
    """What became of each of the tasks, in their order: its id, or the error."""
    ends: list[Added | MinuteroError | None] = []
    wanted: list[Wanted] = []
    for body in bodies:
        try:
            wanted.append(wanted_task(body))
            ends.append(None)
        except InvalidInput as error:
            ends.append(error)
    added = iter(api.add_tasks(wanted))
    return [_entry(next(added) if end is None else end) for end in ends]


def wanted_task(body: Any) -> Wanted:
    """A task as it is asked for, with what tells two requests of one key apart. Raises InvalidInput."""
    new = read_task_body(body)
    if not new.key:
        return Wanted(new, "")
    # As it comes over HTTP: a tuple of Python's is a list, and members have text for names.
    payload = {} if new.payload is None else {"payload": json.loads(new.payload)}
    return Wanted(new, body_hash({**body, **payload}))


def _entry(end: Added | MinuteroError) -> dict[str, Any]:
    if isinstance(end, MinuteroError):
        refusal = refusal_of(end)
        return {"status": int(refusal.status), **refusal.body()}
    return {
        "status": 201 if end.created else 200,
        "task_id": end.task.task_id,
        "run_at": format_instant(end.task.run_at),
    }


def redrive_page(api: Api, body: RedriveBody) -> dict[str, Any]:
    """Runs a page of the dead again, or counts it. Raises InvalidInput, Unavailable."""
    pages = Pages("redrive", body.filters(), api.signing_secret)
    start, end = pages.read(body.next_token)
    query = dead_query(body, api.dead.kept(end))
    limit = LISTED if body.limit is None else check_whole(body.limit, "limit", 1, MOST_LISTED)
    if body.dry_run:
        page = api.dead.page(query, limit, start)
        done = Redriven(page.letters, (), page.following)
    else:
        done = api.dead.redrive(query, limit, start)
    return {
        "matched": len(done.letters),
        "redriven": 0 if body.dry_run else len(done.letters) - len(done.failed),
        "failed": [
            {**letter_answer(one), **refusal_of(error).body()} for one, error in done.failed
        ],
        "dry_run": body.dry_run,
        "next_token": pages.token(done.following, query.end),
    }
