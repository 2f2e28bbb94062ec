"""Cron expressions across changes of the clock, held against a walk over every minute."""

from datetime import UTC, datetime, timedelta
from itertools import takewhile

import pytest
from hypothesis import strategies as st
from minute_walk import DAYS, EVERY_DAY, crons, utc, walk
from properties import given

import minutero
from minutero.domain.expression import next_in_gap, read_rule
from minutero.domain.instants import format_instant, parse_instant
from minutero.domain.wall_clock import format_wall

CHANGES = [
    ("America/Mexico_City", "2022-04-03T08:00"),  # the last two before Mexico gave it up
    ("America/Mexico_City", "2022-10-30T07:00"),
    ("America/Mexico_City", "2027-04-04T08:00"),  # and none any more
    ("America/New_York", "2026-03-08T07:00"),
    ("America/New_York", "2026-11-01T06:00"),
    ("Europe/Berlin", "2026-03-29T01:00"),
    ("Europe/Berlin", "2026-10-25T01:00"),
    ("Australia/Lord_Howe", "2026-04-04T15:00"),  # half an hour
    ("Australia/Lord_Howe", "2026-10-03T15:30"),
    ("Africa/Casablanca", "2026-02-15T02:00"),  # for Ramadan, backwards
    ("Africa/Casablanca", "2026-03-22T02:00"),
    ("Asia/Gaza", "2026-03-28T00:00"),
    ("Asia/Gaza", "2026-10-24T00:00"),
    ("Pacific/Apia", "2011-12-30T10:00"),  # a whole day is left out
    ("America/Sao_Paulo", "2018-11-04T03:00"),  # midnight is left out
    ("America/Havana", "2025-11-02T05:00"),  # midnight comes twice
    ("Antarctica/Troll", "2026-10-25T01:00"),  # two hours
    ("Asia/Kathmandu", "2026-10-25T00:00"),
    ("UTC", "2026-12-31T23:59"),
]
POLICIES = st.fixed_dictionaries(
    {"on_gap": st.sampled_from(["skip", "next"]), "on_overlap": st.sampled_from(["first", "both"])}
)
STARTS = st.timedeltas(timedelta(hours=-40), timedelta(hours=30))


def search(cron, timezone, start, end, **policies):
    """What `walk` finds, found by the rule."""
    rule = read_rule(cron.text, timezone, 0, **policies)
    until = parse_instant(end.isoformat())
    found = takewhile(lambda one: one <= until, rule.fire_times(parse_instant(start.isoformat())))
    return [datetime.fromtimestamp(one / 1000, UTC) for one in found]


@given(crons(EVERY_DAY), st.sampled_from(CHANGES), STARTS, POLICIES)
def test_the_search_finds_what_a_walk_over_every_minute_finds(cron, change, offset, policies):
    timezone, around = change
    start = utc(around) + offset
    end = start + timedelta(hours=40)
    found = search(cron, timezone, start, end, **policies)
    assert found == walk(cron, timezone, start, end, **policies)


@given(crons(DAYS), st.sampled_from(CHANGES), STARTS, POLICIES)
def test_so_it_does_where_only_some_days_are_named(cron, change, offset, policies):
    timezone, around = change
    start = utc(around) + offset - timedelta(days=1)
    end = start + timedelta(days=3)
    found = search(cron, timezone, start, end, **policies)
    assert found == walk(cron, timezone, start, end, **policies)


@given(crons(), st.sampled_from(CHANGES), STARTS, POLICIES)
def test_fire_times_ascend_come_after_and_are_the_same_asked_one_at_a_time(
    cron, change, offset, policies
):
    timezone, around = change
    start = utc(around) + offset
    found = minutero.fire_times(cron.text, timezone, start, 12, **policies)
    assert found == sorted(set(found))
    at = start
    for one in found:
        assert one > at
        assert minutero.fire_times(cron.text, timezone, at, 1, **policies) == [one]
        at = one


@given(crons(), st.sampled_from(CHANGES), STARTS)
def test_each_policy_only_adds_to_the_default(cron, change, offset):
    timezone, around = change
    span = utc(around) + offset, utc(around) + offset + timedelta(days=2)
    default = set(search(cron, timezone, *span))
    assert default <= set(search(cron, timezone, *span, on_gap="next"))
    assert default <= set(search(cron, timezone, *span, on_overlap="both"))


def times(expression, timezone, after, count=5, **policies):
    found = minutero.fire_times(expression, timezone, utc(after), count, **policies)
    return [one.strftime("%Y-%m-%dT%H:%MZ") for one in found]


def test_with_next_a_time_in_a_gap_fires_at_the_first_instant_after_it():
    assert times("cron(30 2 * * ? *)", "America/New_York", "2026-03-08", 2, on_gap="next") == [
        "2026-03-08T07:00Z",
        "2026-03-09T06:30Z",
    ]


def test_times_in_one_gap_fire_once_and_not_again_with_the_time_at_its_end():
    assert times("cron(0/15 2,3 * * ? *)", "America/New_York", "2026-03-08", 5, on_gap="next") == [
        f"2026-03-08T{time}Z" for time in ("07:00", "07:15", "07:30", "07:45")
    ] + ["2026-03-09T06:00Z"]


def test_a_day_that_a_zone_leaves_out_is_made_up_for_at_the_start_of_the_next():
    """30 December 2011 does not exist in Samoa."""
    assert times("cron(0 12 30 12 ? *)", "Pacific/Apia", "2011-12-01", 2, on_gap="next") == [
        "2011-12-30T10:00Z",
        "2012-12-29T22:00Z",
    ]


