"""What is asked about schedules, over HTTP and by the Python client alike: checked, done and told.

Each function raises InvalidInput for a name that is none, and Unavailable; those about a schedule there has
to be NotFound.
"""

from typing import Any

from minutero.domain.new_task import check_name
from minutero.http.answers import task_answer
from minutero.http.pages import Pages
from minutero.http.queries import read_limit
from minutero.http.schedule_answers import (
    explain_answer,
    listed_schedule_answer,
    next_answer,
    put_answer,
    schedule_answer,
)
from minutero.http.schedule_bodies import PauseBody, ResumeBody, ScheduleBody
from minutero.http.schedule_queries import ExplainQuery, ScheduleListQuery
from minutero.service.entries import Api
from minutero.service.explain import ExplainSchedule
from minutero.service.read_schedules import ReadSchedules

Told = dict[str, Any]


def put(api: Api, name: str, body: ScheduleBody) -> tuple[bool, Told]:
    """Whether it is a new one, and the schedule with `changed` and `warnings`. Raises InvalidInput."""
    said = body.to_definition(api.clock.now())
    done = api.put_schedule(_named(name), said, enabled=body.enabled)
    return done.created, put_answer(done, api.clock.now())


def get(api: Api, name: str) -> Told:
    """One schedule."""
    return schedule_answer(_read(api)(_named(name)), api.clock.now())


def page(api: Api, asked: ScheduleListQuery) -> Told:
    """A page of all schedules. Raises InvalidInput."""
    pages = Pages("schedules", asked.filters(), api.signing_secret)
    start, _ = pages.read(asked.next_token)
    found = _read(api).page(read_limit(asked.limit), start)
    now = api.clock.now()
    return {
        "schedules": [listed_schedule_answer(one, now) for one in found.schedules],
        # A token holds the end of its list; this one has none.
        "next_token": pages.token(found.following, 0),
    }


def delete(api: Api, name: str) -> Told:
    """The schedule as it was last."""
    return schedule_answer(api.revise_schedule.delete(_named(name)), api.clock.now())


def pause(api: Api, name: str, body: PauseBody | None) -> Told:
    """The schedule as it is then. Raises InvalidInput."""
    reason = (body or PauseBody()).checked()
    return schedule_answer(api.pause_schedule.pause(_named(name), reason), api.clock.now())


def resume(api: Api, name: str, body: ResumeBody | None) -> Told:
    """The schedule as it is then. Raises InvalidInput."""
    since = (body or ResumeBody()).checked()
    return schedule_answer(api.pause_schedule.resume(_named(name), since), api.clock.now())


def run(api: Api, name: str) -> Told:
    """A task of the schedule, due now."""
    return task_answer(api.read_task(api.run_schedule(_named(name)).task_id))


def coming(api: Api, name: str, count: int) -> Told:
    """Its next times."""
    return next_answer(_read(api)(_named(name)), api.clock.now(), count)


def explain(api: Api, name: str, asked: ExplainQuery) -> Told:
    """What became of its times. Raises InvalidInput."""
    first, last = asked.to_span(api.clock.now())
    tell = ExplainSchedule(api.schedules, api.read_task.store, api.read_task.ledger, api.clock)
    return explain_answer(tell(_named(name), first, last))


def _read(api: Api) -> ReadSchedules:
    return ReadSchedules(api.schedules, api.clock)


def _named(name: str) -> str:
    return check_name(name, "name")
