"""The Python client: straight to the tables and the queue, no HTTP between.

    import minutero

    client = minutero.Client()                      # the stack "minutero", found in CloudFormation
    task = client.add_task("echo", {"any": "JSON"}, delay_seconds=90, key="order-17-reminder")
    client.get_task(task["task_id"])["status"]

It keeps the rules of the HTTP API, answers in the same shapes, and needs the same IAM permissions as
functions/api. One client serves a whole process, from any number of threads.
"""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from minutero import wiring
from minutero.client.dead import DeadCalls
from minutero.client.schedules import ScheduleCalls
from minutero.client.tasks import TaskCalls, TaskItem
from minutero.client.values import When, body_of
from minutero.http.queries import StatsQuery, read_query
from minutero.http.stats_answers import stats_answer
from minutero.settings import Settings

if TYPE_CHECKING:
    from botocore.session import Session

__all__ = ["Client", "TaskItem"]


class Client(TaskCalls, ScheduleCalls, DeadCalls):
    """Adds tasks and schedules, changes them, and tells about them.

    `stack` is a deployed stack whose resources CloudFormation names, one request at the start; with
    `settings` there is none. `session` brings other credentials than the environment's, `region` and
    `endpoint` another place.

    Raises NotFound for a stack CloudFormation does not know. Every method may raise Unavailable: AWS did
    not answer, within some 5 s for a request; the same call may be repeated, which with a `key` adds no
    second task. InvalidInput says what to send instead.
    """

    def __init__(
        self,
        stack: str = "minutero",
        *,
        settings: Settings | None = None,
        session: "Session | None" = None,
        region: str | None = None,
        endpoint: str | None = None,
    ) -> None:
        # With the first client: one in memory, in a test, needs neither.
        import botocore.session  # noqa: PLC0415

        from minutero.aws.deployed_stack import find_stack  # noqa: PLC0415

        # One of its own: what the environment says now, not what it said to the first in this process.
        session = session or botocore.session.get_session()
        if settings is None:
            found = find_stack(stack, session, region, endpoint)
            settings = Settings.from_environment(found.environment())
        self._api = wiring.api_parts(
            settings,
            region=region,
            endpoint=endpoint,
            session=session,
            clock_margin=settings.timing.client_clock_margin,
        )

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] | None = None, **options: Any
    ) -> "Client":
        """Make a client from the MINUTERO_* variables, as the functions have them; no CloudFormation.

        `options` are those of the class. Raises SettingsError, which names what is missing.
        """
        variables = os.environ if environment is None else environment
        return cls(settings=Settings.from_environment(variables), **options)

    def job_names(self) -> list[str]:
        """Name the deployed jobs."""
        return sorted(self._api.job_names())

    def stats(self, start: When | None = None, end: When | None = None) -> dict[str, Any]:
        """Tell the numbers of the deployment, as `GET /stats` does."""
        asked = read_query(StatsQuery, body_of({"from": start, "to": end}))
        return stats_answer(self._api.stats(*asked.to_range(self._api.clock.now())))
