"""The deployed worker function, as a writer knows it."""

import json
import logging
from functools import cached_property
from typing import TYPE_CHECKING, cast

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

if TYPE_CHECKING:
    from mypy_boto3_lambda import LambdaClient

logger = logging.getLogger(__name__)

_CONFIG = Config(
    connect_timeout=1, read_timeout=6, retries={"total_max_attempts": 1, "mode": "standard"}
)
"""A cold start of the worker takes a second or two, and the API has 10 seconds."""


class DeployedWorker:
    """Asks the worker to announce its jobs. Its client is opened with the first question."""

    def __init__(
        self,
        function: str,
        region: str | None,
        endpoint: str | None,
        session: botocore.session.Session | None,
    ) -> None:
        self._function = function
        self._region = region
        self._endpoint = endpoint
        self._session = session

    @cached_property
    def _client(self) -> "LambdaClient":
        return cast(
            "LambdaClient",
            (self._session or botocore.session.get_session()).create_client(
                "lambda", region_name=self._region, endpoint_url=self._endpoint, config=_CONFIG
            ),
        )

    def announce_jobs(self) -> None:
        """Waits for the worker to have done it. A worker that cannot be asked is logged, no error: who
        asked goes on with the names known before."""
        try:
            self._client.invoke(
                FunctionName=self._function,
                Payload=json.dumps({"minutero": "announce_jobs"}).encode(),
            )
        except (BotoCoreError, ClientError) as error:
            logger.warning("the worker could not be asked for its jobs: %s", error)
