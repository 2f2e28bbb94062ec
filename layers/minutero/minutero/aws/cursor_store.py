"""The Cursors table."""

from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.operand import Path
from pynamodb.expressions.update import Action

from minutero.aws.failures import GuardFailed, ask
from minutero.aws.tables import CursorItem, Tables
from minutero.domain.exchanged import Cursor
from minutero.ports import Clock

NO_ROW_YET: Condition = CursorItem.shard.does_not_exist()
"""Begin: a watermark that has moved must not be set back."""


def not_leased_to_another(owner: str, now: int) -> Condition:
    """Lease: the shard is free, ours, or its lease has run out."""
    free: Condition = (
        CursorItem.lease_owner.does_not_exist()
        | CursorItem.lease_owner.is_in("", owner)
        | (CursorItem.lease_until < now)
    )
    return free


def moves_forward(watermark: int, owner: str, now: int) -> Condition:
    """Advance: the watermark never moves back, and nobody else works on the shard."""
    forward: Condition = CursorItem.watermark <= watermark
    guard: Condition = forward & not_leased_to_another(owner, now)
    return guard


class DynamoCursorStore:
    """`CursorStore` over the Cursors table. `clock` is only slept with, between two tries."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._model = tables.cursor
        self._clock = clock

    def get(self, shard: int) -> Cursor | None:
        """The row of a shard, None before its first tick."""
        try:
            item = ask(lambda: self._model.get(_key(shard), consistent_read=True), self._clock)
        except self._model.DoesNotExist:
            return None
        return _cursor(shard, item)

    def begin(self, shard: int, watermark: int) -> Cursor:
        """Writes a shard's first row; another dispatcher's, if it came first, is as good."""
        begun = Cursor(shard, watermark, first_minute=watermark)
        item = self._model(
            shard=_key(shard), watermark=watermark, first_minute=watermark, audited={}
        )
        try:
            ask(lambda: item.save(condition=NO_ROW_YET), self._clock)
        except GuardFailed:
            return self.get(shard) or begun
        return begun

    def lease(self, shard: int, owner: str, now: int, until: int) -> bool:
        """Takes the shard. Asked again after a lost answer, it is ours already: True."""
        item = self._model(shard=_key(shard))
        actions: list[Action] = [
            CursorItem.lease_owner.set(owner),
            CursorItem.lease_until.set(until),
        ]
        try:
            ask(
                lambda: item.update(actions=actions, condition=not_leased_to_another(owner, now)),
                self._clock,
            )
        except GuardFailed:
            return False
        return True

    def advance(self, shard: int, owner: str, now: int, watermark: int, until: int) -> bool:
        """Moves the watermark and keeps the lease, or gives it back when `until` is 0."""
        item = self._model(shard=_key(shard))
        actions: list[Action] = [
            CursorItem.watermark.set(watermark),
            CursorItem.lease_owner.set(owner if until else ""),
            CursorItem.lease_until.set(until),
        ]
        guard = moves_forward(watermark, owner, now)
        try:
            ask(lambda: item.update(actions=actions, condition=guard), self._clock)
        except GuardFailed:
            return False
        return True

    def audited(self, shard: int, look: str, minute: int) -> None:
        """Notes how far a look has come. The row, and the map in it, are there since `begin`."""
        item = self._model(shard=_key(shard))
        noted: Action = Path(["audited", look]).set(minute)
        ask(lambda: item.update(actions=[noted]), self._clock)


def _cursor(shard: int, item: CursorItem) -> Cursor:
    audited: Any = item.attribute_values.get("audited")
    looks: dict[str, Any] = {} if audited is None else audited.as_dict()
    return Cursor(
        shard=shard,
        watermark=int(item.watermark),
        lease_owner=item.lease_owner,
        lease_until=int(item.lease_until),
        first_minute=int(item.first_minute),
        audited={look: int(minute) for look, minute in looks.items()},
    )


def _key(shard: int) -> str:
    return f"{shard:02d}"
