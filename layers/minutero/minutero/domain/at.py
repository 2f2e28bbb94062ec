"""`at(...)`: once, at a time of a zone's clock."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from minutero.domain.instants import parse_instant
from minutero.domain.wall_clock import (
    FIRST_YEAR,
    LAST_YEAR,
    format_wall,
    gap_around,
    offsets,
)
from minutero.errors import InvalidInput, InvalidSchedule

_WALL_TIME = re.compile(r"(\d{4})-\d\d-\d\dT\d\d:\d\d:\d\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class At:
    """Fires at one instant."""

    instant: int

    def fire_times(self, after: int) -> Iterator[int]:
        if self.instant > after:
            yield self.instant


def read_at(text: str, zone: ZoneInfo) -> At:
    """What stands between the brackets: `2026-12-01T09:00:00`, without a zone of its own.

    A time that comes twice means its first instant. Raises InvalidSchedule, also for a time in a gap.
    """
    match = _WALL_TIME.fullmatch(text)
    if not match:
        raise InvalidSchedule(
            "at takes yyyy-mm-ddThh:mm:ss, the time of its zone: at(2026-12-01T09:00:00)"
        )
    if not FIRST_YEAR <= int(match[1]) <= LAST_YEAR:
        raise InvalidSchedule(f"the year is to be from {FIRST_YEAR} to {LAST_YEAR}")
    try:
        wall = parse_instant(f"{text}Z")
    except InvalidInput:
        raise InvalidSchedule(
            f"{text} is not in the calendar; check the day and the time"
        ) from None
    before, after = offsets(wall, zone)
    if before < after:
        gap = gap_around(wall, before, after, zone)
        raise InvalidSchedule(
            f"{text} does not exist in {zone.key}: the clock goes from {format_wall(gap.start)}"
            f" to {format_wall(gap.end)}; write at({format_wall(gap.end)}) or another time"
        )
    return At(wall - before)
