"""Slots: rows of the Runs table, taken in the transaction of a job's own writes."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from minutero.aws.failures import GuardFailed, Item, ask, error_code
from minutero.domain.attribute_values import from_item
from minutero.domain.instants import SECOND
from minutero.domain.slot import Slot, Write, two_writes
from minutero.errors import ConditionFailed, InvalidInput, Unavailable
from minutero.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SLOT_IS_FREE = "attribute_not_exists(id) OR expiration < :seconds"
"""Take: nobody has taken it, or it was kept for so many days alone and TTL has not come round yet. Of a slot
that is kept for good there is no expiration, and the comparison does not hold."""

NEVER = {"ValidationException", "ValidationError", "SerializationException"}
"""Codes that say the same however often the request is made: the first and last of a request, the second of
one of its writes. Nothing was written."""

SAME_ITEM = "multiple operations on one item"
"""What DynamoDB says, in words alone, of two writes to one item."""


class DynamoSlots:
    """`Slots` over the Runs table. `clock` is only slept with, between two tries."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def take(self, slot: Slot, writes: Sequence[Write]) -> bool:
        """Take a slot and make the writes. Two units for the slot, two for each started KB of each write.

        The token is the block's own: a transaction asked for again, because its answer got lost, is not
        applied twice. Who comes again when DynamoDB has forgotten it finds its owner in the row.
        """
        request: Any = {
            "TransactItems": [self._row(slot), *(write.entry for write in writes)],
            "ClientRequestToken": slot.owner,
        }
        try:
            ask(lambda: self._client.transact_write_items(**request), self._clock)
        except GuardFailed as failed:
            # Of a slot that is being taken in this very moment the answer may tell of the writes alone.
            row = failed.found[0] if 0 in failed.found else self._taken(slot)
            if row is None:
                raise _own_condition(failed, writes) from None
            return row.get("owner") == {"S": slot.owner}
        except Unavailable as error:
            if refusal := _refusal(error.__cause__):
                raise refusal from error
            raise
        return True

    def _taken(self, slot: Slot) -> Item | None:
        """The row of a slot that is taken. A read, when a condition of the job's own has failed."""
        request: Any = {
            "TableName": self._table,
            "Key": {"id": {"S": slot.slot_id}},
            "ConsistentRead": True,
        }
        answer: Any = ask(lambda: self._client.get_item(**request), self._clock)
        row: Item | None = answer.get("Item")
        if row is None or "expiration" not in row:
            return row
        return row if int(row["expiration"]["N"]) >= slot.taken_at // SECOND else None

    def _row(self, slot: Slot) -> dict[str, Any]:
        item: dict[str, Any] = {
            "id": {"S": slot.slot_id},
            "owner": {"S": slot.owner},
            "task_id": {"S": slot.task_id},
            "taken_at": {"N": str(slot.taken_at)},
        }
        if slot.expires_at is not None:
            item["expiration"] = {"N": str(slot.expires_at)}
        return {
            "Put": {
                "TableName": self._table,
                "Item": item,
                "ConditionExpression": SLOT_IS_FREE,
                "ExpressionAttributeValues": {":seconds": {"N": str(slot.taken_at // SECOND)}},
                "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
            }
        }


def _own_condition(failed: GuardFailed, writes: Sequence[Write]) -> ConditionFailed:
    """Of the first that failed. Its place among the writes is one less: the slot goes before them."""
    number = min(failed.found)
    found = failed.found[number]
    return ConditionFailed(number, str(writes[number - 1]), from_item(found) if found else None)


def _refusal(cause: BaseException | None) -> InvalidInput | None:
    """The error of a request that can never be made, or nothing."""
    if not isinstance(cause, ClientError):
        return None
    response: dict[str, Any] = dict(cause.response)
    told = str(response["Error"].get("Message", ""))
    if SAME_ITEM in told:
        return two_writes("two writes of the block")
    reasons = response.get("CancellationReasons") or ()
    codes = {error_code(cause), *(reason.get("Code") for reason in reasons)}
    if not codes & NEVER:
        return None
    why = "; ".join(str(one["Message"]) for one in reasons if one.get("Message")) or told
    return InvalidInput(
        "refused_writes", f"DynamoDB never takes these writes, and made none: {why}"
    )
