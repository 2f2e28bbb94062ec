"""EventBridge's dialect: what each field takes, and which days it names."""

import re
from datetime import UTC, date, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import strategies as st
from minute_walk import DAYS
from properties import given

import minutero
from minutero.domain.cron import read_cron
from minutero.domain.cron_fields import DAY_OF_MONTH, DAY_OF_WEEK, HOURS, MINUTES, MONTH, YEAR
from minutero.domain.instants import DAY
from minutero.domain.wall_clock import format_wall

WALL_2026 = 20_454 * DAY
"""2026-01-01T00:00 on any wall."""


def walls(fields, count=5, start=WALL_2026):
    return [format_wall(wall)[:16] for wall in islice(read_cron(fields).walls(start), count)]


def dates(fields, count=5, start=WALL_2026):
    return [wall[:10] for wall in walls(fields, count, start)]


@pytest.mark.parametrize(
    ("field", "text", "values"),
    [
        (MINUTES, "*", tuple(range(60))),
        (MINUTES, "7", (7,)),
        (MINUTES, "05", (5,)),
        (MINUTES, "5,35,5", (5, 35)),
        (MINUTES, "58-2", (0, 1, 2, 58, 59)),
        (MINUTES, "55-10/5", (0, 5, 10, 55)),
        (MINUTES, "0-29/5", (0, 5, 10, 15, 20, 25)),  # B011
        (MINUTES, "50/4", (50, 54, 58)),
        (MINUTES, "*/40", (0, 40)),
        (MINUTES, "59/59", (59,)),
        (MINUTES, "0/30,10-12,7", (0, 7, 10, 11, 12, 30)),
        (HOURS, "22-2", (0, 1, 2, 22, 23)),
        (DAY_OF_MONTH, "*/10", (1, 11, 21, 31)),
        (DAY_OF_MONTH, "30-2", (1, 2, 30, 31)),
        (MONTH, "jan,Jul", (1, 7)),  # B008
        (MONTH, "NOV-FEB", (1, 2, 11, 12)),
        (MONTH, "1-12/3", (1, 4, 7, 10)),
        (MONTH, "feb/3", (2, 5, 8, 11)),
        (DAY_OF_WEEK, "MON-FRI", (2, 3, 4, 5, 6)),
        (DAY_OF_WEEK, "fri-Mon", (1, 2, 6, 7)),
        (DAY_OF_WEEK, "2-FRI/2", (2, 4, 6)),
        (DAY_OF_WEEK, "*/2", (1, 3, 5, 7)),
        (YEAR, "2026/50", (2026, 2076, 2126, 2176)),
        (YEAR, "2030,2027-2028", (2027, 2028, 2030)),
        (YEAR, "1970/229", (1970, 2199)),
    ],
)
def test_a_field_takes_values_ranges_steps_lists_and_names(field, text, values):
    assert field.read(text) == values


@pytest.mark.parametrize(
    ("field", "text"),
    [
        *(
            (MINUTES, text)
            for text in ("60", "-1", "1-", "-", "", ",", "1,,2", "1,", "?", "L", "1.5")
        ),
        *(
            (MINUTES, text)
            for text in ("*/0", "0/60", "0/90", "*-5", "**", "5*", "/5", "1-2-3", "a")
        ),
        *(
            (MINUTES, text)
            for text in ("1 2", "+5", "1_0", "0x1", "00005", "9" * 300, "1/" + "9" * 300)
        ),
        *((HOURS, text) for text in ("24", "0/24", "MON", "*/24")),
        *((DAY_OF_MONTH, text) for text in ("0", "32", "0/5", "1/32")),
        *((MONTH, text) for text in ("0", "13", "JANUARY", "JA", "MON")),
        *((DAY_OF_WEEK, text) for text in ("0", "8", "MONDAY", "0-4", "JAN", "*/8")),
        *((YEAR, text) for text in ("1969", "2200", "2030-2027", "26")),
    ],
)
def test_a_field_refuses_what_is_outside_it_and_names_itself(field, text):
    with pytest.raises(minutero.InvalidSchedule, match=f"^{field.name} has '"):
        field.read(text)


@pytest.mark.parametrize(
    "text",
    ["2W,16", "15,L", "L,L", "W", "0W", "32W", "WL", "L-0", "L-31", "L-", "LW-1", "L/2", "L-3-2"],
)
def test_l_and_w_stand_alone_in_day_of_month(text):
    """B015."""
    with pytest.raises(minutero.InvalidSchedule, match=r"^day-of-month has '"):
        read_cron(f"15 10 {text} * ? *")


@pytest.mark.parametrize(
    "text", ["1,L", "6L,2L", "0L", "8L", "L-3", "LW", "MON#", "#2", "2#0", "2#6", "2#10", "MON#2,FRI",
             "MON-FRI#2", "MON-FRIL", "L#2", "2#1#1", "*L"],
)  # fmt: skip
def test_l_and_the_number_sign_stand_alone_in_day_of_week(text):
    with pytest.raises(minutero.InvalidSchedule, match=r"^day-of-week has '"):
        read_cron(f"15 10 ? * {text} *")


