"""What went wrong for others, of times. docs/field-reports.md lists the reports."""

import math
from datetime import datetime, timedelta, timezone

import pytest
from world import NOW

from minutero.domain.instants import (
    SECOND,
    format_instant,
    from_datetime,
    no_instant,
    parse_instant,
)
from minutero.domain.new_task import FURTHEST, NewTask, check_delay
from minutero.domain.task import delay_seconds
from minutero.errors import InvalidInput

OFFSETS = [timezone(timedelta(hours=hours)) for hours in (-23, -1, 0, 1, 23)]


def refusal(text):
    with pytest.raises(InvalidInput) as refused:
        parse_instant(text)
    assert (refused.value.code, refused.value.field) == ("invalid_run_at", "run_at")
    return refused.value.message


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("2026-10-01T10:00:00Z", "2026-10-01T10:00:00Z"),
        ("2026-10-01T10:00:00+05:30", "2026-10-01T04:30:00Z"),
        ("2026-10-01T10:00:00.250-06:00", "2026-10-01T16:00:00.250Z"),
    ],
)
def test_a_time_is_read_with_its_own_offset_and_told_in_utc(text, told):
    """B060, B066."""
    assert format_instant(parse_instant(text)) == told


@pytest.mark.parametrize(
    "text",
    [
        "20261001T100000Z",
        "2026-W40-4",
        "2026-W40-4T10:00:00Z",
        "2026-274T10:00:00Z",
        "2026-10-01",
        "2026-10-01Z",
        "2026-10-01T10",
        "2026-10-01T10Z",
        "2026-10-01T10:00",
        "2026-10-01T10:00:00+0530",
        "2026-10-01T10:00:00+05",
        "2026-10-01 10:00:00+00:00",
        "2026-10-01T10:00:00,5Z",
        "+2026-10-01T10:00:00Z",
        "2026-10-01T10:00:00 Z",
        "2026-10-01T10:00:00UTC",
    ],
)
def test_the_rest_of_iso_8601_is_refused_whatever_the_runtime_reads(text):
    """B060: `datetime.fromisoformat` takes more with every version."""
    assert "send text such as" in refusal(text)


@pytest.mark.parametrize("day", ["2026-10-01", "9999-12-31", "2026-12-31"])
@pytest.mark.parametrize("zone", ["Z", "+01:00", "-01:00"])
def test_hour_24_is_refused_on_every_day(day, zone):
    """B061: newer versions of Python read it as the next midnight, and overflow on the last day."""
    assert refusal(f"{day}T24:00:00{zone}")


@pytest.mark.parametrize(
    "text",
    [
        "2016-12-31T23:59:60Z",
        "2026-06-30T23:59:60Z",
        "2026-06-30T23:59:60.5Z",
        "2026-10-01T10:00:60+02:00",
    ],
)
def test_a_leap_second_is_refused_and_not_folded_into_another(text):
    """B062."""
    assert "second" in refusal(text)


@pytest.mark.parametrize(
    ("value", "unit"),
    [
        (1_793_511_000, "seconds"),
        ("1793511000", "seconds"),
        (1_793_511_000.0, "seconds"),
        (1_793_511_000_000, "milliseconds"),
        ("1793511000000", "milliseconds"),
        (1.793511e12, "milliseconds"),
        (1_793_511_000_000_000, "microseconds"),
        ("1793511000000000000", "nanoseconds"),
    ],
)
def test_a_number_that_was_meant_as_a_time_is_told_as_that_time(value, unit):
    """B067, B069: seconds and milliseconds have been mixed up often enough; neither is taken."""
    error = no_instant(value)
    assert error.code == "invalid_run_at"
    assert error.message == (
        f"run_at looks like {unit} since 1970; send RFC 3339 text: 2026-11-01T05:30:00Z"
    )


def test_milliseconds_in_a_commands_option_are_refused_with_a_hint():
    """B069: `--at` is passed on as it was written."""
    assert "looks like milliseconds" in refusal("1587398562893")


@pytest.mark.parametrize(
    "value",
    [
        253_402_300_800,
        -1,
        0,
        5,
        True,
        None,
        math.inf,
        math.nan,
        10**4000,
        -(10**4000),
        [],
        {},
        "-1",
        "5",
        "9" * 400,
    ],
)
def test_any_other_number_is_refused_and_no_time_is_made_of_it(value):
    """B067: a huge one raised an overflow."""
    assert "send text such as" in no_instant(value).message
    if isinstance(value, str):
        assert "send text such as" in refusal(value)


def test_an_instant_sent_as_a_delay_is_told_as_one():
    with pytest.raises(InvalidInput, match=r"looks like seconds since 1970.*2026-11-01T05:30:00Z"):
        check_delay(1_793_511_000)
    with pytest.raises(InvalidInput, match=r"from 0 to 315619200$"):
        check_delay(FURTHEST // SECOND + 1)


@pytest.mark.parametrize(
    "text", ["9999-12-31T23:59:59Z", "9999-12-31T23:59:59-01:00", "9999-12-31T23:59:59.9999-23:59"]
)
def test_the_end_of_the_calendar_is_too_far_ahead_in_any_offset(text):
    """B068: the last hours overflow on conversion to UTC."""
    at = parse_instant(text)
    assert format_instant(at).startswith("9999-12-31T")
    with pytest.raises(InvalidInput, match="10 years"):
        NewTask("echo", run_at=at).due(NOW)


@pytest.mark.parametrize("zone", OFFSETS, ids=str)
@pytest.mark.parametrize("year", [1, 9999])
def test_every_datetime_of_any_zone_can_be_told(year, zone):
    """B068, by the Python client's door."""
    month, day, hour = (1, 1, 0) if year == 1 else (12, 31, 23)
    moment = datetime(year, month, day, hour, 59, 59, 999_999, zone)
    told = format_instant(from_datetime(moment))
    assert told[:4] == f"{year:04d}"
    assert format_instant(parse_instant(told)) == told


def test_a_delay_is_rounded_up_to_the_whole_second():
    """B072: 42.6 s cut to 42 shows the message early."""
    now = parse_instant("2026-10-01T12:00:03.000Z")
    due = parse_instant("2026-10-01T12:00:45.600Z")
    assert delay_seconds(due, now) == 43
    assert delay_seconds(due + 400, now) == 43
    assert delay_seconds(due + 401, now) == 44
