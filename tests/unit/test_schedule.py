"""A schedule's times, its links, and what is kept of those that fired."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import NOW

from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND, parse_instant
from minutero.domain.occurrence import Trigger
from minutero.domain.schedule import Definition, Link, Misfire, Schedule
from minutero.domain.task import first_place, read_task_id


def schedule(expression="rate(1 minute)", anchor=NOW, **said):
    return Schedule("nightly", 1, Definition("echo", expression, **said), anchor, NOW, NOW)


def at(text):
    return parse_instant(text)


# --- times


def test_a_rate_keeps_its_phase_over_ten_thousand_firings():
    made = schedule("rate(1 minute)", anchor=NOW + 17 * SECOND)
    time = NOW
    for _ in range(10_000):
        time = made.times.next(time)
    assert time == NOW + 17 * SECOND + 9_999 * MINUTE


def test_a_rate_counts_from_its_anchor_however_long_a_run_takes():
    """B073: the next run was reckoned from the end of the last."""
    anchor = at("2026-11-29T10:00:17Z")
    made = schedule("rate(5 minutes)", anchor, start_at=anchor)
    times = list(made.times.latest(anchor, anchor + 99 * 5 * MINUTE, 100))
    assert (len(times), times[0], times[-1]) == (100, anchor, at("2026-11-29T18:15:17Z"))


def test_start_and_end_are_included():
    made = schedule(
        "cron(0 9 * * ? *)", start_at=at("2026-12-01T09:00:00Z"), end_at=at("2026-12-03T09:00:00Z")
    )
    assert list(made.times.after(NOW)) == [at(f"2026-12-0{day}T09:00:00Z") for day in (1, 2, 3)]


@given(st.integers(1, 90), st.integers(0, 5_000), st.integers(1, 40), st.integers(0, 400 * 60))
def test_the_latest_times_are_the_end_of_all_times(minutes, first, most, length):
    made = schedule(f"rate({minutes} minute{'s' if minutes > 1 else ''})")
    start, end = NOW + first * SECOND, NOW + first * SECOND + length * MINUTE
    every = [time for time in range(NOW, end + 1, minutes * MINUTE) if time >= start]
    assert list(made.times.latest(start, end, most)) == every[-most:]


def test_the_latest_time_of_a_year_of_minutes_is_found_without_walking_it(monkeypatch):
    looked_at = []
    times = type(schedule().times).after

    def counted(self, instant):
        for time in times(self, instant):
            looked_at.append(time)
            yield time

    monkeypatch.setattr(type(schedule().times), "after", counted)
    assert schedule().times.latest(NOW, NOW + 365 * DAY, 1) == [NOW + 365 * DAY]
    assert len(looked_at) < 100


# --- jitter


def test_without_jitter_an_occurrence_is_due_at_its_time():
    assert schedule().due_at(NOW) == NOW


def test_jitter_is_the_same_for_the_same_occurrence_and_spreads_them():
    made = schedule("rate(1 hour)", jitter_seconds=600)
    hours = [NOW + hour * HOUR for hour in range(200)]
    jitters = [made.due_at(hour) - hour for hour in hours]
    assert jitters == [made.due_at(hour) - hour for hour in hours]
    assert all(0 <= jitter <= 600 * SECOND for jitter in jitters)
    assert min(jitters) < 60 * SECOND
    assert max(jitters) > 540 * SECOND
    assert len(set(jitters)) > 190


def test_jitter_differs_between_schedules():
    made = schedule("rate(1 hour)", jitter_seconds=3_600)
    other = replace(made, name="weekly")
    assert made.due_at(NOW) != other.due_at(NOW)


def test_jitter_never_reaches_the_next_time():
    made = schedule("rate(1 minute)", jitter_seconds=86_400)
    for minute in range(500):
        time = NOW + minute * MINUTE
        assert time <= made.due_at(time) < time + MINUTE


# --- links


def test_the_same_link_made_twice_is_the_same_task():
    made = schedule()
    assert made.link(NOW + HOUR, NOW, 8) == made.link(NOW + HOUR, NOW + 3 * MINUTE, 8)


@pytest.mark.parametrize("other", [{"version": 2}, {"name": "weekly"}, {"created_at": NOW - 1}])
def test_another_version_or_schedule_makes_another_task(other):
    made = schedule()
    ids = {one.link(NOW + HOUR, NOW, 8).task_id for one in (made, replace(made, **other))}
    assert len(ids) == 2


def test_all_tasks_of_a_schedule_lie_in_one_shard():
    made = schedule()
    links = [made.link(NOW + hour * HOUR, NOW, 8) for hour in range(50)]
    assert len({read_task_id(link.task_id)[1] for link in links}) == 1


def test_an_occurrence_that_is_late_is_due_now_and_lies_where_it_is_looked_for():
    made = schedule()
    link = made.link(NOW - HOUR, NOW, 8)
    task = made.task(link, NOW, 0)
    assert (link.run_at, task.run_at, task.place) == (NOW, NOW, first_place(link.task_id))
    assert task.occurrence.nominal == NOW - HOUR


def test_a_task_says_which_schedule_version_and_time_it_is_for():
    made = schedule(payload='"x"', overlap="queue", max_attempts=3, tenant="acme")
    task = made.task(made.link(NOW + HOUR, NOW, 8), NOW, 0)
    of = task.occurrence
    assert (of.schedule, of.version, of.nominal, of.trigger) == (
        "nightly",
        1,
        NOW + HOUR,
        "schedule",
    )
    assert (of.overlap, of.is_catch_up, of.is_a_link) == ("queue", False, True)
    assert (task.job, task.payload, task.max_attempts, task.tenant) == ("echo", '"x"', 3, "acme")


def test_a_run_now_is_no_link_and_no_catch_up():
    made = replace(schedule(), catch_up_until=NOW)
    task = made.task(made.link(NOW, NOW, 8), NOW, 0, Trigger.MANUAL)
    assert not task.occurrence.is_a_link
    assert not task.occurrence.is_catch_up


def test_an_occurrence_within_its_grace_is_no_catch_up():
    made = schedule(misfire=Misfire("all", grace_seconds=60))
    in_time = made.task(made.link(NOW - MINUTE, NOW, 8), NOW, 0)
    late = made.task(made.link(NOW - MINUTE - 1, NOW, 8), NOW, 0)
    assert not in_time.occurrence.is_catch_up
    assert late.occurrence.is_catch_up


# --- what has fired


def link(minutes, run_at=None):
    return Link(
        NOW + minutes * MINUTE, NOW + minutes * MINUTE if run_at is None else run_at, str(minutes)
    )


def test_what_fired_ahead_is_kept_and_of_what_has_come_the_last():
    made = schedule()
    for minutes in (-3, -2, -1, 1, 2):
        made = made.with_fired(link(minutes), NOW)
    assert [one.nominal for one in made.fired] == [NOW + m * MINUTE for m in (-1, 1, 2)]


def test_the_next_time_is_what_fired_ahead_of_it_before_what_is_pending():
    made = replace(schedule(), fired=(link(-1), link(1)), pending=link(2))
    assert made.next_run_at(NOW) == NOW + MINUTE
    assert made.last_run_at(NOW) == NOW - MINUTE
    assert made.next_run_at(NOW + MINUTE) == NOW + 2 * MINUTE
    assert made.last_run_at(NOW + MINUTE) == NOW + MINUTE


def test_one_that_somebody_took_is_not_the_next_time():
    made = replace(schedule(), pending=link(2)).with_fired(link(1, run_at=NOW), NOW)
    assert made.next_run_at(NOW) == NOW + 2 * MINUTE
    assert made.last_run_at(NOW) is None
