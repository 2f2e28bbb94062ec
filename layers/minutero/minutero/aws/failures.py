"""What became of a request to DynamoDB: an answer, a guard that did not hold, or nothing certain."""

import random
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from botocore.exceptions import BotoCoreError, ClientError

from minutero.errors import Unavailable
from minutero.ports import Clock

Answer = TypeVar("Answer")
Item = Mapping[str, Mapping[str, Any]]
"""An item as botocore has it: `{"run_at": {"N": "17"}}`."""

PAUSES = (20, 40, 80, 160, 320)
"""Milliseconds between the tries of a request that met a conflict; about half of each, up to all."""

CONFLICTS = {"TransactionConflictException", "TransactionInProgressException"}
"""Another transaction holds the item. Nothing was written, and botocore does not repeat the first:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis.html"""

PASSING_REASONS = {"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"}
"""Reasons of a cancelled transaction that say "not now"."""


class GuardFailed(Exception):
    """A condition did not hold, so nothing was written.

    `found` tells by the place of the action in the request (0 when it is the only one) which guards
    failed, and what item lay there: empty when there was none or it was not asked for.
    """

    def __init__(self, found: Mapping[int, Item]) -> None:
        super().__init__("the guard did not hold")
        self.found = found


def ask(call: Callable[[], Answer], clock: Clock) -> Answer:
    """Makes a request and repeats it while it meets conflicts.

    botocore repeats throttling, time-outs and broken connections before this sees them. Raises
    GuardFailed when a condition did not hold, Unavailable for everything else that goes wrong.
    """
    for pause in (*PAUSES, None):
        try:
            return call()
        except Exception as error:
            failure = _botocore_error(error)
            if failure is None:
                raise
            found = _failed_guards(failure)
            if found:
                raise GuardFailed(found) from None
            if pause is None or not _is_conflict(failure):
                raise Unavailable(f"DynamoDB did not take the request: {failure}") from failure
            clock.sleep(round(pause * (0.5 + random.random() / 2)))  # noqa: S311 - spreads, hides nothing
    raise AssertionError


def error_code(error: Exception) -> str:
    """AWS's code for an error, `""` when it has none."""
    return str(error.response["Error"].get("Code", "")) if isinstance(error, ClientError) else ""


def _botocore_error(error: Exception) -> BotoCoreError | ClientError | None:
    """The innermost error of botocore: PynamoDB wraps it twice and drops the returned items on the way."""
    found: BaseException | None = getattr(error, "cause", None) or error
    while isinstance(found, ClientError) and isinstance(found.__cause__, ClientError):
        found = found.__cause__
    return found if isinstance(found, BotoCoreError | ClientError) else None


def _failed_guards(failure: BotoCoreError | ClientError) -> dict[int, Item]:
    if not isinstance(failure, ClientError):
        return {}
    response: dict[str, Any] = dict(failure.response)
    if error_code(failure) == "ConditionalCheckFailedException":
        return {0: response.get("Item") or {}}
    return {
        index: reason.get("Item") or {}
        for index, reason in enumerate(response.get("CancellationReasons") or ())
        if reason.get("Code") == "ConditionalCheckFailed"
    }


def _is_conflict(failure: BotoCoreError | ClientError) -> bool:
    if not isinstance(failure, ClientError):
        return False
    if error_code(failure) != "TransactionCanceledException":
        return error_code(failure) in CONFLICTS
    response: dict[str, Any] = dict(failure.response)
    codes = {reason.get("Code") for reason in response.get("CancellationReasons") or ()} - {"None"}
    return bool(codes) and codes <= PASSING_REASONS
