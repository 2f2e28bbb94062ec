"""Query strings of schedules."""

from pydantic import Field

from minutero.domain.instants import DAY, HOUR, parse_instant
from minutero.domain.new_task import FURTHEST
from minutero.errors import InvalidInput
from minutero.http.fields import Instant, LimitText
from minutero.http.queries import PAGE_HELP, Parameters, read_count

TIMES = 5
"""Told by `next`, where nothing is said."""

LONGEST_SPAN = 366 * DAY
BEFORE, AHEAD = DAY, HOUR
"""Of now, what `explain` tells of, where nothing is said."""


class ScheduleListQuery(Parameters):
    """`GET /schedules`."""

    limit: LimitText | None = Field(None, description="At most so many on this page, 1 to 500; 100")
    next_token: str | None = Field(None, description=PAGE_HELP)


class NextQuery(Parameters):
    """`GET /schedules/{name}/next`."""

    n: LimitText | None = Field(None, description=f"At most so many times, 1 to 500; {TIMES}")

    def count(self) -> int:
        """Raises InvalidInput."""
        return TIMES if self.n is None else read_count(self.n, "n")


class ExplainQuery(Parameters):
    """`GET /schedules/{name}/explain`."""

    start: Instant | None = Field(
        None, alias="from", description="Times from this instant on; a day before now"
    )
    end: Instant | None = Field(
        None,
        alias="to",
        description="And before this one, at most 366 days later; an hour after now",
    )

    def to_span(self, now: int) -> tuple[int, int]:
        """The first and the last instant asked for, in milliseconds, within what a schedule can know of.

        Raises InvalidInput.
        """
        start = now - BEFORE if self.start is None else parse_instant(self.start, "from")
        end = now + AHEAD if self.end is None else parse_instant(self.end, "to")
        if end <= start:
            raise InvalidInput("invalid_to", "to must be after from; send both", "to")
        if end - start > LONGEST_SPAN:
            raise InvalidInput(
                "invalid_to",
                "from and to are more than 366 days apart; ask for a year at a time",
                "to",
            )
        return max(start, 0), min(end, now + FURTHEST) - 1
