"""The HTTP API as the commands call it: found, signed, asked, and its errors told in one line."""

import json
import os
import re
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from minutero_cli.errors import CommandError
from minutero_cli.local import state
from minutero_cli.local.paths import default_home
from minutero_cli.local.server import is_running

TIMEOUT = 15.0
"""Seconds. The API's own time-out is 10, and a cold start comes on top."""

LOOPBACK = ("127.0.0.1", "localhost", "::1")

Sign = Callable[[str, str, bytes, dict[str, str]], Mapping[str, str]]
"""(method, url, body, headers) -> the headers with a signature."""


class ApiError(CommandError):
    """The API refused, or could not do, what was asked."""

    def __init__(self, message: str, status: int = 0, code: str = "", field: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.field = field


@dataclass(frozen=True, slots=True)
class Answer:
    """The API's answer, as it came."""

    status: int
    text: str

    @property
    def body(self) -> Any:
        """The answer, parsed."""
        return json.loads(self.text)


@dataclass(frozen=True, slots=True)
class Api:
    """One deployment's HTTP API.

    `name` is what messages call it; `sign` is None where no signature is asked for.
    """

    url: str
    name: str
    sign: Sign | None = None

    def get(self, path: str) -> Answer:
        """GET. Raises ApiError."""
        return self._call("GET", path, None)

    def post(self, path: str, body: Any) -> Answer:
        """POST a JSON body. Raises ApiError."""
        return self._call("POST", path, json.dumps(body).encode())

    def _call(self, method: str, path: str, body: bytes | None) -> Answer:
        url = self.url.rstrip("/") + path
        headers = {"Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = "application/json"
        if self.sign is not None:
            headers = dict(self.sign(method, url, body or b"", headers))
        request = urllib.request.Request(url, body, headers, method=method)  # noqa: S310  # http(s), see find_api
        try:
            with _opener(url).open(request, timeout=TIMEOUT) as answer:
                return Answer(answer.status, answer.read().decode())
        except urllib.error.HTTPError as error:
            raise _refusal(error.code, error.read().decode(errors="replace"), self.name) from None
        except OSError as error:
            why = getattr(error, "reason", error)
            raise ApiError(
                f"{self.name} does not answer at {self.url} ({why}); see whether it runs: "
                "minutero local status, or check --stack and MINUTERO_API_URL"
            ) from None


def find_api(stack: str | None = None) -> Api:
    """Find the API of this stack, else that of MINUTERO_API_URL, else the running local stack's.

    Raises CommandError, which says what to do.
    """
    if stack is not None:
        return _of_stack(stack)
    url = os.environ.get("MINUTERO_API_URL")
    if url:
        if urlsplit(url).scheme not in ("http", "https"):
            raise CommandError(
                f"MINUTERO_API_URL is {url!r}; it must begin with https:// or http://"
            )
        return Api(url, "the API of MINUTERO_API_URL", signer(url))
    known = state.load(default_home())
    if known is None or not known.outputs or not is_running(known):
        raise CommandError(
            "no API to talk to; start the local stack with: minutero local up, "
            "or name one with --stack or MINUTERO_API_URL"
        )
    sign = signer(known.api_url, known.environment) if known.auth else None
    return Api(known.api_url, "the local stack", sign)


def _of_stack(stack: str) -> Api:
    from minutero.aws.deployed_stack import find_stack  # noqa: PLC0415  # botocore is slow to import
    from minutero.errors import MinuteroError  # noqa: PLC0415

    try:
        found = find_stack(stack)
    except MinuteroError as error:
        raise CommandError(f"{error}; for the local stack leave --stack out") from None
    url = found.outputs.get("ApiUrl", "")
    if is_local(found.endpoint):
        # An emulator serves the API under its own address; the output names AWS's.
        url = f"{found.endpoint}/_aws/execute-api/{found.outputs.get('ApiId', '')}/$default"
    if not url:
        raise CommandError(f"stack {stack!r} has no output ApiUrl; is it a stack of Minutero?")
    return Api(url, f"the API of stack {stack!r}", signer(url))


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
    auth = SigV4Auth(credentials, "execute-api", region)

    def sign(method: str, url: str, body: bytes, headers: dict[str, str]) -> Mapping[str, str]:
        request = AWSRequest(method=method, url=url, data=body, headers=headers)
        auth.add_auth(request)
        return dict(request.headers.items())

    return sign


def _opener(url: str) -> urllib.request.OpenerDirector:
    """No proxy between this machine and itself."""
    if is_local(url):
        return urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener()


_WHAT_TO_DO = {
    401: "the request was not signed; set AWS credentials",
    403: "these AWS credentials may not call the API (execute-api:Invoke), or there are none",
    429: "too many requests at once; try again in a moment",
    503: "a part of AWS did not answer; try again in a moment",
}


def _refusal(status: int, text: str, name: str) -> ApiError:
    try:
        error = json.loads(text)["error"]
        return ApiError(error["message"], status, error["code"], error.get("field", ""))
    except (ValueError, KeyError, TypeError):
        what = _WHAT_TO_DO.get(status, "look into its logs")
        return ApiError(f"{name} answers {status}: {what}", status)
