"""`rate(...)`: elapsed time from an anchor, whatever the clocks on the wall do."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from minutero.domain.instants import DAY, HOUR, MINUTE
from minutero.domain.wall_clock import END
from minutero.errors import InvalidSchedule

UNITS = {"minute": MINUTE, "hour": HOUR, "day": DAY}
_RATE = re.compile(r"(\d+) (minute|hour|day)(s?)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Rate:
    """Fires at `anchor`, and every `period` milliseconds after it. A day is 24 hours."""

    period: int
    anchor: int

    def fire_times(self, after: int) -> Iterator[int]:
        """Reckoned from the anchor each time, so nothing adds up: a late or a lost firing moves no other."""
        passed = max(0, (after - self.anchor) // self.period + 1)
        yield from range(self.anchor + passed * self.period, END, self.period)


def read_rate(text: str, anchor: int) -> Rate:
    """What stands between the brackets: `5 minutes`, `1 hour`; `1 hours` is taken too.

    Raises InvalidSchedule.
    """
    match = _RATE.fullmatch(text)
    if not match:
        raise InvalidSchedule(
            "a rate is a whole number of minutes, hours or days, with one blank between"
        )
    number, unit, plural = match.groups()
    if int(number) == 0:
        raise InvalidSchedule("a rate of 0 never passes; the shortest is rate(1 minute)")
    if int(number) > 1 and not plural:
        raise InvalidSchedule(f"{unit} goes with 1 alone, {unit}s with every other number")
    return Rate(int(number) * UNITS[unit], anchor)
