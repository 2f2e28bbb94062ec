"""Walk the partitions of a stretch of time: all shards of a part side by side, merged by sort key."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from minutero.domain.instants import SECOND
from minutero.ports import Clock, Parallel

Row = TypeVar("Row")

READS = 480
"""Queries one request may cost: an hour of 8 shards, half a second of an API function's CPU."""

ROWS = 5_000
"""Rows one request may look at."""

TIME = 4 * SECOND
"""After so long no further read is begun: where they are slow, the answer still comes in time."""


@dataclass(frozen=True, slots=True)
class Position:
    """Where a walk goes on: after a sort key of the part (minute or day) that begins at `part`, in
    milliseconds."""

    part: int
    after: str = ""


@dataclass(frozen=True, slots=True)
class Chunk(Generic[Row]):
    """Rows of one part in order, and where the walk goes on behind them, None at its end."""

    rows: Sequence[Row]
    following: Position | None


@dataclass(frozen=True, slots=True)
class Walk(Generic[Row]):
    """`read(part, shard, after)` gives one page: its rows, and the last sort key it looked at, None at the
    end of that partition. `sort_key` is a row's place in the order of its part. `time` is how many
    milliseconds it may take before it begins no read but its first."""

    read: Callable[[int, int, str], tuple[Sequence[Row], str | None]]
    sort_key: Callable[[Row], str]
    shards: int
    parallel: Parallel
    clock: Clock
    time: int = TIME

    def chunks(self, parts: range, start: Position) -> Iterator[Chunk[Row]]:
        """From `start` on, until the parts or the budget of one request end. A chunk may be empty."""
        position, reads, rows = start, 0, 0
        until = self.clock.now() + self.time
        while reads < READS and rows < ROWS:
            chunk, looked_at = self._step(position, parts)
            yield chunk
            if chunk.following is None or self.clock.now() >= until:
                return
            position = chunk.following
            reads, rows = reads + self.shards, rows + looked_at

    def _step(self, position: Position, parts: range) -> tuple[Chunk[Row], int]:
        part, after = position.part, position.after
        pages = self.parallel(lambda shard: self.read(part, shard, after), range(self.shards))
        # A shard that goes on has been looked at up to there; what others hold beyond it comes later.
        end = min((following for _, following in pages if following is not None), default=None)
        found = [row for rows, _ in pages for row in rows]
        ready = [row for row in found if end is None or self.sort_key(row) <= end]
        ready.sort(key=self.sort_key)
        return Chunk(ready, self._following(part, end, parts)), len(found)

    def _following(self, part: int, end: str | None, parts: range) -> Position | None:
        if end is not None:
            return Position(part, end)
        return Position(part + parts.step) if part + parts.step in parts else None
