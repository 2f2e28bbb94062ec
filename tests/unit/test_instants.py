from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import strategies as st
from properties import given

from minutero.domain.instants import format_instant, from_datetime, parse_instant
from minutero.errors import InvalidInput

FIRST = int(datetime(1, 1, 2, tzinfo=UTC).timestamp()) * 1000
LAST = int(datetime(9999, 12, 30, tzinfo=UTC).timestamp()) * 1000


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01T00:00:00Z", 0),
        ("1969-12-31T23:59:59Z", -1000),
        ("2026-12-01T09:00:00Z", 1_796_115_600_000),
        ("2026-12-01T03:00:00-06:00", 1_796_115_600_000),
        ("2026-12-01T14:45:00+05:45", 1_796_115_600_000),
        ("2026-12-01T09:00:00-00:00", 1_796_115_600_000),
        ("2026-12-01t09:00:00z", 1_796_115_600_000),
        ("2024-02-29T00:00:00Z", 1_709_164_800_000),
        ("2026-12-01T09:00:00.5Z", 1_796_115_600_500),
        ("2026-12-01T09:00:00.123Z", 1_796_115_600_123),
    ],
)
def test_an_rfc_3339_time_is_read_as_milliseconds(text, ms):
    assert parse_instant(text) == ms


@pytest.mark.parametrize(
    ("fraction", "ms"),
    [
        ("000000001", 1),
        ("001000000", 1),
        ("001000001", 2),
        ("1230", 123),
        ("1231", 124),
        ("999000001", 1000),
        ("999999999", 1000),
    ],
)
def test_a_fraction_finer_than_a_millisecond_is_rounded_up_and_never_early(fraction, ms):
    assert parse_instant(f"1970-01-01T00:00:00.{fraction}Z") == ms


def test_a_fraction_before_1970_is_rounded_up_as_well():
    assert parse_instant("1969-12-31T23:59:58.0001Z") == -1999


@pytest.mark.parametrize(
    "text",
    [
        "",
        "tomorrow",
        "2026-12-01",
        "2026-12-01T09:00:00",  # no zone
        "2026-12-01T09:00Z",
        "2026-12-01 09:00:00Z",
        "2026-12-01T09:00:00 Z",
        "2026-12-01T09:00:00Z\n",
        " 2026-12-01T09:00:00Z",
        "2026-12-01T09:00:00.Z",
        "2026-12-01T09:00:00.1234567890Z",
        "2026-12-01T09:00:00,5Z",
        "2026-12-01T09:00:00+0600",
        "2026-12-01T09:00:00+06",
        "2026-12-01T09:00:00+06:00:00",
        "20261201T090000Z",
        "12026-12-01T09:00:00Z",
        "٢٠٢٦-12-01T09:00:00Z",
        "2026-W49-2T09:00:00Z",
        "1796115600000",
    ],
)
def test_what_is_not_an_rfc_3339_time_with_a_zone_is_refused(text):
    with pytest.raises(InvalidInput) as refused:
        parse_instant(text)
    assert refused.value.code == "invalid_run_at"
    assert refused.value.field == "run_at"
    assert "2026-12-01T09:00:00Z" in refused.value.message


@pytest.mark.parametrize(
    "text",
    [
        "2026-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "2026-12-01T24:00:00Z",
        "2026-12-01T09:60:00Z",
        "2016-12-31T23:59:60Z",  # a leap second that did exist
        "2026-12-01T09:00:00+24:00",
        "2026-12-01T09:00:00+01:60",
        "2026-12-01T09:00:00-01:99",
    ],
)
def test_a_time_that_does_not_exist_is_refused(text):
    with pytest.raises(InvalidInput) as refused:
        parse_instant(text)
    assert refused.value.code == "invalid_run_at"


def test_an_error_names_the_field_it_is_about():
    with pytest.raises(InvalidInput) as refused:
        parse_instant("soon", "start_at")
    assert (refused.value.code, refused.value.field) == ("invalid_start_at", "start_at")


@pytest.mark.parametrize(
    "text", ["9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00+23:59"]
)
def test_the_ends_of_the_calendar_are_read_whatever_their_offset(text):
    assert isinstance(parse_instant(text), int)


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (1, "1970-01-01T00:00:00.001Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (1_796_115_600_000, "2026-12-01T09:00:00Z"),
        (1_796_115_600_120, "2026-12-01T09:00:00.120Z"),
    ],
)
def test_an_answer_shows_milliseconds_only_where_there_are_some(ms, text):
    assert format_instant(ms) == text


@given(st.integers(FIRST, LAST))
def test_what_is_told_is_read_back_as_the_same_instant(ms):
    assert parse_instant(format_instant(ms)) == ms


@given(
    st.integers(FIRST, LAST), st.integers(-23 * 60 - 59, 23 * 60 + 59), st.integers(0, 999_999_999)
)
def test_an_instant_is_the_same_in_every_offset_and_never_before_its_fraction(ms, offset, nanos):
    seconds = ms // 1000
    zone = timezone(timedelta(minutes=offset))
    local = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)).astimezone(zone)
    sign = "-" if offset < 0 else "+"
    hours, minutes = divmod(abs(offset), 60)
    text = f"{local.replace(tzinfo=None).isoformat()}.{nanos:09d}{sign}{hours:02d}:{minutes:02d}"
    rest = parse_instant(text) - seconds * 1000
    assert rest * 1_000_000 - nanos in range(1_000_000)


def test_an_aware_datetime_is_rounded_up_to_the_millisecond():
    moment = datetime(1970, 1, 1, 0, 0, 0, 1, tzinfo=UTC)
    assert from_datetime(moment) == 1
    assert from_datetime(moment.replace(microsecond=1000)) == 1
    assert from_datetime(moment.replace(microsecond=1001)) == 2
    assert from_datetime(datetime(1970, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))) == 0


def test_a_naive_datetime_is_refused():
    with pytest.raises(InvalidInput, match="tzinfo=UTC"):
        from_datetime(datetime(2026, 12, 1))  # noqa: DTZ001 - that is the point
