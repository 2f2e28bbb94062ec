"""`minutero.fire_times`, as a user's code calls it."""

import inspect
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
import time_machine

import minutero

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


def test_who_does_not_use_it_does_not_pay_for_it():
    code = "import sys, minutero; assert 'zoneinfo' not in sys.modules; minutero.fire_times"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_it_answers_aware_datetimes_in_utc():
    (found,) = minutero.fire_times(
        "cron(0 18 ? * FRI *)", timezone="America/Mexico_City", after=NOON, count=1, anchor=None
    )
    assert found == datetime(2026, 12, 5, tzinfo=UTC)
    assert found.tzinfo is UTC


def test_its_arguments_may_be_given_by_place():
    assert list(inspect.signature(minutero.fire_times).parameters)[:5] == [
        "expression", "timezone", "after", "count", "anchor",
    ]  # fmt: skip
    assert minutero.fire_times("rate(1 hour)", "UTC", NOON, 1, NOON + timedelta(hours=5)) == [
        NOON + timedelta(hours=5)
    ]


def test_after_is_now_and_five_are_given_if_nothing_is_said():
    with time_machine.travel(NOON, tick=False):
        assert minutero.fire_times("rate(1 hour)") == [
            NOON + timedelta(hours=n) for n in range(1, 6)
        ]


def test_after_may_be_in_any_zone():
    elsewhere = NOON.astimezone(timezone(timedelta(hours=5, minutes=45)))
    assert minutero.fire_times("cron(0 13 * * ? *)", after=elsewhere, count=1) == [
        NOON + timedelta(hours=1)
    ]


def test_after_itself_is_never_among_them_and_what_is_a_microsecond_later_is():
    assert minutero.fire_times("cron(0 * * * ? *)", after=NOON, count=1) != [NOON]
    assert minutero.fire_times("cron(0 * * * ? *)", after=NOON - MICROSECOND, count=1) == [NOON]
    assert minutero.fire_times("at(2026-12-01T12:00:00)", after=NOON) == []
    assert minutero.fire_times("at(2026-12-01T12:00:00)", after=NOON - MICROSECOND) == [NOON]


def test_a_rate_without_an_anchor_counts_from_after_to_the_millisecond():
    late = NOON + timedelta(microseconds=250_900)
    assert minutero.fire_times("rate(1 minute)", after=late, count=1) == [
        NOON + timedelta(minutes=1, milliseconds=250)
    ]


def test_none_asked_for_is_none_given():
    assert minutero.fire_times("rate(1 hour)", after=NOON, count=0) == []


@pytest.mark.parametrize(
    "after",
    [
        datetime.min.replace(tzinfo=UTC),
        datetime(2199, 12, 31, 23, 59, tzinfo=UTC),
        datetime.max.replace(tzinfo=UTC),
    ],
)
@pytest.mark.parametrize("zone", ["UTC", "Pacific/Kiritimati", "Etc/GMT+12", "America/New_York"])
@pytest.mark.parametrize("expression", ["cron(0 12 * * ? *)", "cron(* * * * ? *)", "rate(1 day)"])
def test_the_ends_of_the_calendar_are_no_trouble(expression, zone, after):
    found = minutero.fire_times(expression, zone, after, 3)
    assert found == sorted(found)
    assert all(one > after for one in found)
    if after.year == 1 and expression.startswith("cron"):
        assert found[0] < datetime(1970, 1, 3, tzinfo=UTC)
    assert all(one < datetime(2200, 1, 2, tzinfo=UTC) for one in found)


def test_a_rule_that_ends_gives_fewer():
    """B009."""
    found = minutero.fire_times(
        "cron(15 10 ? * 6L 2022-2023)", after=datetime(2023, 9, 1, tzinfo=UTC), count=100
    )
    assert [f"{one:%m-%d}" for one in found] == ["09-29", "10-27", "11-24", "12-29"]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"expression": "cron(nonsense)"}, "invalid_expression"),
        ({"timezone": "Nowhere"}, "invalid_timezone"),
        ({"on_gap": "both"}, "invalid_on_gap"),
        ({"on_overlap": "skip"}, "invalid_on_overlap"),
    ],
)
def test_what_cannot_be_read_is_an_invalid_schedule_which_is_a_value_error(arguments, code):
    with pytest.raises(minutero.InvalidSchedule) as refused:
        minutero.fire_times(**{"expression": "rate(1 hour)", **arguments})
    assert isinstance(refused.value, ValueError | minutero.InvalidInput)
    assert refused.value.code == code
    assert refused.value.field == code.removeprefix("invalid_")


@pytest.mark.parametrize("name", ["after", "anchor"])
def test_a_naive_datetime_is_refused(name):
    with pytest.raises(minutero.InvalidInput, match=f"{name} has no time zone"):
        minutero.fire_times("rate(1 hour)", **{name: datetime(2026, 12, 1)})  # noqa: DTZ001 - the point


def test_a_negative_count_is_refused():
    with pytest.raises(minutero.InvalidInput, match="count"):
        minutero.fire_times("rate(1 hour)", count=-1)
