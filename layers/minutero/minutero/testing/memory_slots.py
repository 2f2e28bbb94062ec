"""Slots in memory, with the tables that jobs write in their `once` blocks."""

from collections.abc import Mapping, Sequence
from typing import Any

from minutero.domain.attribute_values import from_item, to_item
from minutero.domain.instants import SECOND
from minutero.domain.slot import Slot, Write, two_writes
from minutero.errors import ConditionFailed
from minutero.testing.expressions import Expressions
from minutero.testing.operands import malformed

Key = tuple[Any, ...]


class MemoryTable:
    """A table: plain items by the values of their key, whose attributes are named `key_names`."""

    def __init__(self, *key_names: str) -> None:
        self.key_names = key_names
        self.rows: dict[Key, dict[str, Any]] = {}

    def put(self, **item: Any) -> None:
        """Puts an item, as a test needs it."""
        stored = from_item(to_item(item))
        self.rows[self.key_of(stored)] = stored

    def get(self, *key: Any) -> dict[str, Any] | None:
        """The item of that key."""
        return self.rows.get(key)

    def items(self) -> list[dict[str, Any]]:
        """All items."""
        return list(self.rows.values())

    def key_of(self, values: Mapping[str, Any]) -> Key:
        """The key among these values. Raises InvalidInput where it is not whole."""
        missing = [name for name in self.key_names if name not in values]
        if missing:
            raise malformed(f"an item or a key lacks {', '.join(missing)}")
        return tuple(values[name] for name in self.key_names)


class MemorySlots:
    """`Slots` over dicts. `tables` are those that jobs write, `taken` the slots by their names."""

    def __init__(self, **tables: MemoryTable) -> None:
        self.tables = dict(tables)
        self.taken: dict[str, Slot] = {}

    def take(self, slot: Slot, writes: Sequence[Write]) -> bool:
        known = self.taken.get(slot.slot_id)
        if known is not None and not _is_over(known, slot.taken_at):
            return known.owner == slot.owner
        changes = [self._change(number, write) for number, write in enumerate(writes, 1)]
        places = [(id(table), key) for table, key, _ in changes]
        if len(set(places)) < len(places):
            raise two_writes("two writes of the block")
        for table, key, after in changes:
            if after is None:
                table.rows.pop(key, None)
            else:
                table.rows[key] = after
        self.taken[slot.slot_id] = slot
        return True

    def _change(self, number: int, write: Write) -> tuple[MemoryTable, Key, dict[str, Any] | None]:
        """The item as a write leaves it, None for no item. Raises ConditionFailed, InvalidInput."""
        if write.table not in self.tables:
            raise LookupError(
                f"there is no table {write.table!r} here; make it by minutero_app.table({write.table!r},"
                " 'the name of its key'), or give it to"
                f" MemorySlots(**{{{write.table!r}: MemoryTable('the name of its key')}})"
            )
        table, parts = self.tables[write.table], write.said
        values = from_item(parts.get("Item") or parts["Key"])
        key = table.key_of(values)
        before = table.rows.get(key)
        expressions = Expressions(
            parts.get("ExpressionAttributeNames", {}),
            from_item(parts.get("ExpressionAttributeValues", {})),
        )
        condition = parts.get("ConditionExpression")
        held = condition is None or expressions.holds(condition, before or {})
        after = _after(write.kind, before, values, parts, expressions)
        expressions.check_used()
        if not held:
            raise ConditionFailed(number, str(write), before)
        return table, key, after


def _after(
    kind: str,
    before: dict[str, Any] | None,
    values: dict[str, Any],
    parts: Mapping[str, Any],
    expressions: Expressions,
) -> dict[str, Any] | None:
    match kind:
        case "Put":
            return values
        case "Update":
            return expressions.updated(parts["UpdateExpression"], before or values)
        case "Delete":
            return None
    return before


def _is_over(slot: Slot, now: int) -> bool:
    return slot.expires_at is not None and slot.expires_at < now // SECOND
