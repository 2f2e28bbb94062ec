"""Faults between botocore and MiniStack, at botocore's own hook: what is retried, parsed and raised is real.

Each request draws its fate from a seeded random, so the same seed breaks the same requests again.
"""

import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError


class Died(BaseException):
    """Here the process would have ended: nothing between may catch it."""


@dataclass(frozen=True)
class Rates:
    """Shares of requests; `partial` of batches, `conflicts` of writes, `deaths` of what a mortal sends."""

    throttled: float = 0.0
    lost: float = 0.0
    unsent: float = 0.0
    partial: float = 0.0
    conflicts: float = 0.0
    deaths: float = 0.0


WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"}
THROTTLES = ["ThrottlingException", "ProvisionedThroughputExceededException"]
Fate = Callable[[Any, AWSPreparedRequest], AWSResponse | None]


class BrokenWire:
    """`mortal` is true while a process is at work that may die. `told` counts faults by their name."""

    def __init__(self, seed: int, rates: Rates) -> None:
        self.random = Random(seed)
        self.rates = rates
        self.mortal = False
        self.told: Counter[str] = Counter()

    def between(self, client: Any) -> None:
        """Breaks what a client sends from now on."""

        def send(request: AWSPreparedRequest, **_: Any) -> AWSResponse | None:
            return self._send(client._endpoint.http_session.send, request)

        client.meta.events.register("before-send", send)

    def dies(self, share: float) -> bool:
        """Whether the process ends here."""
        if self.mortal and self.random.random() < share:
            self.told["deaths"] += 1
            return True
        return False

    def _send(self, real: Any, request: AWSPreparedRequest) -> AWSResponse | None:
        operation = _operation(request)
        if self.dies(self.rates.deaths):
            if self.random.random() < 0.5:
                real(request)
            raise Died
        for name, of, fate in (
            ("unsent", None, self._unsent),
            ("throttled", None, self._throttled),
            ("lost", None, self._lost),
            ("conflicts", WRITES, self._conflict),
            ("partial", PARTS, self._partial),
        ):
            if of is not None and operation not in of:
                continue
            if self.random.random() < getattr(self.rates, name):
                self.told[name] += 1
                return fate(real, request)
        return None

    def _unsent(self, real: Any, request: AWSPreparedRequest) -> AWSResponse:
        raise ConnectTimeoutError(endpoint_url=request.url)

    def _lost(self, real: Any, request: AWSPreparedRequest) -> AWSResponse:
        real(request)
        raise ReadTimeoutError(endpoint_url=request.url)

    def _throttled(self, real: Any, request: AWSPreparedRequest) -> AWSResponse:
        return _refusal(request, self.random.choice(THROTTLES))

    def _conflict(self, real: Any, request: AWSPreparedRequest) -> AWSResponse:
        if _operation(request) != "TransactWriteItems":
            return _refusal(request, "TransactionConflictException")
        reasons = [{"Code": "None"} for _ in json.loads(request.body)["TransactItems"]]
        self.random.choice(reasons)["Code"] = "TransactionConflict"
        return _refusal(request, "TransactionCanceledException", CancellationReasons=reasons)

    def _partial(self, real: Any, request: AWSPreparedRequest) -> AWSResponse:
        asked = json.loads(request.body)
        parts, splice = PARTS[_operation(request)](asked)
        cut = {at for at in range(len(parts)) if self.random.random() < 0.5}
        kept = [part for at, part in enumerate(parts) if at not in cut]
        answer = None
        if kept:
            asked_less = splice.less(kept)
            answer = json.loads(real(_with_body(request, asked_less)).content)
        return _answer(request, 200, splice.answer(answer, cut))


def _operation(request: AWSPreparedRequest) -> str:
    target = request.headers["X-Amz-Target"]
    return (target.decode() if isinstance(target, bytes) else target).rpartition(".")[2]


def _with_body(request: AWSPreparedRequest, body: Any) -> AWSPreparedRequest:
    """The same request for less; nobody looks at its signature here."""
    encoded, headers = json.dumps(body).encode(), request.headers.copy()
    del headers["Content-Length"]
    headers["Content-Length"] = str(len(encoded))
    return AWSPreparedRequest(
        request.method, request.url, headers, encoded, stream_output=request.stream_output
    )


def _refusal(request: AWSPreparedRequest, code: str, **more: Any) -> AWSResponse:
    told = {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": code, **more}
    return _answer(request, 400, told)


class _Raw(io.BytesIO):
    def stream(self, **_: Any) -> Any:
        yield self.read()


def _answer(request: AWSPreparedRequest, status: int, body: Any) -> AWSResponse:
    headers = {"content-type": "application/x-amz-json-1.0", "x-amzn-requestid": "broken"}
    return AWSResponse(request.url, status, headers, _Raw(json.dumps(body).encode()))


@dataclass
class Splice:
    """How a batch is asked in part (`less`), and how the rest is told inside a 200 (`answer`)."""

    less: Callable[[list[Any]], Any]
    answer: Callable[[Any, set[int]], Any]


def _statements(asked: Any) -> tuple[list[Any], Splice]:
    statements = asked["Statements"]

    def answer(told: Any, cut: set[int]) -> Any:
        done = iter(told["Responses"] if told else ())
        refused = {"Error": {"Code": "ThrottlingError", "Message": "not now"}}
        return {
            "Responses": [refused if at in cut else next(done) for at in range(len(statements))]
        }

    return statements, Splice(lambda kept: {**asked, "Statements": kept}, answer)


def _messages(asked: Any) -> tuple[list[Any], Splice]:
    entries = asked["Entries"]

    def answer(told: Any, cut: set[int]) -> Any:
        failed = [
            {"Id": entries[at]["Id"], "SenderFault": False, "Code": "InternalError"} for at in cut
        ]
        return {"Successful": (told or {}).get("Successful", []), "Failed": failed}

    return entries, Splice(lambda kept: {**asked, "Entries": kept}, answer)


def _keys(asked: Any) -> tuple[list[Any], Splice]:
    ((table, wanted),) = asked["RequestItems"].items()
    keys = wanted["Keys"]

    def of(some: list[Any]) -> Any:
        return {table: {**wanted, "Keys": some}}

    def answer(told: Any, cut: set[int]) -> Any:
        left = of([keys[at] for at in sorted(cut)]) if cut else {}
        return {"Responses": (told or {}).get("Responses", {}), "UnprocessedKeys": left}

    return keys, Splice(lambda kept: {**asked, "RequestItems": of(kept)}, answer)


def _puts(asked: Any) -> tuple[list[Any], Splice]:
    ((table, puts),) = asked["RequestItems"].items()

    def answer(told: Any, cut: set[int]) -> Any:
        return {"UnprocessedItems": {table: [puts[at] for at in sorted(cut)]} if cut else {}}

    return puts, Splice(lambda kept: {**asked, "RequestItems": {table: kept}}, answer)


PARTS: dict[str, Callable[[Any], tuple[list[Any], Splice]]] = {
    "BatchExecuteStatement": _statements,
    "SendMessageBatch": _messages,
    "BatchGetItem": _keys,
    "BatchWriteItem": _puts,
}
"""Batches whose parts may fail one by one, and how."""
