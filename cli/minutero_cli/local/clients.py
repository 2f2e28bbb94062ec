"""AWS clients that reach the local stack and nothing else."""

from typing import Any

import boto3
from botocore.config import Config

from minutero_cli.local.state import State


def client(state: State, service: str, *, read_timeout: float = 60) -> Any:
    """Make a boto3 client of this service on the local stack."""
    settings = state.environment
    return boto3.session.Session().client(
        service,
        endpoint_url=settings["AWS_ENDPOINT_URL"],
        region_name=settings["AWS_REGION"],
        aws_access_key_id=settings["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=settings["AWS_SECRET_ACCESS_KEY"],
        config=Config(proxies={}, read_timeout=read_timeout, retries={"total_max_attempts": 1}),
    )
