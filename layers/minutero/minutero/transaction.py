"""What `run.once(key)` gives: a slot, and the writes that are committed together with it.

    with run.once("2026-W22") as tx:
        tx.update("wallets", {"id": "ana"}, "ADD coins :ten", values={":ten": 10})
        tx.put(Thread(id="2026-W22", text=text), condition=Thread.id.does_not_exist())

The body runs every time and only collects; leaving the block commits, and a second time that changes nothing.
"""

import logging
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import wraps
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self

from minutero.domain.attribute_values import to_item
from minutero.domain.instants import DAY, SECOND
from minutero.domain.new_task import check_key
from minutero.domain.slot import Kind, Slot, Write, check_days, check_write
from minutero.errors import InvalidInput, NothingDone

if TYPE_CHECKING:
    # Every job imports this, and the ports bring what knows schedules and zones.
    from minutero.ports import Clock, Slots

logger = logging.getLogger(__name__)

Values = Mapping[str, Any]
Arguments = ParamSpec("Arguments")
Collects = Callable[Concatenate["Transaction", Arguments], None]


def _collects(method: Collects[Arguments]) -> Collects[Arguments]:
    """What was refused is refused again at the end: a body may have caught it, and a part of the writes must
    not be taken for the whole."""

    @wraps(method)
    def collect(self: "Transaction", /, *args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
        try:
            method(self, *args, **kwargs)
        except Exception as refused:
            self.refused = refused
            raise

    return collect


class Transaction:
    """The writes of one `once` block.

    A write's target is the name of a table, or a PynamoDB model (with a key) or an instance of one. To a
    table, conditions and updates are DynamoDB's expressions, `names` and `values` are for their placeholders;
    to a model they are PynamoDB's. `applied` tells after the block: True when the writes are made, False
    when the slot was taken before and nothing was written; None while it is open, or when it was left by an
    exception.
    """

    def __init__(self, slots: "Slots", slot: Slot, open_slots: set[str]) -> None:
        self._slots = slots
        self._slot = slot
        self._open_slots = open_slots
        self._writes: list[Write] = []
        self._open = False
        self.refused: Exception | None = None
        self.applied: bool | None = None

    # --- what a body does

    @_collects
    def put(
        self,
        target: Any,
        item: Values | None = None,
        *,
        condition: Any = None,
        names: Mapping[str, str] | None = None,
        values: Values | None = None,
    ) -> None:
        """Puts an item of a table, or an instance of a model."""
        if isinstance(target, str):
            made = {"TableName": target, "Item": to_item(_given(item, "item"))}
            self._add("Put", {**made, **_held(condition, names, values)}, None)
            return
        key = target.get_delete_kwargs_from_instance()["Key"]
        self._add("Put", target.get_save_kwargs_from_instance(condition), key)

    @_collects
    def update(
        self,
        target: Any,
        key: Any = None,
        update: Any = None,
        *,
        condition: Any = None,
        names: Mapping[str, str] | None = None,
        values: Values | None = None,
    ) -> None:
        """Changes an item, by an update expression or by a model's actions; it is made where there is none,
        unless the condition forbids it."""
        update = _given(update, "update")
        made: dict[str, Any]
        if isinstance(target, str):
            made = {"TableName": target, "Key": to_item(_given(key, "key"))}
            made |= {"UpdateExpression": update, **_held(condition, names, values)}
        else:
            instance = _instance(target, key)
            made = instance.get_update_kwargs_from_instance(list(update), condition)
        self._add("Update", made, made["Key"])

    @_collects
    def delete(
        self,
        target: Any,
        key: Any = None,
        *,
        condition: Any = None,
        names: Mapping[str, str] | None = None,
        values: Values | None = None,
    ) -> None:
        """Deletes an item; one that is not there is left so, unless the condition forbids it."""
        made = _keyed(target, key, condition, names, values)
        self._add("Delete", made, made["Key"])

    @_collects
    def check(
        self,
        target: Any,
        key: Any = None,
        *,
        condition: Any,
        names: Mapping[str, str] | None = None,
        values: Values | None = None,
    ) -> None:
        """Writes nothing, and holds the whole block to a condition on an item that it does not write."""
        made = _keyed(target, key, _given(condition, "condition"), names, values)
        self._add("ConditionCheck", made, made["Key"])

    def _add(self, kind: Kind, made: dict[str, Any], key: Values | None) -> None:
        if not self._open:
            raise InvalidInput(
                "invalid_once", "writes belong into the block: with run.once(...) as tx"
            )
        if "ConditionExpression" in made:
            # A model with a version attribute has one of its own.
            made["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        write = Write(kind, made, key)
        check_write(write, self._writes)
        self._writes.append(write)

    # --- the block

    def __enter__(self) -> Self:
        if self._open or self.applied is not None:
            raise InvalidInput("invalid_once", "a block is entered once; call run.once for each")
        if self._slot.slot_id in self._open_slots:
            raise InvalidInput(
                "invalid_once",
                f"a block of {self._slot.key!r} is open around this one, and of the two only one could"
                " commit; use one block, or another key",
            )
        self._open_slots.add(self._slot.slot_id)
        self._open = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open = False
        self._open_slots.discard(self._slot.slot_id)
        if kind is None:
            self._commit()

    def _commit(self) -> None:
        if self.refused is not None:
            raise self.refused
        if not any(write.changes_something for write in self._writes):
            raise NothingDone(
                f"the once block of {self._slot.key!r} wrote nothing, so its slot stays free; put, update or"
                " delete something in it, or leave it out"
            )
        self.applied = self._slots.take(self._slot, self._writes)
        if not self.applied:
            logger.info("slot %s was taken before, nothing written", self._slot.slot_id)


@dataclass(frozen=True, slots=True)
class SlotsOfRun:
    """The slots as one run has them."""

    slots: "Slots"
    job: str
    task_id: str
    clock: "Clock"
    _open: set[str] = field(default_factory=set)

    def once(self, key: str, keep_days: int | None) -> Transaction:
        """A block that takes a slot of the job. Raises InvalidInput."""
        now = self.clock.now()
        until = None if keep_days is None else (now + check_days(keep_days) * DAY) // SECOND
        slot = Slot(self.job, check_key(key), secrets.token_hex(16), self.task_id, now, until)
        return Transaction(self.slots, slot, self._open)


def _given(value: Any, name: str) -> Any:
    if value is None or (isinstance(value, str) and not value):
        raise InvalidInput("invalid_once", f"{name} is missing", name)
    return value


def _held(
    condition: str | None, names: Mapping[str, str] | None, values: Values | None
) -> dict[str, Any]:
    """The condition of a write to a table, and what its expressions refer to."""
    parts = {
        "ConditionExpression": condition,
        "ExpressionAttributeNames": dict(names or {}),
        "ExpressionAttributeValues": to_item(values or {}),
    }
    return {name: part for name, part in parts.items() if part}


def _keyed(
    target: Any,
    key: Any,
    condition: Any,
    names: Mapping[str, str] | None,
    values: Values | None,
) -> dict[str, Any]:
    """What a delete and a check say."""
    if isinstance(target, str):
        made = {"TableName": target, "Key": to_item(_given(key, "key"))}
        return {**made, **_held(condition, names, values)}
    return dict(_instance(target, key).get_delete_kwargs_from_instance(condition))


def _instance(target: Any, key: Any) -> Any:
    """A model and its key, a pair where it has a range key, or an instance, which has it."""
    if key is None:
        return target
    return target(*key) if isinstance(key, tuple) else target(key)