def test_with_both_a_time_that_comes_twice_fires_twice_in_the_order_of_the_instants():
    assert times(
        "cron(0,30 1 * * ? *)", "America/New_York", "2026-11-01", 5, on_overlap="both"
    ) == [
        "2026-11-01T05:00Z",
        "2026-11-01T05:30Z",
        "2026-11-01T06:00Z",
        "2026-11-01T06:30Z",
        "2026-11-02T06:00Z",
    ]


@pytest.mark.parametrize("policies", [{}, {"on_gap": "next", "on_overlap": "both"}])
def test_an_hour_field_of_a_star_runs_by_elapsed_time_whatever_the_policies(policies):
    """B032."""
    assert times("cron(0/30 * * * ? *)", "America/New_York", "2026-03-08T06:00", 4, **policies) == [
        "2026-03-08T06:30Z",
        "2026-03-08T07:00Z",
        "2026-03-08T07:30Z",
        "2026-03-08T08:00Z",
    ]
    assert times("cron(0/15 * * * ? *)", "America/New_York", "2026-11-01T05:20", 7, **policies) == [
        f"2026-11-01T{time}Z"
        for time in ("05:30", "05:45", "06:00", "06:15", "06:30", "06:45", "07:00")
    ]


@pytest.mark.parametrize("hours", ["0-23", "*/1", "0/1"])
def test_every_hour_written_out_is_wall_time_and_pauses_in_the_repeated_hour(hours):
    assert times(f"cron(0 {hours} * * ? *)", "America/New_York", "2026-11-01T04:30", 3) == [
        "2026-11-01T05:00Z",
        "2026-11-01T07:00Z",
        "2026-11-01T08:00Z",
    ]


def test_a_step_of_minutes_within_some_hours_is_wall_time():
    assert times("cron(*/30 1-3 * * ? *)", "America/New_York", "2026-03-08T06:10", 5) == [
        "2026-03-08T06:30Z",
        "2026-03-08T07:00Z",
        "2026-03-08T07:30Z",
        "2026-03-09T05:00Z",
        "2026-03-09T05:30Z",
    ]
    assert times("cron(*/30 1-3 * * ? *)", "America/New_York", "2026-11-01T04:10", 5) == [
        "2026-11-01T05:00Z",
        "2026-11-01T05:30Z",
        "2026-11-01T07:00Z",
        "2026-11-01T07:30Z",
        "2026-11-01T08:00Z",
    ]


@pytest.mark.parametrize(
    ("expression", "timezone", "after", "expected"),
    [
        ("cron(0 0 1 * ? *)", "Europe/Berlin", "2024-02-29T23:00", "2024-03-31T22:00Z"),  # B036
        ("cron(0 0 ? * MON-FRI *)", "US/Central", "2021-03-12T06:00", "2021-03-15T05:00Z"),  # B040
        (
            "cron(0 1 4 11 ? *)",
            "America/Sao_Paulo",
            "2018-11-03T12:00",
            "2018-11-04T03:00Z",
        ),  # B042
        (
            "cron(0 8 * * ? *)",
            "America/Mexico_City",
            "2023-04-02T00:00",
            "2023-04-02T14:00Z",
        ),  # B051
    ],
)
def test_a_day_is_a_date_and_not_24_hours(expression, timezone, after, expected):
    assert times(expression, timezone, after, 1) == [expected]


def test_two_hourly_in_london_does_not_come_back_to_the_repeated_hour():
    """B041."""
    assert times("cron(0 1/2 * * ? *)", "Europe/London", "2024-10-26T22:00", 3) == [
        "2024-10-27T00:00Z",
        "2024-10-27T03:00Z",
        "2024-10-27T05:00Z",
    ]


# --- what a gap takes away


def lost(expression, timezone, after):
    found = next_in_gap(read_rule(expression, timezone, 0), parse_instant(f"{after}Z"))
    return found and (format_wall(found.wall), format_instant(found.instant))


def test_the_next_time_that_does_not_exist_is_told_with_the_instant_after_its_gap():
    """B044, B045."""
    assert lost("cron(0 2 * * ? *)", "America/Los_Angeles", "2025-01-01T00:00:00") == (
        "2025-03-09T02:00:00",
        "2025-03-09T10:00:00Z",
    )


@pytest.mark.parametrize(
    ("expression", "timezone"),
    [
        ("cron(0 3 * * ? *)", "America/Los_Angeles"),  # the first that exists again
        ("cron(59 1 * * ? *)", "America/Los_Angeles"),
        ("cron(30 2 ? * MON *)", "America/Los_Angeles"),  # the clock is changed on Sundays
        ("cron(30 * * * ? *)", "America/Los_Angeles"),  # by elapsed time
        ("cron(30 2 * * ? *)", "America/Mexico_City"),  # no changes any more
        ("cron(30 2 * * ? *)", "UTC"),
        ("rate(1 hour)", "America/Los_Angeles"),
        ("at(2026-12-01T02:30:00)", "America/Los_Angeles"),
    ],
)
def test_nothing_is_told_where_no_time_is_lost(expression, timezone):
    assert lost(expression, timezone, "2026-01-01T00:00:00") is None


@given(crons(), st.sampled_from(CHANGES))
def test_what_is_told_as_lost_is_what_next_fires_and_skip_does_not(cron, change):
    timezone, around = change
    start, end = utc(around) - timedelta(days=1), utc(around) + timedelta(days=2)
    rule = read_rule(cron.text, timezone, 0)
    lost = rule.in_gaps(parse_instant(start.isoformat()), parse_instant(end.isoformat()))
    instants = {datetime.fromtimestamp(one.instant / 1000, UTC) for one in lost}
    skipped = set(search(cron, timezone, start, end))
    assert set(search(cron, timezone, start, end, on_gap="next")) == skipped | instants
