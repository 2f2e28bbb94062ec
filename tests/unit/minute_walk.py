"""A second way to the fire times of a cron expression: look at every minute. Slow, and plain to see.

An expression is drawn together with a test for each of its fields, so that neither the parser nor the
search is used to judge itself.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from minutero.domain.zones import load_zone

NAMES = ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"]
MINUTE = timedelta(minutes=1)
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Drawn:
    """A field as it is written, and what it holds for."""

    text: str
    holds: Callable

    def __repr__(self):
        return self.text


@dataclass(frozen=True)
class DrawnCron:
    minute: Drawn
    hour: Drawn
    day: Drawn
    weekday: Drawn

    @property
    def text(self):
        return f"cron({self.minute} {self.hour} {self.day} * {self.weekday} *)"

    @property
    def every_hour(self):
        return self.hour.text == "*"

    def __repr__(self):
        return self.text

    def names(self, wall):
        return (
            self.minute.holds(wall.minute)
            and self.hour.holds(wall.hour)
            and self.day.holds(wall)
            and self.weekday.holds(wall)
        )


def numbers(first, last):
    """A field of numbers, in each way one can be written."""
    value = st.integers(first, last)
    step = st.integers(1, last)
    ordered = st.tuples(value, value).map(sorted)
    single = st.one_of(
        value.map(lambda n: Drawn(f"{n:02d}", lambda x: x == n)),
        step.map(lambda s: Drawn(f"*/{s}", lambda x: (x - first) % s == 0)),
        st.tuples(value, step).map(
            lambda p: Drawn(f"{p[0]}/{p[1]}", lambda x: x >= p[0] and (x - p[0]) % p[1] == 0)
        ),
        ordered.map(lambda r: Drawn(f"{r[0]}-{r[1]}", lambda x: r[0] <= x <= r[1])),
        st.tuples(ordered, step).map(
            lambda p: Drawn(
                f"{p[0][0]}-{p[0][1]}/{p[1]}",
                lambda x: p[0][0] <= x <= p[0][1] and (x - p[0][0]) % p[1] == 0,
            )
        ),
        ordered.filter(lambda r: r[0] < r[1]).map(
            lambda r: Drawn(f"{r[1]}-{r[0]}", lambda x: x >= r[1] or x <= r[0])
        ),
    )
    listed = st.lists(single, min_size=2, max_size=3).map(
        lambda some: Drawn(",".join(map(str, some)), lambda x: any(one.holds(x) for one in some))
    )
    return st.one_of(st.just(Drawn("*", lambda _: True)), single, listed)


def last_of_month(day):
    return (day.replace(day=1) + timedelta(days=31)).replace(day=1) - DAY


def is_nearest(wall, target):
    """Whether a date is the weekday nearest the target, within the target's month."""
    month = [target.replace(day=n) for n in range(1, last_of_month(target).day + 1)]
    working = [day for day in month if day.isoweekday() <= 5]
    return wall.date() == min(working, key=lambda day: abs(day - target))


def nearest_to(number):
    def holds(wall):
        return number <= last_of_month(wall.date()).day and is_nearest(
            wall, wall.date().replace(day=number)
        )

    return Drawn(f"{number}W", holds)


def before_last(back, working):
    def holds(wall):
        target = last_of_month(wall.date()) - back * DAY
        if target.month != wall.month:
            return False
        return is_nearest(wall, target) if working else wall.date() == target

    return Drawn(f"L{f'-{back}' if back else ''}{'W' if working else ''}", holds)


def nth(weekday, number):
    def holds(wall):
        return wall.isoweekday() % 7 == weekday and (wall.day - 1) // 7 + 1 == number

    return Drawn(f"{NAMES[weekday].lower()}#{number}", holds)


def last_weekday(weekday):
    def holds(wall):
        return wall.isoweekday() % 7 == weekday and (wall + 7 * DAY).month != wall.month

    return Drawn(f"{weekday + 1}L", holds)


ANY = Drawn("?", lambda _: True)
WEEKDAYS = st.integers(0, 6)
DAYS_OF_MONTH = st.one_of(
    numbers(1, 31).map(lambda one: Drawn(one.text, lambda wall: one.holds(wall.day))),
    st.integers(1, 31).map(nearest_to),
    st.tuples(st.integers(0, 30), st.booleans()).map(lambda p: before_last(*p)),
)
DAYS_OF_WEEK = st.one_of(
    numbers(1, 7).map(
        lambda one: Drawn(one.text, lambda wall: one.holds(wall.isoweekday() % 7 + 1))
    ),
    WEEKDAYS.map(lambda n: Drawn(NAMES[n], lambda wall: wall.isoweekday() % 7 == n)),
    st.just(Drawn("L", lambda wall: wall.isoweekday() == 6)),
    st.tuples(WEEKDAYS, st.integers(1, 5)).map(lambda p: nth(*p)),
    WEEKDAYS.map(last_weekday),
)
DAYS = st.one_of(st.tuples(DAYS_OF_MONTH, st.just(ANY)), st.tuples(st.just(ANY), DAYS_OF_WEEK))
EVERY_DAY = st.just((Drawn("*", lambda _: True), ANY))


def crons(days=DAYS):
    fields = st.tuples(numbers(0, 59), numbers(0, 23), days)
    return fields.map(lambda one: DrawnCron(one[0], one[1], *one[2]))


def minutes(start, end):
    """Every whole minute after `start`, up to `end`."""
    moment = start.replace(second=0, microsecond=0) + MINUTE
    while moment <= end:
        yield moment
        moment += MINUTE


def walk(cron, timezone, start, end, on_gap="skip", on_overlap="first"):
    """The fire times after `start` and up to `end`."""
    zone = load_zone(timezone)
    made_up = on_gap == "next" and not cron.every_hour
    once = on_overlap == "first" and not cron.every_hour
    found = []
    before = start.replace(second=0, microsecond=0).astimezone(zone)
    for moment in minutes(start, end):
        wall = moment.astimezone(zone)
        named = cron.names(wall) and not (once and wall.fold)
        if named or (made_up and any(map(cron.names, left_out(before, wall)))):
            found.append(moment)
        before = wall
    return found


def left_out(before, wall):
    """The wall times between one minute and the next, as datetimes without a zone."""
    missing = before.replace(tzinfo=None) + MINUTE
    while missing < wall.replace(tzinfo=None):
        yield missing
        missing += MINUTE


def utc(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
