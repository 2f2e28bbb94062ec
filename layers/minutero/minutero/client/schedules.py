"""The Python client's calls about schedules."""

from collections.abc import Iterator, Mapping
from typing import Any

from minutero.client.values import PAGE, Calls, When, body_of
from minutero.domain.occurrence import Overlap
from minutero.domain.timetable import OnGap, OnOverlap
from minutero.http import schedules
from minutero.http.bodies import read_body
from minutero.http.queries import read_query
from minutero.http.schedule_bodies import PauseBody, ResumeBody, ScheduleBody
from minutero.http.schedule_queries import TIMES, ExplainQuery, NextQuery, ScheduleListQuery


class ScheduleCalls(Calls):
    """Make schedules, tell about them, change them. A name that is none is InvalidInput everywhere."""

    def put_schedule(  # noqa: PLR0913 - one a member of `PUT /schedules/{name}`
        self,
        name: str,
        job: str,
        expression: str,
        payload: Any = None,
        *,
        timezone: str = "UTC",
        start_at: When | None = None,
        end_at: When | None = None,
        jitter_seconds: int = 0,
        on_gap: OnGap = "skip",
        on_overlap: OnOverlap = "first",
        misfire: Mapping[str, Any] | None = None,
        overlap: Overlap = "allow",
        enabled: bool | None = None,
        max_attempts: int | None = None,
        tenant: str | None = None,
    ) -> dict[str, Any]:
        """Make a schedule, or make the one of that name this one, and tell about it, as
        `PUT /schedules/{name}` does: with `changed` and `warnings`.

        The same call again changes nothing. `misfire` has the members `policy` (`skip`, `once` or `all`),
        `grace_seconds` and `max_catch_up`. With `enabled` None a new schedule is enabled, and a paused one
        stays paused. An edit never fires at once: its first time is after now.

        Raises InvalidInput (UnknownJob and InvalidSchedule among them), Unavailable.
        """
        body = body_of(
            {
                "job": job,
                "expression": expression,
                "payload": payload,
                "timezone": timezone,
                "start_at": start_at,
                "end_at": end_at,
                "jitter_seconds": jitter_seconds,
                "on_gap": on_gap,
                "on_overlap": on_overlap,
                "misfire": dict(misfire) if isinstance(misfire, Mapping) else misfire,
                "overlap": overlap,
                "enabled": enabled,
                "max_attempts": max_attempts,
                "tenant": tenant,
            }
        )
        return schedules.put(self._api, name, read_body(ScheduleBody, body))[1]

    def get_schedule(self, name: str) -> dict[str, Any]:
        """Tell about a schedule, as `GET /schedules/{name}` does. Raises NotFound, Unavailable."""
        return schedules.get(self._api, name)

    def list_schedules(self) -> Iterator[dict[str, Any]]:
        """Tell about all schedules, without their payloads, page by page as they are taken.

        They come in an order of their own, which stays the same. Raises Unavailable.
        """
        asked = ScheduleListQuery(limit=str(PAGE))
        while True:
            page = schedules.page(self._api, asked)
            yield from page["schedules"]
            if page["next_token"] is None:
                return
            asked = ScheduleListQuery(limit=str(PAGE), next_token=page["next_token"])

    def delete_schedule(self, name: str) -> dict[str, Any]:
        """End a schedule, and tell how it was last. A run that has begun goes on.

        Raises NotFound (deleted before, too), Unavailable.
        """
        return schedules.delete(self._api, name)

    def pause_schedule(self, name: str, reason: str | None = None) -> dict[str, Any]:
        """Pause a schedule: nothing of it that has not begun runs. Again: no error.

        Raises InvalidInput, NotFound, Unavailable.
        """
        body = read_body(PauseBody, body_of({"reason": reason}))
        return schedules.pause(self._api, name, body)

    def resume_schedule(self, name: str, *, backfill: bool = False) -> dict[str, Any]:
        """Resume a schedule from now on, or make up for the latest `max_catch_up` times of the pause.

        One that is not paused stays as it is. Raises NotFound, Unavailable.
        """
        body = read_body(ResumeBody, {"from": "backfill" if backfill else "now"})
        return schedules.resume(self._api, name, body)

    def run_schedule(self, name: str) -> dict[str, Any]:
        """Run a schedule's job now, paused or not, and tell about the task. Its times stay as they are.

        Raises NotFound, Unavailable.
        """
        return schedules.run(self._api, name)

    def schedule_next(self, name: str, count: int = TIMES) -> dict[str, Any]:
        """Tell the next times, up to 500: `{"fire_times": [{"utc", "local", "run_at"}], "paused", ...}`.

        `run_at` is later than the time by its jitter. While a schedule is paused they are the times of its
        rule, of which none fires. Raises InvalidInput, NotFound, Unavailable.
        """
        asked = read_query(NextQuery, {"n": str(count)})
        return schedules.coming(self._api, name, asked.count())

    def explain_schedule(
        self, name: str, start: When | None = None, end: When | None = None
    ) -> dict[str, Any]:
        """Tell the times from `start` on and before `end`, and what became of each:
        `{"times": [{"scheduled_for", "what", "why", "task_id", "status", "lateness_ms"}], "next_from"}`.

        `start` is a day before now if left out, `end` an hour after now; at most 366 days lie between them.
        Up to 500 times are told at once; where there are more, `next_from` is the next `start`.

        Raises InvalidInput, NotFound, Unavailable.
        """
        asked = read_body(ExplainQuery, body_of({"from": start, "to": end}))
        return schedules.explain(self._api, name, asked)
