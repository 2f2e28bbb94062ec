"""A function of this deployment, as another one calls it."""

import json
import logging
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from minutero.domain.instants import format_instant

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

logger = logging.getLogger(__name__)

_CONFIG = Config(
    connect_timeout=1, read_timeout=6, retries={"total_max_attempts": 1, "mode": "standard"}
)
"""A cold start of the worker takes a second or two, and the API, which waits for it, has 10 seconds."""


class DeployedFunction:
    """Calls one Lambda function by its name. The client is opened with the first call.

    A call that fails is logged, no error: who asked has another way, or another tick, to go on.
    """

    def __init__(
        self,
        name: str,
        region: str | None = None,
        endpoint: str | None = None,
        session: "botocore.session.Session | None" = None,
    ) -> None:
        self._name = name
        self._region = region
        self._endpoint = endpoint
        self._session = session

    @cached_property
    def _client(self) -> "LambdaClient":
        session = self._session or botocore.session.get_session()
        return cast(
            "LambdaClient",
            session.create_client(
                "lambda", region_name=self._region, endpoint_url=self._endpoint, config=_CONFIG
            ),
        )

    def announce_jobs(self) -> None:
        """Has the worker store the names of its jobs, and waits for it."""
        self._invoke("RequestResponse", {"minutero": "announce_jobs"})

    def tick(self, shards: list[int], at: int | None) -> None:
        """Has another dispatcher serve these shards, and does not wait. `at` is the tick's own time."""
        event: dict[str, Any] = {"shards": shards}
        self._invoke("Event", event if at is None else {**event, "time": format_instant(at)})

    def _invoke(self, kind: Any, event: dict[str, Any]) -> None:
        try:
            self._client.invoke(
                FunctionName=self._name, InvocationType=kind, Payload=json.dumps(event).encode()
            )
        except (BotoCoreError, ClientError) as error:
            told = {"function": self._name, "error": str(error)}
            logger.warning("a function could not be called", extra=told)
