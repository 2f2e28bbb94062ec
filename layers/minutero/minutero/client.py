"""The Python client: straight to the tables and the queue, no HTTP between.

    import minutero

    client = minutero.Client()                      # the stack "minutero", found in CloudFormation
    task = client.add_task("echo", {"any": "JSON"}, delay_seconds=90, key="order-17-reminder")
    client.get_task(task["task_id"])["status"]

It keeps the rules of the HTTP API, answers in the same shapes, and needs the same IAM permissions as
functions/api. One client serves a whole process, from any number of threads.
"""

import json
import os
from collections.abc import Mapping
from datetime import datetime
from typing import Any

import botocore.session
from pydantic import ValidationError

from minutero import wiring
from minutero.aws.deployed_stack import find_stack
from minutero.domain.instants import format_instant, from_datetime
from minutero.domain.new_task import NewTask, body_hash
from minutero.http.answers import added_answer, task_answer
from minutero.http.bodies import NewTaskBody, invalid_input
from minutero.settings import Settings

DEFAULT_MAX_ATTEMPTS = 5


class Client:
    """Adds tasks and tells about them.

    `stack` is a deployed stack whose resources CloudFormation names, one request at the start; with
    `settings` there is none. `session` brings other credentials than the environment's, `region` and
    `endpoint` another place.

    Raises NotFound for a stack CloudFormation does not know. Every method may raise Unavailable: AWS did
    not answer; the same call may be repeated, which with a `key` adds no second task.
    """

    def __init__(
        self,
        stack: str = "minutero",
        *,
        settings: Settings | None = None,
        session: botocore.session.Session | None = None,
        region: str | None = None,
        endpoint: str | None = None,
    ) -> None:
        # One of its own: what the environment says now, not what it said to the first in this process.
        session = session or botocore.session.get_session()
        if settings is None:
            found = find_stack(stack, session, region, endpoint)
            settings = Settings.from_environment(found.environment())
        self._api = wiring.api_parts(settings, region=region, endpoint=endpoint, session=session)

    @classmethod
    def from_environment(
        cls, environment: Mapping[str, str] | None = None, **options: Any
    ) -> "Client":
        """Make a client from the MINUTERO_* variables, as the functions have them; no CloudFormation.

        `options` are those of the class. Raises SettingsError, which names what is missing.
        """
        variables = os.environ if environment is None else environment
        return cls(settings=Settings.from_environment(variables), **options)

    def add_task(
        self,
        job: str,
        payload: Any = None,
        *,
        run_at: datetime | str | None = None,
        delay_seconds: float | None = None,
        key: str | None = None,
        tenant: str | None = None,
        max_attempts: int = DEFAULT_MAX_ATTEMPTS,
        expires_after_seconds: int | None = None,
    ) -> dict[str, Any]:
        """Add a task and tell about it, as `POST /tasks` does.

        `run_at` is an aware datetime or RFC 3339 text; without it and `delay_seconds` it is due now. The
        same `key` and task again give the task it made before.

        Raises InvalidInput (UnknownJob among them), KeyConflict, Unavailable.
        """
        if isinstance(run_at, datetime):
            run_at = format_instant(from_datetime(run_at))
        wanted = {
            "job": job,
            "payload": payload,
            "run_at": run_at,
            "delay_seconds": delay_seconds,
            "key": key,
            "tenant": tenant,
            # Left out where it says nothing, so that a key made over HTTP without it is the same request.
            "max_attempts": None if max_attempts == DEFAULT_MAX_ATTEMPTS else max_attempts,
            "expires_after_seconds": expires_after_seconds,
        }
        body = {name: value for name, value in wanted.items() if value is not None}
        new = _checked(body)
        if new.payload is not None:
            # As it would have come over HTTP: tuples are lists, and members have text for names.
            body["payload"] = json.loads(new.payload)
        added = self._api.add_task(new, body_hash(body))
        if added.created:
            return added_answer(added.task)
        return self.get_task(added.task.task_id)

    def get_task(self, task_id: str) -> dict[str, Any]:
        """Tell about a task, as `GET /tasks/{id}` does. Raises NotFound, Unavailable."""
        return task_answer(self._api.read_task(task_id))


def _checked(body: dict[str, Any]) -> NewTask:
    try:
        return NewTaskBody.model_validate(body).to_new_task()
    except ValidationError as error:
        found = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        raise invalid_input(found) from None
