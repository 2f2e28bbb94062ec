"""The two day fields of a cron expression: which days of a month they name."""

import re
from calendar import monthrange
from collections.abc import Callable, Sequence

from minutero.domain.cron_fields import DAY_OF_MONTH, DAY_OF_WEEK

Days = Callable[[int, int], Sequence[int]]
"""(year, month) -> days of that month, ascending. A day the month does not have is left out."""

_LAST_DAY = re.compile(r"L(?:-(\d{1,2}))?(W)?", re.ASCII | re.IGNORECASE)
_NEAREST = re.compile(r"(\d{1,2})W", re.ASCII | re.IGNORECASE)
_LAST_WEEKDAY = re.compile(r"(\d+|[A-Z]{3})L", re.ASCII | re.IGNORECASE)
_NTH_WEEKDAY = re.compile(r"(\w+)#(\d)", re.ASCII)


def days_of_month(text: str) -> Days:
    """`1,15`, `*/2`, `L`, `L-3`, `LW`, `15W`. Raises InvalidSchedule."""
    if match := _LAST_DAY.fullmatch(text):
        back = int(match[1] or 0)
        if match[1] and not 1 <= back < DAY_OF_MONTH.last:
            raise DAY_OF_MONTH.refusal(text, "L-n goes back from the last day by 1 to 30")
        return _counted_back(back, working=bool(match[2]))
    if match := _NEAREST.fullmatch(text):
        day = DAY_OF_MONTH.value(match[1])
        return lambda year, month: _nearest(day, *monthrange(year, month))
    days = DAY_OF_MONTH.read(text)
    shortest = 28
    if days[-1] <= shortest:
        return lambda _year, _month: days
    return lambda year, month: [day for day in days if day <= monthrange(year, month)[1]]


def days_of_week(text: str) -> Days:
    """`MON-FRI`, `2,4`, `L` (Saturdays), `6L` (the last Friday), `6#3` (the third one).

    Raises InvalidSchedule.
    """
    if match := _LAST_WEEKDAY.fullmatch(text):
        return _nth(_weekday(match[1]), -1)
    if match := _NTH_WEEKDAY.fullmatch(text):
        if match[2] not in "12345":
            raise DAY_OF_WEEK.refusal(text, "a day of the week comes 1 to 5 times a month")
        return _nth(_weekday(match[1]), int(match[2]) - 1)
    if "#" in text:
        raise DAY_OF_WEEK.refusal(text, "# stands between one day and a number, alone: 6#3")
    wanted = {(day - 2) % 7 for day in DAY_OF_WEEK.read("SAT" if text in ("L", "l") else text)}

    def days(year: int, month: int) -> Sequence[int]:
        weekday, length = monthrange(year, month)
        return [day for day in range(1, length + 1) if (weekday + day - 1) % 7 in wanted]

    return days


def _weekday(text: str) -> int:
    """A day of the week as the expression counts it, 1 = Sunday -> as Python does, 0 = Monday."""
    return (DAY_OF_WEEK.value(text) - 2) % 7


def _counted_back(back: int, *, working: bool) -> Days:
    def days(year: int, month: int) -> Sequence[int]:
        weekday, length = monthrange(year, month)
        day = length - back
        if day < 1:
            return ()
        return _nearest(day, weekday, length) if working else (day,)

    return days


def _nearest(day: int, first_weekday: int, length: int) -> Sequence[int]:
    """The Monday to Friday nearest a day, within its month. None where the month has no such day."""
    if day > length:
        return ()
    match (first_weekday + day - 1) % 7:
        case 5:
            return (day - 1 if day > 1 else day + 2,)
        case 6:
            return (day + 1 if day < length else day - 2,)
    return (day,)


def _nth(weekday: int, index: int) -> Days:
    """The nth of a weekday in a month, from 0, or the last: -1."""

    def days(year: int, month: int) -> Sequence[int]:
        first_weekday, length = monthrange(year, month)
        all_of_them = range(1 + (weekday - first_weekday) % 7, length + 1, 7)
        return all_of_them[index:][:1]

    return days
