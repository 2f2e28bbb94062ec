"""Between instants and what a zone's clock on the wall shows.

A *wall time* is what the clock shows, as milliseconds since its own 1970-01-01T00:00. Where the clock is
put forward there is a gap, wall times that never come; where it is put back there is an overlap, wall
times that come twice.
"""

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from minutero.domain.instants import DAY, SECOND

FIRST_YEAR, LAST_YEAR = 1970, 2199
"""The years of EventBridge's schedules.
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-cron-expressions.html"""

_EPOCH = datetime(FIRST_YEAR, 1, 1, tzinfo=UTC)
END = int(datetime(LAST_YEAR + 1, 1, 1, tzinfo=UTC).timestamp()) * SECOND
"""The first instant after the last year."""


@dataclass(frozen=True, slots=True)
class Gap:
    """A change at which the clock is put forward."""

    instant: int
    """The first instant after it."""
    start: int
    """The first wall time that is left out."""
    end: int
    """The wall time at `instant`: the first that comes again."""


def offset_at(instant: int, zone: ZoneInfo) -> int:
    """What the wall clock is ahead of UTC at an instant, in milliseconds."""
    return _milliseconds(datetime.fromtimestamp(instant // SECOND, zone).utcoffset())


def offsets(wall: int, zone: ZoneInfo) -> tuple[int, int]:
    """The offsets before and after the change a wall time is touched by; equal where there is none.

    In a gap the second is the larger, in an overlap the first: `wall - before` is then the first instant
    that shows the wall time, and `wall - after` the second.
    """
    shown = _shown(wall)
    return (
        _milliseconds(zone.utcoffset(shown)),
        _milliseconds(zone.utcoffset(shown.replace(fold=1))),
    )


def gap_around(wall: int, before: int, after: int, zone: ZoneInfo) -> Gap:
    """The gap that a wall time of these offsets lies in."""
    low, high = (wall - after) // SECOND, (wall - before) // SECOND
    return _gap(range(low, high + 1), before, after, zone)


def gaps(zone: ZoneInfo, start: int, end: int) -> Iterator[Gap]:
    """The gaps between two instants, in order."""
    before = offset_at(start, zone)
    for day in range(start, end, DAY):
        after = offset_at(day + DAY, zone)
        if before < after:
            low, high = day // SECOND, (day + DAY) // SECOND
            yield _gap(range(low, high + 1), before, after, zone)
        before = after


def format_wall(wall: int) -> str:
    """`2026-03-08T02:30:00`."""
    return _shown(wall).replace(tzinfo=None).isoformat()


def format_local(instant: int, zone: ZoneInfo) -> str:
    """An instant as the wall clock shows it: `2026-03-08T03:00:00-04:00`."""
    precision = "milliseconds" if instant % SECOND else "seconds"
    return _shown(instant).astimezone(zone).isoformat(timespec=precision)


def _gap(seconds: range, before: int, after: int, zone: ZoneInfo) -> Gap:
    """The gap whose change is among these seconds; none is within one."""
    changed = bisect_left(seconds, True, key=lambda at: offset_at(at * SECOND, zone) != before)
    instant = seconds[changed] * SECOND
    return Gap(instant, instant + before, instant + after)


def _shown(wall: int) -> datetime:
    """A wall time as a date and a time of day. That it is said to be UTC means nothing."""
    return _EPOCH + timedelta(milliseconds=wall)


def _milliseconds(offset: timedelta | None) -> int:
    return 0 if offset is None else (offset.days * 86_400 + offset.seconds) * SECOND
