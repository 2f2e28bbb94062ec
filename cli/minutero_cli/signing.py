"""SigV4: requests to the HTTP API are signed when there are credentials."""

import os
import re
from collections.abc import Callable, Mapping
from urllib.parse import urlsplit

LOOPBACK = ("127.0.0.1", "localhost", "::1")

Sign = Callable[[str, str, bytes, dict[str, str]], Mapping[str, str]]
"""(method, url, body, headers) -> the headers with a signature."""


def is_local(url: str) -> bool:
    """Tell whether an address is this machine's own."""
    return urlsplit(url).hostname in LOOPBACK


def signer(url: str, environment: Mapping[str, str] | None = None) -> Sign | None:
    """SigV4 with the credentials botocore finds; None when there are none.

    For this machine's own addresses only those of the environment count: nobody means to show a
    profile's or an instance's to an emulator.
    """
    environment = os.environ if environment is None else environment
    if is_local(url) and not environment.get("AWS_ACCESS_KEY_ID"):
        return None
    import botocore.session  # noqa: PLC0415  # slow to import
    from botocore.auth import SigV4Auth  # noqa: PLC0415
    from botocore.awsrequest import AWSRequest  # noqa: PLC0415
    from botocore.credentials import Credentials  # noqa: PLC0415

    session = botocore.session.get_session()
    credentials: Credentials | None
    if is_local(url):
        credentials = Credentials(
            environment["AWS_ACCESS_KEY_ID"],
            environment.get("AWS_SECRET_ACCESS_KEY", ""),
            environment.get("AWS_SESSION_TOKEN"),
        )
    else:
        credentials = session.get_credentials()
    if credentials is None:
        return None
    named = re.search(r"\.execute-api\.([a-z0-9-]+)\.", url)
    region = named[1] if named else session.get_config_variable("region") or "us-east-1"

    def sign(method: str, url: str, body: bytes, headers: dict[str, str]) -> Mapping[str, str]:
        request = AWSRequest(method=method, url=url, data=body, headers=headers)
        # Frozen, since they may be renewed between their id and their secret, by another thread.
        SigV4Auth(credentials.get_frozen_credentials(), "execute-api", region).add_auth(request)
        return dict(request.headers.items())

    return sign
