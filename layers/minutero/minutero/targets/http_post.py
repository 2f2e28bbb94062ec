"""`http.post`: one signed POST of a JSON body. The receiver's side is in docs/targets.md."""

import hashlib
import hmac
import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime
from http.client import HTTPException
from typing import Any
from urllib.parse import urlsplit

from urllib3.exceptions import HTTPError

from minutero.errors import PermanentFailure, RetryLater
from minutero.jobs import Run
from minutero.targets.asked import members
from minutero.targets.connection import connection
from minutero.targets.signing_key import signing_key

PRIVATE = "MINUTERO_HTTP_POST_INTERNAL_ADDRESSES"
PLAIN = "MINUTERO_HTTP_POST_PLAIN_HTTP"

LONGEST_SECONDS = 10.0
"""A batch of ten tasks shares the worker's time, and one host that hangs must not use it up."""

MARGIN_SECONDS = 2.0
"""Kept back of the attempt's time, to write down how it went."""

ANSWER_LIMIT = 8_192
"""Bytes kept of the answer's body."""

LONGEST_PAUSE = 86_400
"""Seconds: of a longer Retry-After so many are waited."""

HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
HEADER_VALUE = re.compile(r"[\x20-\x7e\t]*")
OURS = {"host", "content-length", "content-type", "transfer-encoding", "connection", "expect"}
"""Headers that say what this request is; a payload has no say in them, nor in those of the signature."""

PORTS = {"https": 443, "http": 80}
BROKEN = (HTTPError, HTTPException, OSError, ValueError)
"""What urllib3, http.client and the socket raise for a server that does not keep to HTTP."""

TOO_MANY, FIRST_FAULT = 429, 500


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `body` is what could be read of it; `whole` says whether that is all."""

    status: int
    headers: Mapping[str, str]
    body: bytes
    whole: bool

    def told(self) -> dict[str, Any]:
        """The result of the run."""
        text = {"status": self.status, "body": self.body.decode("utf-8", "replace")}
        return text if self.whole else {**text, "body_cut": True}


def post(payload: Any, run: Run) -> dict[str, Any]:
    """The status and the body of a 2xx answer.

    Raises RetryLater where the receiver says when, PermanentFailure for what no other attempt can mend, and
    anything else for what may pass.
    """
    asked = members(payload, needed={"url": str}, optional={"body": object, "headers": dict})
    scheme, host, port, path = _address(asked["url"])
    body = json.dumps(asked.get("body"), ensure_ascii=False, separators=(",", ":")).encode()
    headers = {
        "User-Agent": "minutero",
        "Accept-Encoding": "identity",
        **_own_headers(asked.get("headers", {})),
        "Content-Type": "application/json",
        "Connection": "close",
        **signature(signing_key(), int(time.time()), body),
        "Minutero-Key": run.key,
    }
    seconds = min(LONGEST_SECONDS, run.remaining() - MARGIN_SECONDS)
    if seconds <= 0:
        raise TimeoutError("no time is left in this attempt for an answer")
    with connection(scheme, host, port, seconds, private=_is_set(PRIVATE)) as open_one:
        answer = _ask(open_one, path, headers, body)
    return _judged(answer, host)


def signature(key: bytes, timestamp: int, body: bytes) -> dict[str, str]:
    """The headers by which a receiver knows who sent the body, and when."""
    signed = hmac.new(key, f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()
    return {"Minutero-Timestamp": str(timestamp), "Minutero-Signature": f"v1={signed}"}


def _ask(made: Any, path: str, headers: dict[str, str], body: bytes) -> Answer:
    try:
        made.request("POST", path, body, headers, preload_content=False, decode_content=False)
        response = made.getresponse()
    except BROKEN as error:
        raise ConnectionError(f"no answer: {error}") from error
    if made.over:
        raise ConnectionError("no answer: not within its time")
    taken, ended = b"", False
    try:
        while len(taken) <= ANSWER_LIMIT and not ended:
            part = response.read1(ANSWER_LIMIT + 1 - len(taken))
            taken, ended = taken + part, not part
    except BROKEN:
        # The status has come, and with it what the receiver makes of the request.
        ended = False
    whole = ended and not made.over and not response.length_remaining
    return Answer(response.status, response.headers, taken[:ANSWER_LIMIT], whole)


def _judged(answer: Answer, host: str) -> dict[str, Any]:
    status = answer.status
    if 200 <= status < 300:  # noqa: PLR2004 - HTTP's own number
        return answer.told()
    told = f"{host} answers {status}: {answer.body[:200].decode('utf-8', 'replace')}"
    if status == TOO_MANY or status >= FIRST_FAULT:
        pause = retry_after(answer.headers.get("Retry-After", ""), time.time())
        if pause is None:
            raise ConnectionError(told)
        raise RetryLater(pause, told)
    if 300 <= status < 400:  # noqa: PLR2004 - HTTP's own number
        raise PermanentFailure(f"{host} answers {status}, and redirects are not followed; "
                               "send the address where the receiver is")  # fmt: skip
    raise PermanentFailure(told)


def retry_after(text: str, now: float) -> float | None:
    """Seconds from a Retry-After of seconds or of a date; None for anything else."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(min(int(text[:9]), LONGEST_PAUSE))
    try:
        at = parsedate_to_datetime(text)
    except (TypeError, ValueError, IndexError):
        return None
    # A date without a zone is UTC, as HTTP has it.
    until = (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp() - now
    return min(max(0.0, until), LONGEST_PAUSE)


def _address(url: str) -> tuple[str, str, int, str]:
    """scheme, host, port, path with query. Raises PermanentFailure."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
        host.encode("ascii")
    except ValueError:
        host, port = "", None
        parts = urlsplit("")
    if (
        parts.scheme not in PORTS
        or not host
        or not url.isascii()
        or not url.isprintable()
        or " " in url
    ):
        raise PermanentFailure(
            "url must be an address such as https://host/path, in ASCII (xn-- for other letters)"
        )
    if parts.username is not None or parts.password is not None:
        raise PermanentFailure(
            "url must not hold a user or a password; the signature says who sends"
        )
    if parts.scheme == "http" and not _is_set(PLAIN):
        raise PermanentFailure(
            "url must begin with https://; plain http goes out only if the stack's parameter "
            "HttpPostPlainHttp is true"
        )
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return parts.scheme, host, port or PORTS[parts.scheme], path


def _own_headers(headers: dict[Any, Any]) -> dict[str, str]:
    for name, value in headers.items():
        if name.lower() in OURS or name.lower().startswith("minutero-"):
            raise PermanentFailure(f"header {name} is set by http.post itself; leave it out")
        if not HEADER_NAME.fullmatch(name) or not isinstance(value, str):
            raise PermanentFailure(f"header {name[:80]!r} must be a name and text")
        if not HEADER_VALUE.fullmatch(value):
            raise PermanentFailure(f"header {name} must be printable ASCII in one line")
    return headers


def _is_set(variable: str) -> bool:
    return os.environ.get(variable) == "true"
