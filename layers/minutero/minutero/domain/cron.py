"""`cron(...)` in EventBridge's dialect: the wall times it names, whatever the zone.

https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

from minutero.domain.cron_days import Days, days_of_month, days_of_week
from minutero.domain.cron_fields import HOURS, MINUTES, MONTH, YEAR
from minutero.domain.instants import DAY, HOUR, MINUTE
from minutero.errors import InvalidSchedule

_BLANKS = re.compile(r"[ \t]+")
_FIELDS = "minutes, hours, day-of-month, month, day-of-week, year"
_EPOCH = date(1970, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class Cron:
    """The values of each field, ascending, and the days as a rule."""

    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: Days
    months: tuple[int, ...]
    years: tuple[int, ...]
    every_hour: bool
    """The hour field is `*`: then it runs by elapsed time where the clock is changed."""

    def walls(self, start: int) -> Iterator[int]:
        """The wall times it names, from one on, ascending."""
        for day in self._days(start // DAY):
            rest = start - day * DAY
            for hour in self.hours:
                if (hour + 1) * HOUR <= rest:
                    continue
                for minute in self.minutes:
                    time = hour * HOUR + minute * MINUTE
                    if time >= rest:
                        yield day * DAY + time

    def _days(self, start: int) -> Iterator[int]:
        """The days it names, from one on, as days since 1970-01-01. Jumps over years and months."""
        first = date.fromordinal(_EPOCH + start)
        for year in self.years[bisect_left(self.years, first.year) :]:
            for month in self.months:
                if year == first.year and month < first.month:
                    continue
                eve = date(year, month, 1).toordinal() - 1 - _EPOCH
                yield from (eve + day for day in self.days(year, month) if eve + day >= start)


def read_cron(text: str) -> Cron:
    """What stands between the brackets: six fields, or five with the year left out.

    Raises InvalidSchedule, which names the field and the rule.
    """
    minutes, hours, day_of_month, month, day_of_week, year = _split(text)
    values = [
        field.read(one)
        for field, one in ((MINUTES, minutes), (HOURS, hours), (MONTH, month), (YEAR, year))
    ]
    match (day_of_month == "?", day_of_week == "?"):
        case (False, True):
            days = days_of_month(day_of_month)
        case (True, False):
            days = days_of_week(day_of_week)
        case (True, True):
            raise InvalidSchedule(
                "day-of-month and day-of-week are both '?'; one of them must say which days"
            )
        case _:
            raise InvalidSchedule(
                "day-of-month and day-of-week are both given; one of them must be '?'"
            )
    return Cron(values[0], values[1], days, values[2], values[3], every_hour=hours == "*")


def _split(text: str) -> list[str]:
    fields = _BLANKS.split(text)
    if "" in fields and text:
        raise InvalidSchedule("a blank stands beside a bracket; leave it out")
    match len(fields):
        case 5:
            return [*fields, "*"]
        case 6:
            return fields
        case 7:
            raise InvalidSchedule(
                f"there are seven fields; seconds are not among the six: {_FIELDS}"
            )
    count = len(fields) if text else 0
    raise InvalidSchedule(
        f"there should be six fields, or five without the year, and not {count}: {_FIELDS}"
    )
