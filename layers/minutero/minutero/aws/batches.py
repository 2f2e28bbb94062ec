"""Batches to their end: DynamoDB may leave a part of one undone and say so inside a 200 answer."""

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from minutero.aws.failures import ask
from minutero.errors import Unavailable
from minutero.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

logger = logging.getLogger(__name__)

TRIES = 5
PAUSE = 25
"""Milliseconds before the rest of a batch is asked again; it doubles with each try."""

AttributeValues = dict[str, dict[str, Any]]


def batch_get(
    client: "DynamoDBClient",
    table: str,
    keys: Sequence[AttributeValues],
    clock: Clock,
    options: Mapping[str, Any],
) -> list[AttributeValues]:
    """The items of up to 100 keys, no key twice; those that are not there are left out.

    `options` are those of one table, such as ConsistentRead. Raises Unavailable when some stays unread.
    """
    rows: list[AttributeValues] = []

    def read(pending: Sequence[AttributeValues]) -> Sequence[AttributeValues]:
        request: Any = {table: {"Keys": pending, **options}}
        answer: Any = ask(lambda: client.batch_get_item(RequestItems=request), clock)
        rows.extend(answer["Responses"].get(table, ()))
        unread: Any = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", ())
        return list(unread)

    unread = _until_none_is_left(read, keys, clock)
    if unread:
        raise Unavailable(f"DynamoDB left {len(unread)} of {len(keys)} items unread")
    return rows


def batch_put(
    client: "DynamoDBClient", table: str, items: Sequence[AttributeValues], clock: Clock
) -> list[AttributeValues]:
    """Puts up to 25 items of up to 16 MB together, no key twice, each over whatever lies there.

    Gives back those that are not known to be written: they may be there or not. Source:
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_BatchWriteItem.html
    """
    unanswered: list[AttributeValues] = []

    def write(pending: Sequence[AttributeValues]) -> Sequence[AttributeValues]:
        request: Any = {table: [{"PutRequest": {"Item": item}} for item in pending]}
        try:
            answer: Any = ask(lambda: client.batch_write_item(RequestItems=request), clock)
        except Unavailable as error:
            told = {"error": str(error)}
            logger.warning("no answer to a batch of %d items", len(pending), extra=told)
            unanswered.extend(pending)
            return ()
        return [put["PutRequest"]["Item"] for put in answer["UnprocessedItems"].get(table, ())]

    unwritten = _until_none_is_left(write, items, clock)
    return [*unanswered, *unwritten]


def _until_none_is_left(
    request: Callable[[Sequence[AttributeValues]], Sequence[AttributeValues]],
    parts: Sequence[AttributeValues],
    clock: Clock,
) -> Sequence[AttributeValues]:
    """Makes a request of what the one before has left, and gives back what the last one leaves."""
    for attempt in range(TRIES):
        if not parts:
            break
        if attempt:
            clock.sleep(PAUSE << attempt)
        parts = request(parts)
    return parts
