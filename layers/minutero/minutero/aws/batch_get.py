"""BatchGetItem to its end: DynamoDB may leave keys unread and say so inside a 200 answer."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from minutero.aws.failures import ask
from minutero.errors import Unavailable
from minutero.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

TRIES = 5
PAUSE = 25
"""Milliseconds before unprocessed keys are read again; it doubles with each try."""

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
    pending = list(keys)
    for attempt in range(TRIES):
        if not pending:
            return rows
        if attempt:
            clock.sleep(PAUSE << attempt)
        request: Any = {table: {"Keys": pending, **options}}
        answer: Any = ask(
            lambda asked=request: client.batch_get_item(RequestItems=asked),  # type: ignore[misc]
            clock,
        )
        rows += answer["Responses"].get(table, ())
        pending = answer.get("UnprocessedKeys", {}).get(table, {}).get("Keys", [])
    if not pending:
        return rows
    raise Unavailable(f"DynamoDB left {len(pending)} of {len(keys)} items unread")
