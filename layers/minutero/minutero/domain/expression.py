"""What says when a schedule fires: `cron(...)`, `rate(...)` or `at(...)`, with a zone and two policies."""

import re
from collections.abc import Iterator
from typing import Protocol, get_args

from minutero.domain.at import read_at
from minutero.domain.cron import read_cron
from minutero.domain.instants import DAY, format_instant
from minutero.domain.near_spelling import near_spelling
from minutero.domain.rate import read_rate
from minutero.domain.timetable import InGap, OnGap, OnOverlap, Timetable
from minutero.domain.zones import load_zone
from minutero.errors import InvalidSchedule

LONGEST = 256
"""Characters; EventBridge Scheduler's own limit.
https://docs.aws.amazon.com/scheduler/latest/APIReference/API_CreateSchedule.html"""

COMING_YEARS = 5 * 366 * DAY
"""How far ahead it is looked whether a wall time does not exist."""

_FORM = re.compile(r"(cron|rate|at)\((.*)\)", re.ASCII)


class Rule(Protocol):
    """An expression read: it knows its instants."""

    def fire_times(self, after: int) -> Iterator[int]:
        """The instants it fires at, after one and without it, strictly ascending. Ends with the rule."""


def read_rule(
    expression: str,
    timezone: str,
    anchor: int,
    on_gap: OnGap = "skip",
    on_overlap: OnOverlap = "first",
) -> Rule:
    """An expression -> its rule. `anchor` is the instant a rate counts from; others do not ask for it.

    Raises InvalidSchedule, which names the member at fault, the rule, and the spelling that is near.
    """
    _check(on_gap, OnGap, "on_gap")
    _check(on_overlap, OnOverlap, "on_overlap")
    zone = load_zone(timezone)
    if len(expression) > LONGEST:
        raise InvalidSchedule(f"an expression has at most {LONGEST} characters")

    def read(text: str) -> Rule:
        if not text.isascii():
            odd = next(one for one in text if not one.isascii())
            raise InvalidSchedule(f"an expression is plain ASCII; {odd!r} is not")
        match = _FORM.fullmatch(text)
        if not match:
            raise InvalidSchedule("an expression is cron(...), rate(...) or at(...)")
        form, inside = match.groups()
        if form == "cron":
            return Timetable(read_cron(inside), zone, on_gap, on_overlap)
        return read_rate(inside, anchor) if form == "rate" else read_at(inside, zone)

    try:
        return read(expression)
    except InvalidSchedule as error:
        near = near_spelling(expression, read)
        if not near:
            raise
        raise InvalidSchedule(f"{error.message}; perhaps you mean {near}") from None


def first_fire_time(rule: Rule, after: int) -> int:
    """The first instant after one. Raises InvalidSchedule, with the reason, if it never fires again."""
    for instant in rule.fire_times(after):
        return instant
    raise InvalidSchedule(f"it never fires after {format_instant(after)}: {_why(rule, after)}")


def next_in_gap(rule: Rule, after: int) -> InGap | None:
    """The next wall time of a cron expression that does not exist in its zone, in the coming years."""
    if isinstance(rule, Timetable):
        return next(rule.in_gaps(after, after + COMING_YEARS), None)
    return None


def _why(rule: Rule, after: int) -> str:
    """Why a rule does not fire any more."""
    if isinstance(rule, Timetable):
        if rule.has_walls(after):
            return f"each time it names is left out by the clock of {rule.zone.key}; see on_gap"
        if not rule.has_walls(-1):
            return "no month it names has the day it names"
    return "its time is over"


def _check(value: str, choices: object, field: str) -> None:
    known = get_args(choices)
    if value not in known:
        raise InvalidSchedule(f"{field} is {' or '.join(known)}, not {str(value)[:40]!r}", field)
