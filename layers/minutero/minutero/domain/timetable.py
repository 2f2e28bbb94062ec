"""The fire times of a cron expression in a zone: what becomes of it where the clock is changed."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from zoneinfo import ZoneInfo

from minutero.domain.cron import Cron
from minutero.domain.instants import DAY
from minutero.domain.wall_clock import END, gap_around, gaps, offset_at, offsets

OnGap = Literal["skip", "next"]
OnOverlap = Literal["first", "both"]


@dataclass(frozen=True, slots=True)
class InGap:
    """A wall time that is named and does not exist."""

    wall: int
    instant: int
    """The first instant after the gap."""


@dataclass(frozen=True, slots=True)
class Timetable:
    """A cron expression, its zone, and its policies for gaps and overlaps.

    An expression whose hour field is `*` runs by elapsed time: it takes both halves of an overlap and has
    nothing to make up for after a gap, whatever the policies say.
    """

    cron: Cron
    zone: ZoneInfo
    on_gap: OnGap = "skip"
    on_overlap: OnOverlap = "first"

    def fire_times(self, after: int) -> Iterator[int]:
        last = after
        for instant in self._instants(self._start(min(after, END))):
            if instant > last:
                yield instant
                last = instant

    def in_gaps(self, start: int, end: int) -> Iterator[InGap]:
        """The wall times that gaps between two instants take away from it, or put off with `on_gap` next."""
        if self.cron.every_hour:
            return
        for gap in gaps(self.zone, start, end):
            for wall in self.cron.walls(gap.start):
                if wall >= gap.end:
                    break
                yield InGap(wall, gap.instant)

    def has_walls(self, after: int) -> bool:
        """Whether it names any wall time from an instant on, be it in a gap."""
        return any(True for _ in self.cron.walls(self._start(min(after, END))))

    def _start(self, after: int) -> int:
        """The wall time to look from. Where the clock is put back within a day, it comes once more."""
        if after < 0:
            return 0
        return after + min(offset_at(after, self.zone), offset_at(after + DAY, self.zone))

    def _instants(self, start: int) -> Iterator[int]:
        """The instants of all wall times from one on, ascending."""
        twice = self.on_overlap == "both" or self.cron.every_hour
        put_off = self.on_gap == "next" and not self.cron.every_hour
        repeats: deque[int] = deque()
        gap = None
        for wall in self.cron.walls(start):
            if gap and wall < gap.end:
                continue
            before, after = offsets(wall, self.zone)
            gap = gap_around(wall, before, after, self.zone) if before < after else None
            if gap and not put_off:
                continue
            instant = gap.instant if gap else wall - before
            while repeats and repeats[0] < instant:
                yield repeats.popleft()
            yield instant
            if before > after and twice:
                repeats.append(wall - after)
        yield from repeats
