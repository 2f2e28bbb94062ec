"""A slot: a key that a job takes together with its own writes, once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from minutero.domain.attribute_values import from_item
from minutero.errors import InvalidInput

MOST_WRITES = 99
"""DynamoDB takes 100 actions in a transaction, and the slot is one of them:
https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"""

LEAST_DAYS = 30
"""A message may lie 14 days in each queue, and a dead run is redriven later still: a slot that is free again
by then would be taken twice."""

MOST_DAYS = 3650

Kind = Literal["Put", "Update", "Delete", "ConditionCheck"]

CALLED: Mapping[Kind, str] = {
    "Put": "put",
    "Update": "update",
    "Delete": "delete",
    "ConditionCheck": "check",
}
"""What each kind of action is to the author of a job."""


@dataclass(frozen=True, slots=True)
class Slot:
    """What is taken. `owner` is random and this block's alone: finding it in the row means that an answer was
    lost, and the slot is ours. `taken_at` in milliseconds, `expires_at` in seconds, None for never."""

    job: str
    key: str
    owner: str
    task_id: str
    taken_at: int
    expires_at: int | None = None

    @property
    def slot_id(self) -> str:
        """Its name. A job has none of the characters `#`, so no two slots share one."""
        return f"slot#{self.job}#{self.key}"


@dataclass(frozen=True, slots=True)
class Write:
    """One write of a job: its kind, and what it says, as TransactWriteItems has them. `key` is None where a
    put does not say which attributes are its key."""

    kind: Kind
    said: Mapping[str, Any]
    key: Mapping[str, Any] | None

    @property
    def entry(self) -> dict[str, Mapping[str, Any]]:
        """The action: `{"Put": {"TableName": "wallets", "Item": {...}}}`."""
        return {self.kind: self.said}

    @property
    def table(self) -> str:
        return str(self.said["TableName"])

    @property
    def changes_something(self) -> bool:
        return self.kind != "ConditionCheck"

    def __str__(self) -> str:
        told = (
            from_item(self.key)
            if self.key
            else f"an item of {', '.join(sorted(self.said['Item']))}"
        )
        return f"{CALLED[self.kind]} in {self.table}: {told}"

    def meets(self, other: "Write") -> bool:
        """Both write the same item, as far as can be told without asking the table for its key."""
        if self.said["TableName"] != other.said["TableName"]:
            return False
        if self.key is not None and other.key is not None:
            return self.key == other.key
        keyed, free = (self, other) if self.key is not None else (other, self)
        item = free.said["Item"]
        wanted = keyed.key if keyed.key is not None else keyed.said["Item"]
        return all(item.get(name) == value for name, value in wanted.items())


def check_write(write: Write, before: Sequence[Write]) -> None:
    """Refuses one write more, before anything is written, where DynamoDB would refuse the transaction.
    Raises InvalidInput."""
    if len(before) == MOST_WRITES:
        raise InvalidInput(
            "too_many_writes",
            f"a once block takes up to {MOST_WRITES} writes, this is one more; make several blocks, each with"
            " a key of its own (one for each page of the work), or write one item that stands for many",
        )
    for number, other in enumerate(before, 1):
        if other.meets(write):
            raise two_writes(f"write {number} ({other}) and write {len(before) + 1} ({write})")


def two_writes(which: str) -> InvalidInput:
    """The refusal of two writes to one item."""
    return InvalidInput(
        "two_writes_to_one_item",
        f"{which} are to one item, and a transaction takes one; make one write of them,"
        " with its condition in it",
    )


def check_days(keep_days: object) -> int:
    """How long a slot is kept. Raises InvalidInput."""
    if isinstance(keep_days, int) and LEAST_DAYS <= keep_days <= MOST_DAYS:
        return keep_days
    raise InvalidInput(
        "invalid_keep_days",
        f"keep_days must be a whole number from {LEAST_DAYS} to {MOST_DAYS}, since a run may come again so"
        " late; leave it out to keep the slot for good",
        "keep_days",
    )
