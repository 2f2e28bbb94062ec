"""When an expression fires, for Python code: `minutero.fire_times`."""

from datetime import UTC, datetime, timedelta
from itertools import islice

from minutero.domain.expression import read_rule
from minutero.domain.timetable import OnGap, OnOverlap
from minutero.errors import InvalidInput

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MS = timedelta(milliseconds=1)


def fire_times(
    expression: str,
    timezone: str = "UTC",
    after: datetime | None = None,
    count: int = 5,
    anchor: datetime | None = None,
    *,
    on_gap: OnGap = "skip",
    on_overlap: OnOverlap = "first",
) -> list[datetime]:
    """The next `count` instants an expression fires at, as aware datetimes in UTC; fewer when it ends.

    `expression` is `cron(...)`, `rate(...)` or `at(...)`, `timezone` an IANA name. `after` is not among the
    answers and is now if left out; a rate counts from `anchor`, else from `after`, to the millisecond.
    `on_gap` and `on_overlap` say what becomes of wall times of a cron expression that do not exist, or come
    twice. A rule that never fires gives an empty list.

    Raises InvalidSchedule (a ValueError), whose message names the rule that is broken and a near spelling;
    InvalidInput for a naive datetime or a negative `count`.
    """
    if count < 0:
        raise InvalidInput("invalid_count", f"count is to be 0 or more, not {count}", "count")
    since = _milliseconds(datetime.now(UTC) if after is None else after, "after")
    start = since if anchor is None else _milliseconds(anchor, "anchor")
    rule = read_rule(expression, timezone, start, on_gap, on_overlap)
    return [_EPOCH + instant * _MS for instant in islice(rule.fire_times(since), count)]


def _milliseconds(moment: datetime, field: str) -> int:
    """Rounded down: what is later by a fraction of a millisecond is still after it."""
    if moment.utcoffset() is None:
        message = f"{field} has no time zone; pass datetime(..., tzinfo=UTC)"
        raise InvalidInput(f"invalid_{field}", message, field)
    return (moment - _EPOCH) // _MS