@pytest.mark.parametrize("text", ["l", "lw", "15w", "l-3", "L-3W"])
def test_letters_of_either_case_are_taken_in_day_of_month(text):
    assert walls(f"0 0 {text} * ? *") == walls(f"0 0 {text.upper()} * ? *")


@pytest.mark.parametrize("text", ["l", "6l", "fril", "fri#2"])
def test_letters_of_either_case_are_taken_in_day_of_week(text):
    assert walls(f"0 0 ? * {text} *") == walls(f"0 0 ? * {text.upper()} *")


def test_the_last_weekday_of_a_month():
    """B008."""
    expected = ["2026-01-30", "2026-02-27", "2026-03-31", "2026-04-30", "2026-05-29"]
    assert dates("0 9 LW * ? *") == expected


def test_days_counted_back_from_the_last():
    assert dates("0 9 L-2 * ? *", 3) == ["2026-01-29", "2026-02-26", "2026-03-29"]
    assert dates("0 9 L-30 * ? *", 3) == ["2026-01-01", "2026-03-01", "2026-05-01"]


def test_a_weekday_nearest_to_a_day_does_not_leave_its_month():
    # 1 August 2026 and 31 October 2026 are Saturdays, 31 May 2026 and 1 November 2026 Sundays.
    assert dates("0 9 1W 8,11 ? 2026") == ["2026-08-03", "2026-11-02"]
    assert dates("0 9 31W 5,10 ? 2026") == ["2026-05-29", "2026-10-30"]
    assert dates("0 9 30W 2 ? *", 1) == []


def test_29_february_comes_in_leap_years_alone_and_not_in_2100():
    """B020, B023."""
    start = 46_000 * DAY  # in 2095
    assert dates("0 0 29 2 ? *", 3, start) == ["2096-02-29", "2104-02-29", "2108-02-29"]
    assert dates("0 0 ? 2 1#5 *", 3) == ["2032-02-29", "2060-02-29", "2088-02-29"]


def test_the_year_may_be_left_out():
    assert walls("0 10 * * ?") == walls("0 10 * * ? *")


def test_fields_may_stand_further_apart():
    assert walls("0  10\t* *   ? *") == walls("0 10 * * ? *")


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ("", "six fields, or five without the year, and not 0"),
        ("INVALID", "not 1"),
        ("0 0 10 * * ? *", "seven fields; seconds"),
        ("0 0 0 10 * * ? *", "not 8"),
        (" 0 10 * * ? *", "beside a bracket"),
        ("0 10 * * ? * ", "beside a bracket"),
        ("0 10 * * ? *\n", "year has"),
        ("0 10 ? * ? *", "both '?'"),
        ("0 2 29 2 1 *", "both given"),  # B023
        ("0 2 * * * *", "both given"),
        ("* ? * * ? *", "hours has '?'; only one of the two day fields"),  # B005
        ("0 18 ? * MON-FRI ?", "year has '?'"),  # B006
        ("0 18 ? * MON-FRI L", "year has 'L'"),
    ],
)
def test_a_refusal_names_the_rule(fields, rule):
    with pytest.raises(minutero.InvalidSchedule, match=re.escape(rule)):
        read_cron(fields)


@given(DAYS)
def test_the_days_named_in_two_years_are_those_that_hold_looked_at_one_by_one(days):
    day, weekday = days
    first = datetime(2027, 1, 1, tzinfo=UTC)
    looked_at = [first + timedelta(days=n) for n in range(2 * 365 + 1)]
    expected = [f"{one:%Y-%m-%d}" for one in looked_at if day.holds(one) and weekday.holds(one)]
    assert dates(f"0 0 {day} * {weekday} 2027-2028", len(looked_at)) == expected


@pytest.mark.parametrize(
    "fields", ["0 0 30 2 ? *", "0 0 31 2,4,6,9,11 ? *", "0 0 31W 4 ? *", "* * L-30 2,4 ? *"]
)
def test_a_day_no_month_has_ends_the_search_after_one_look_at_each_month(fields):
    """B018, B019."""
    cron = read_cron(fields)
    looks = []

    def days(year, month):
        looks.append((year, month))
        return cron.days(year, month)

    counting = type(cron)(cron.minutes, cron.hours, days, cron.months, cron.years, cron.every_hour)
    assert list(counting.walls(0)) == []
    assert len(looks) == len(set(looks)) == len(cron.months) * len(cron.years)


def test_a_far_rule_is_found_without_looking_at_the_days_between():
    cron = read_cron("59 23 31 12 ? 2199")
    assert [format_wall(wall) for wall in cron.walls(WALL_2026)] == ["2199-12-31T23:59:00"]
    assert cron.years == (2199,)


@given(st.dates(date(1970, 1, 1), date(2199, 12, 31)), st.integers(0, 24 * 60 - 1))
def test_every_wall_time_of_the_calendar_can_be_named_and_is_found_from_itself(day, minute):
    hour, rest = divmod(minute, 60)
    start = (day - date(1970, 1, 1)).days * DAY + minute * 60_000
    fields = f"{rest} {hour} {day.day} {day.month} ? {day.year}"
    assert list(read_cron(fields).walls(start)) == [start]
    assert list(read_cron(fields).walls(start + 1)) == []
