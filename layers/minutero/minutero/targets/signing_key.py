"""The key with which `http.post` signs: an SSM parameter that the deployment names."""

import os
import time
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from minutero.errors import PermanentFailure

NAME = "MINUTERO_HTTP_POST_SIGNS_WITH"

KEPT_SECONDS = 300
"""A key that was replaced is used for so long at most; receivers take both meanwhile."""

_kept: dict[str, tuple[float, bytes]] = {}


def signing_key() -> bytes:
    """The key. Raises PermanentFailure where none is named, ConnectionError where it cannot be read."""
    name = os.environ.get(NAME, "")
    if not name:
        raise PermanentFailure(
            "http.post has no key to sign with; put one into SSM as a SecureString and name it in the "
            "stack's parameter HttpPostKeyParameter"
        )
    known = _kept.get(name)
    if known is None or known[0] < time.monotonic():
        known = _kept[name] = (time.monotonic() + KEPT_SECONDS, _read(name))
    return known[1]


def _read(name: str) -> bytes:
    config = Config(connect_timeout=1, read_timeout=2, retries={"total_max_attempts": 2})
    try:
        ssm: Any = botocore.session.get_session().create_client("ssm", config=config)
        answer = ssm.get_parameter(Name=name, WithDecryption=True)
    except (ClientError, BotoCoreError) as error:
        raise ConnectionError(f"the key {name} cannot be read: {error}") from error
    return str(answer["Parameter"]["Value"]).encode()
