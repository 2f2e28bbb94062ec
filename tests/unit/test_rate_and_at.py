"""`rate(...)` counts elapsed time from its anchor; `at(...)` is one time of a clock."""

from datetime import UTC, datetime, timedelta
from itertools import islice

import pytest
from hypothesis import strategies as st
from properties import given

import minutero
from minutero.domain.expression import LONGEST, first_fire_time, read_rule
from minutero.domain.instants import DAY, HOUR, MINUTE, parse_instant
from minutero.domain.wall_clock import END

NOW = parse_instant("2026-11-29T20:21:17.250Z")


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("rate(1 minute)", MINUTE),
        ("rate(1 minutes)", MINUTE),  # B025
        ("rate(1 hour)", HOUR),
        ("rate(1 hours)", HOUR),
        ("rate(5 hours)", 5 * HOUR),
        ("rate(1 day)", DAY),
        ("rate(30 days)", 30 * DAY),
        ("rate(05 minutes)", 5 * MINUTE),
    ],
)
def test_a_rate_is_minutes_hours_or_days_of_24_hours(text, period):
    assert next(read_rule(text, "UTC", NOW).fire_times(NOW)) == NOW + period


@pytest.mark.parametrize(
    "text",
    ["rate(5 hour)", "rate(0 minutes)", "rate(00 days)", "rate(-1 days)", "rate(+1 day)", "rate(1  day)",
     "rate(1\tday)", "rate(1day)", "rate(1 Day)", "rate(1 week)", "rate(1 second)", "rate(1,5 hours)",
     "rate(1e3 days)", "rate(٣ days)", "rate(1 day) ", "rate(1 day)\n", "Rate(1 day)", "rate (1 day)",
     "rate(1 day", "rate 1 day", "rate(1 day))"],
)  # fmt: skip
def test_any_other_rate_is_refused(text):
    with pytest.raises(minutero.InvalidSchedule):
        read_rule(text, "UTC", NOW)


def test_a_rate_never_drifts():
    """B073: run 100 is due 99 periods after the anchor, however long the others took."""
    anchor = parse_instant("2026-10-01T10:00:17Z")
    rule = read_rule("rate(5 minutes)", "UTC", anchor)
    at = anchor
    for run in range(100):
        took_40_seconds = at + 40_000
        at = next(rule.fire_times(took_40_seconds if run else anchor - 1))
    assert at == parse_instant("2026-10-01T18:15:17Z") == anchor + 99 * 5 * MINUTE


def test_a_rate_of_a_minute_keeps_its_phase_over_ten_thousand_firings():
    rule = read_rule("rate(1 minute)", "America/New_York", NOW)
    assert list(islice(rule.fire_times(NOW), 10_000)) == [
        NOW + n * MINUTE for n in range(1, 10_001)
    ]


@given(
    st.integers(1, 10_000),
    st.sampled_from(["minutes", "hours", "days"]),
    st.integers(0, END - 1),
    st.integers(-END, END),
)
def test_a_rate_fires_at_its_anchor_and_at_each_period_after_it_and_at_nothing_else(
    number, unit, anchor, after
):
    rule = read_rule(f"rate({number} {unit})", "UTC", anchor)
    period = number * {"minutes": MINUTE, "hours": HOUR, "days": DAY}[unit]
    found = list(islice(rule.fire_times(after), 3))
    assert found == sorted(set(found))
    assert all(one > after and one >= anchor and (one - anchor) % period == 0 for one in found)
    if found:  # and none before the first is left out
        assert found[0] == anchor or found[0] - period <= after
    else:
        assert max(after + period, anchor) >= END - period


@pytest.mark.parametrize("text", ["rate(999999999 days)", f"rate({'9' * 240} minutes)"])
def test_a_rate_longer_than_the_calendar_never_fires(text):
    rule = read_rule(text, "UTC", NOW)
    assert list(rule.fire_times(NOW)) == []
    with pytest.raises(minutero.InvalidSchedule, match="never fires"):
        first_fire_time(rule, NOW)


def test_a_rate_runs_on_through_every_change_of_the_clock():
    """B046."""
    start = datetime(2026, 11, 1, 5, 20, tzinfo=UTC)
    found = minutero.fire_times("rate(15 minutes)", "America/New_York", start, 200)
    assert found == [start + n * timedelta(minutes=15) for n in range(1, 201)]


@pytest.mark.parametrize(
    "text",
    ["at(2026-10-01T10:00:00Z)", "at(2026-10-01T10:00:00+01:00)", "at(2026-10-01 10:00:00)",
     "at(2026-10-01T10:00)", "at(2026-10-01)", "at(20261001T100000)", "at(2026-10-01T10:00:00.5)",
     "at(2026-W40-4T10:00:00)", "at(2026-13-01T10:00:00)", "at(2026-10-01T10:00:60)", "at()", "at( )",
     "at(1969-12-31T23:59:59)", "at(2200-01-01T00:00:00)", "at(0000-01-01T00:00:00)",
     "at(٢٠٢٦-10-01T10:00:00)", "At(2026-10-01T10:00:00)", "at(2026-10-01T10:00:00", "at(now)"],
)  # fmt: skip
def test_any_other_at_is_refused(text):
    with pytest.raises(minutero.InvalidSchedule):
        read_rule(text, "UTC", NOW)


def test_an_at_in_a_gap_is_refused_with_the_first_time_after_it_whatever_the_policy():
    with pytest.raises(minutero.InvalidSchedule, match=r"write at\(2026-03-08T03:00:00\)"):
        read_rule("at(2026-03-08T02:30:00)", "America/New_York", NOW, on_gap="next")


def test_an_at_in_an_overlap_is_its_first_instant_whatever_the_policy():
    rule = read_rule("at(2026-11-01T01:30:00)", "America/New_York", NOW, on_overlap="both")
    assert list(rule.fire_times(0)) == [parse_instant("2026-11-01T05:30:00Z")]


def test_an_at_that_is_past_is_refused_where_it_is_to_be_created():
    with pytest.raises(minutero.InvalidSchedule, match="its time is over"):
        first_fire_time(read_rule("at(2026-11-29T20:21:17)", "UTC", NOW), NOW)


def test_an_expression_has_at_most_256_characters():
    longest = f"cron({'0,' * 119}00 1 * * ? *)"
    assert len(longest) == LONGEST
    read_rule(longest, "UTC", NOW)
    with pytest.raises(minutero.InvalidSchedule, match="at most 256"):
        read_rule(longest.replace("cron(", "cron(0"), "UTC", NOW)
