"""The times a schedule names: a rule, within a start and an end."""

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from minutero.domain.expression import Rule, read_rule
from minutero.domain.instants import HOUR
from minutero.domain.timetable import InGap, OnGap, OnOverlap, Timetable


@dataclass(frozen=True, slots=True)
class Times:
    """`anchor` is what a rate counts from. Start and end are included. In milliseconds."""

    expression: str
    timezone: str
    anchor: int
    start_at: int | None = None
    end_at: int | None = None
    on_gap: OnGap = "skip"
    on_overlap: OnOverlap = "first"

    @property
    def rule(self) -> Rule:
        """Raises InvalidSchedule."""
        return _rule(self.expression, self.timezone, self.anchor, self.on_gap, self.on_overlap)

    def after(self, instant: int) -> Iterator[int]:
        """Its times after an instant and without it, strictly ascending."""
        since = instant if self.start_at is None else max(instant, self.start_at - 1)
        times = self.rule.fire_times(since)
        return times if self.end_at is None else takewhile(self.end_at.__ge__, times)

    def next(self, instant: int) -> int | None:
        """The first time after an instant; None when there is none."""
        return next(self.after(instant), None)

    def latest(self, first: int, last: int, most: int) -> Sequence[int]:
        """The latest `most` of its times from `first` to `last`, both included, ascending.

        It looks back over a growing stretch, so that a year of minutes is not walked for its end.
        """
        stretch = HOUR
        while True:
            start = max(first, last - stretch)
            found = deque(takewhile(last.__ge__, self.after(start - 1)), maxlen=most)
            if len(found) == most or start == first:
                return list(found)
            stretch *= 8

    def gaps(self, start: int, end: int) -> Iterator[InGap]:
        """The wall times of a cron expression between two instants that its zone's clock leaves out."""
        rule = self.rule
        if isinstance(rule, Timetable) and self.on_gap == "skip":
            yield from rule.in_gaps(start, end)


@lru_cache(1_024)
def _rule(
    expression: str, timezone: str, anchor: int, on_gap: OnGap, on_overlap: OnOverlap
) -> Rule:
    return read_rule(expression, timezone, anchor, on_gap, on_overlap)
