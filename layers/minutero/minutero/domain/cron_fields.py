"""One field of a cron expression: which of its values the text names.

The dialect is EventBridge's, which is Quartz's without seconds:
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-cron-expressions.html
"""

import re
from dataclasses import dataclass

from minutero.domain.wall_clock import FIRST_YEAR, LAST_YEAR
from minutero.errors import InvalidSchedule

_ITEM = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:/(\d{1,4}))?", re.ASCII)
_NUMBER = re.compile(r"\d{1,4}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Field:
    """A field: its values, and the names some values have as well."""

    name: str
    first: int
    last: int
    names: tuple[str, ...] = ()
    alone: str = ""
    """What else it takes, and not in a list."""
    wraps: bool = True
    """A range that runs backwards goes on at the start: `FRI-MON`, `22-2`."""

    def read(self, text: str) -> tuple[int, ...]:
        """`1,10-40/5` -> the values, ascending. Raises InvalidSchedule."""
        if text == "*":
            return tuple(range(self.first, self.last + 1))
        found: set[int] = set()
        for item in text.split(","):
            low, high, step = self._bounds(item)
            found.update(
                self.first + (value - self.first) % self._size
                for value in range(low, high + 1, step)
            )
        return tuple(sorted(found))

    def value(self, text: str) -> int:
        """A number or a name -> the value. Raises InvalidSchedule."""
        if text.upper() in self.names:
            return self.first + self.names.index(text.upper())
        number = int(text) if _NUMBER.fullmatch(text) else None
        if number is None or not self.first <= number <= self.last:
            named = f", or {self.names[0]} to {self.names[-1]}" if self.names else ""
            raise self.refusal(text, f"it takes {self.first} to {self.last}{named}{self.alone}")
        return number

    def refusal(self, item: str, rule: str) -> InvalidSchedule:
        """What is wrong, and what the field takes instead."""
        return InvalidSchedule(f"{self.name} has {item[:40]!r}; {rule}")

    def _bounds(self, item: str) -> tuple[int, int, int]:
        """An item -> its first value, its last one, counted on past the end, and its step."""
        if item == "?":
            raise self.refusal(item, "only one of the two day fields may be '?'; write *")
        match = _ITEM.fullmatch(item)
        if not match:
            raise self.refusal(
                item, f"write a value, a range a-b, a step a/n, a list a,b or *{self.alone}"
            )
        start, end, stride = match.groups()
        step = self._step(item, stride) if stride else 1
        if start is None:
            return self.first, self.last, step
        low = self.value(start)
        if end is None:
            return low, self.last if stride else low, step
        high = self.value(end)
        if high >= low:
            return low, high, step
        if not self.wraps:
            raise self.refusal(item, "the range runs backwards")
        return low, high + self._size, step

    def _step(self, item: str, text: str) -> int:
        """A longer step than this is never taken: `0/90` would be each hour, not every 90 minutes."""
        longest = min(self.last, self._size)
        if not 1 <= int(text) <= longest:
            raise self.refusal(item, f"a step is 1 to {longest}")
        return int(text)

    @property
    def _size(self) -> int:
        return self.last - self.first + 1


MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
DAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")

MINUTES = Field("minutes", 0, 59)
HOURS = Field("hours", 0, 23)
DAY_OF_MONTH = Field("day-of-month", 1, 31, alone="; or, alone, ?, L, L-3, LW, 15W")
MONTH = Field("month", 1, 12, MONTHS)
DAY_OF_WEEK = Field("day-of-week", 1, 7, DAYS, alone="; or, alone, ?, L, 6L, 6#3")
"""1 is Sunday."""
YEAR = Field("year", FIRST_YEAR, LAST_YEAR, wraps=False)
