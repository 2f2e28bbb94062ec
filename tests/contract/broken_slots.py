"""Slots with one rule left out each: what the rules of `slot_rules` must notice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import slot_rules

from minutero.aws.failures import GuardFailed
from minutero.aws.slots import DynamoSlots
from minutero.domain.slot import Slot, Write
from minutero.errors import ConditionFailed
from minutero.transaction import Transaction


class Cached(DynamoSlots):
    """What is taken is remembered in the process, from the begin of the commit on."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self.seen: dict[str, str] = {}

    def take(self, slot: Slot, writes: Sequence[Write]) -> bool:
        if self.seen.setdefault(slot.slot_id, slot.owner) != slot.owner:
            return False
        return super().take(slot, writes)


class Upserted(DynamoSlots):
    """The row is written whether it is there or not."""

    def _row(self, slot: Slot) -> dict[str, Any]:
        row = super()._row(slot)
        for part in ("ConditionExpression", "ExpressionAttributeValues"):
            del row["Put"][part]
        return row


class WrittenBefore(DynamoSlots):
    """The row is written in a request of its own, before the transaction."""

    def take(self, slot: Slot, writes: Sequence[Write]) -> bool:
        try:
            self._client.put_item(**self._row(slot)["Put"])
        except self._client.exceptions.ConditionalCheckFailedException:
            return False
        return super().take(replace(slot, key=f"{slot.key}, its writes"), writes)


class OwnerPassedOver(DynamoSlots):
    """Whose row it is does not matter."""

    def take(self, slot: Slot, writes: Sequence[Write]) -> bool:
        found = self._client.get_item(TableName=self._table, Key={"id": {"S": slot.slot_id}})
        return "Item" not in found and super().take(slot, writes)


class AnyFailureIsANoOp(DynamoSlots):
    """A condition that failed is taken for the slot's."""

    def take(self, slot: Slot, writes: Sequence[Write]) -> bool:
        try:
            return super().take(slot, writes)
        except (GuardFailed, ConditionFailed):
            return False


class OneSlotForAllJobs(DynamoSlots):
    """The job is left out of the slot's name."""

    def _row(self, slot: Slot) -> dict[str, Any]:
        row = super()._row(slot)
        row["Put"]["Item"]["id"] = {"S": f"slot#{slot.key}"}
        return row


def committed_whatever_happened(self: Transaction, *_: Any) -> None:
    """The end of a block that an exception has left commits all the same."""
    self._open = False
    self._open_slots.clear()
    self._commit()


@dataclass(frozen=True)
class Broken:
    """Other slots, or another method of a block; and one of the rules that notice."""

    name: str
    noticed_by: slot_rules.Rule
    slots: type[DynamoSlots] = DynamoSlots
    leave: Callable[..., None] | None = None


BROKEN = [
    Broken(
        "a slot cached in the process",
        slot_rules.an_own_condition_that_fails_writes_nothing_and_releases_the_slot,
        Cached,
    ),
    Broken("a slot upserted", slot_rules.writes_and_slot_land_together_and_once, Upserted),
    Broken(
        "a slot written before the transaction",
        slot_rules.an_own_condition_that_fails_writes_nothing_and_releases_the_slot,
        WrittenBefore,
    ),
    Broken(
        "a lost answer told as another's",
        slot_rules.an_answer_that_was_lost_is_known_by_the_owner,
        OwnerPassedOver,
    ),
    Broken(
        "a failed condition told as a no-op",
        slot_rules.an_own_condition_that_fails_writes_nothing_and_releases_the_slot,
        AnyFailureIsANoOp,
    ),
    Broken(
        "one slot for all jobs",
        slot_rules.each_job_and_each_key_has_its_own_slot,
        OneSlotForAllJobs,
    ),
    Broken(
        "a rollback that commits",
        slot_rules.a_rollback_releases_the_slot,
        leave=committed_whatever_happened,
    ),
]
