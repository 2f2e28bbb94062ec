"""The HTTP API as the commands call it: found, signed, asked, and its errors told in one line."""

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit

from minutero_cli.errors import CommandError
from minutero_cli.local import state
from minutero_cli.local.paths import default_home
from minutero_cli.local.server import is_running
from minutero_cli.signing import Sign, is_local, signer

if TYPE_CHECKING:
    from minutero.aws.deployed_stack import DeployedStack

TIMEOUT = 32.0
"""Seconds. API Gateway answers by itself after 30, whatever becomes of the function.

https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-quotas.html
"""

TRIES = 3
"""How often a GET is asked while the API says that it is busy. Nothing else is asked twice."""

PATIENCE = 10.0
"""Seconds: the longest Retry-After that is waited for."""


class ApiError(CommandError):
    """The API refused, or could not do, what was asked.

    `status` is 0 when it did not answer; `retry_after` is in seconds, None where it makes no sense.
    """

    def __init__(
        self,
        message: str,
        status: int = 0,
        code: str = "",
        field: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.field = field
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Answer:
    """The API's answer, as it came."""

    status: int
    text: str

    @property
    def body(self) -> dict[str, Any]:
        """The answer, parsed. Raises ApiError when it cannot be Minutero's."""
        try:
            body = json.loads(self.text)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            raise ApiError(
                "the answer is no JSON object; see whether MINUTERO_API_URL is the address "
                "of a Minutero API"
            )
        return body


@dataclass(frozen=True, slots=True)
class Api:
    """One deployment's HTTP API.

    `name` is what messages call it; `sign` is None where no signature is asked for. Paths are
    those of `path_of`. Every method raises ApiError.
    """

    url: str
    name: str
    sign: Sign | None = None

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Answer:
        """GET, with the members of `query` that are not None; again while the API is busy."""
        given = {name: value for name, value in (query or {}).items() if value is not None}
        if given:
            path += "?" + urlencode(given, quote_via=quote, safe="")
        for _ in range(TRIES - 1):
            try:
                return self._call("GET", path)
            except ApiError as error:
                if error.retry_after is None or error.retry_after > PATIENCE:
                    raise
                time.sleep(error.retry_after)
        return self._call("GET", path)

    def post(self, path: str, body: Any = None) -> Answer:
        """POST a JSON body, or none; bytes are JSON already."""
        return self._call("POST", path, body)

    def put(self, path: str, body: Any) -> Answer:
        """PUT a JSON body."""
        return self._call("PUT", path, body)

    def patch(self, path: str, body: Any) -> Answer:
        """PATCH with a JSON body."""
        return self._call("PATCH", path, body)

    def delete(self, path: str) -> Answer:
        """DELETE."""
        return self._call("DELETE", path)

    def _call(self, method: str, path: str, body: Any = None) -> Answer:
        url = self.url.rstrip("/") + path
        headers = {"Accept": "application/json"}
        data = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
        if self.sign is not None:
            headers = dict(self.sign(method, url, data or b"", headers))
        request = urllib.request.Request(url, data, headers, method=method)  # noqa: S310  # http(s), see find_api
        try:
            with _opener(url).open(request, timeout=TIMEOUT) as answer:
                return Answer(answer.status, answer.read().decode(errors="replace"))
        except urllib.error.HTTPError as error:
            raise _refusal(error, self.name) from None
        except (OSError, HTTPException) as error:
            why = getattr(error, "reason", error)
            raise ApiError(
                f"{self.name} does not answer at {self.url} ({why}); see whether it runs: "
                "minutero local status, or check --stack and MINUTERO_API_URL"
            ) from None


def path_of(*parts: str) -> str:
    """Join the parts of a path; whatever is in one of them, it stays one."""
    return "".join("/" + quote(part, safe="") for part in parts)


def find_api(stack: str | None = None) -> Api:
    """Find the API of this stack, else that of MINUTERO_API_URL, else the running local stack's.

    Raises CommandError, which says what to do.
    """
    if stack is not None:
        return _of_stack(stack)
    url = os.environ.get("MINUTERO_API_URL")
    if url:
        if not _is_web_address(url):
            raise CommandError(
                f"MINUTERO_API_URL is {url!r}; it must be an address as https://api.example"
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
    return api_of_stack(found)


def api_of_stack(found: "DeployedStack") -> Api:
    """Read from a stack's outputs where its API is. Raises CommandError for a foreign stack."""
    url = found.outputs.get("ApiUrl", "")
    if is_local(found.endpoint):
        # An emulator serves the API under its own address; the output names AWS's.
        url = f"{found.endpoint}/_aws/execute-api/{found.outputs.get('ApiId', '')}/$default"
    if not url:
        raise CommandError(f"stack {found.name!r} has no output ApiUrl; is it a stack of Minutero?")
    return Api(url, f"the API of stack {found.name!r}", signer(url))


def _is_web_address(url: str) -> bool:
    try:
        found = urlsplit(url)
        return found.scheme in ("http", "https") and bool(found.hostname)
    except ValueError:
        return False


def _opener(url: str) -> urllib.request.OpenerDirector:
    """No proxy between this machine and itself."""
    if is_local(url):
        return urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener()


_WHAT_TO_DO = {
    401: "the request was not signed; set AWS credentials",
    403: "these AWS credentials may not call the API (execute-api:Invoke), or there are none",
    404: "no Minutero API is at that address; check --stack and MINUTERO_API_URL",
    429: "too many requests at once; try again in a moment",
    503: "a part of AWS did not answer; try again in a moment",
}


def _refusal(error: urllib.error.HTTPError, name: str) -> ApiError:
    status = error.code
    retry_after = None
    if status in (429, 503):
        told = error.headers.get("Retry-After", "")
        # A date is allowed as well, and nobody sends one.
        retry_after = float(told) if told.isascii() and told.isdigit() else 1.0
    try:
        refused = json.loads(error.read())["error"]
        return ApiError(
            refused["message"], status, refused["code"], refused.get("field", ""), retry_after
        )
    except (ValueError, KeyError, TypeError, OSError, HTTPException):
        what = _WHAT_TO_DO.get(status, "look into its logs, as minutero local logs shows them")
        return ApiError(f"{name} answers {status}: {what}", status, retry_after=retry_after)
