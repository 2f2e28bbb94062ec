"""Clients of DynamoDB and SQS: one each a process, opened by the wiring and never at import."""

from functools import cache
from typing import TYPE_CHECKING, cast

import botocore.session
from botocore.config import Config

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_sqs import SQSClient

CONNECT_TIMEOUT = 1.0
READ_TIMEOUT = 2.0
"""Seconds. Both services answer in milliseconds; botocore's own minute would eat a whole tick."""

TRIES = 4
TRIES_WAITED_FOR = 2
"""Of one request, the first included; botocore pauses up to 1, 2, 4 s between them. Fewer where somebody
waits for the answer: two requests that hang take 5 s of the API's 10."""


def config(connections: int = 10, tries: int = TRIES) -> Config:
    """Settings shared by all clients; `connections` is how many threads use one at the same time."""
    return Config(
        connect_timeout=CONNECT_TIMEOUT,
        read_timeout=READ_TIMEOUT,
        retries={"total_max_attempts": tries, "mode": "standard"},
        max_pool_connections=connections,
        # The requests are built here from checked values; validating them again costs a tenth of the CPU.
        parameter_validation=False,
    )


@cache
def _session() -> botocore.session.Session:
    """One a process: each new one reads botocore's endpoint files again, a tenth of a second."""
    return botocore.session.get_session()


def dynamodb(
    region: str | None = None,
    endpoint: str | None = None,
    connections: int = 10,
    session: botocore.session.Session | None = None,
    tries: int = TRIES,
) -> "DynamoDBClient":
    """A DynamoDB client. None means what the environment says; `session` brings other credentials."""
    return cast(
        "DynamoDBClient",
        (session or _session()).create_client(
            "dynamodb", region_name=region, endpoint_url=endpoint, config=config(connections, tries)
        ),
    )


def sqs(
    region: str | None = None,
    endpoint: str | None = None,
    connections: int = 10,
    session: botocore.session.Session | None = None,
    tries: int = TRIES,
) -> "SQSClient":
    """An SQS client. None means what the environment says; `session` brings other credentials."""
    return cast(
        "SQSClient",
        (session or _session()).create_client(
            "sqs", region_name=region, endpoint_url=endpoint, config=config(connections, tries)
        ),
    )


def cloudwatch() -> "CloudWatchClient":
    """A CloudWatch client, as the environment says."""
    return cast(
        "CloudWatchClient", _session().create_client("cloudwatch", config=config(connections=1))
    )
