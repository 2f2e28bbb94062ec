"""What becomes of the time that is pending, by how late it is found."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from world import NOW

from minutero.domain.instants import DAY, HOUR, MINUTE
from minutero.domain.misfire import next_step
from minutero.domain.schedule import Definition, Misfire, Schedule

GRACE = 60


def schedule(policy="once", expression="rate(10 minutes)", most=100, **more):
    misfire = Misfire(policy, GRACE, most)
    return Schedule("s", 1, Definition("echo", expression, misfire=misfire, **more), NOW, NOW, NOW)


@pytest.mark.parametrize("policy", ["skip", "once", "all"])
@pytest.mark.parametrize("late", [-MINUTE, 0, 30_000, MINUTE])
def test_within_its_grace_it_fires_and_is_no_catch_up(policy, late):
    step = next_step(schedule(policy), NOW, NOW + late)
    assert (step.fires, step.is_catch_up, step.next) == (True, False, NOW + 10 * MINUTE)


def test_seventy_seconds_late_it_still_runs_by_default():
    """B076: a run 1.8 s late was dropped, for a default grace of 1 s."""
    made = replace(schedule(), definition=Definition("echo", "rate(10 minutes)"))
    assert next_step(made, NOW, NOW + 70_000).fires


@pytest.mark.parametrize("ahead", [0, HOUR])
def test_the_next_time_is_reckoned_from_the_time_and_never_from_the_clock(ahead):
    """B195: a clock an hour ahead took a job, and the slot after it was missed."""
    step = next_step(schedule("all"), NOW, NOW + ahead)
    assert (step.fires, step.next) == (True, NOW + 10 * MINUTE)


def test_skip_leaves_out_what_is_late_and_goes_on_with_what_is_not():
    step = next_step(schedule("skip"), NOW, NOW + 60 * MINUTE)
    assert (step.fires, step.skipped_to, step.next) == (False, NOW + 50 * MINUTE, NOW + 60 * MINUTE)
    step = next_step(schedule("skip"), NOW, NOW + 62 * MINUTE)
    assert (step.fires, step.skipped_to, step.next) == (False, NOW + 60 * MINUTE, NOW + 70 * MINUTE)


def test_once_leaves_out_all_that_is_due_but_the_latest():
    made = schedule("once")
    step = next_step(made, NOW, NOW + 62 * MINUTE)
    assert (step.fires, step.skipped_to, step.next) == (False, NOW + 50 * MINUTE, NOW + HOUR)
    then = next_step(
        replace(made, catch_up_until=step.catch_up_until), step.next, NOW + 75 * MINUTE
    )
    assert (then.fires, then.is_catch_up, then.next) == (True, True, NOW + 70 * MINUTE)


def test_once_with_one_late_time_runs_that():
    step = next_step(schedule("once"), NOW, NOW + 5 * MINUTE)
    assert (step.fires, step.is_catch_up, step.next) == (True, True, NOW + 10 * MINUTE)


def test_all_runs_each_up_to_its_cap():
    step = next_step(schedule("all", most=3), NOW, NOW + 62 * MINUTE)
    assert (step.fires, step.skipped_to, step.next) == (False, NOW + 30 * MINUTE, NOW + 40 * MINUTE)
    step = next_step(schedule("all", most=3), NOW + 40 * MINUTE, NOW + 62 * MINUTE)
    assert (step.fires, step.is_catch_up, step.next) == (True, True, NOW + 50 * MINUTE)


@pytest.mark.parametrize("policy", ["skip", "once", "all"])
@pytest.mark.parametrize("minutes", [101, 10_000])
def test_no_outage_ends_a_schedule(policy, minutes):
    """B080: more than a hundred missed starts stopped it for good."""
    made = schedule(policy, "rate(1 minute)")
    time, now, steps = NOW, NOW + minutes * MINUTE, 0
    while time <= now:
        step = next_step(made, time, now)
        made = replace(made, catch_up_until=max(made.catch_up_until, step.catch_up_until))
        time, steps = step.next, steps + 1
    assert time == now + MINUTE
    assert steps <= 102


def test_at_the_end_of_the_rule_there_is_no_next():
    made = schedule("skip", end_at=NOW + 30 * MINUTE)
    step = next_step(made, NOW, NOW + DAY)
    assert (step.fires, step.skipped_to, step.next) == (False, NOW + 30 * MINUTE, None)
    assert next_step(made, NOW + 30 * MINUTE, NOW).next is None


def test_a_time_its_rule_does_not_name_any_more_is_not_in_the_way():
    """The rules of a zone change."""
    made = schedule("once", "cron(0 9 * * ? *)")
    step = next_step(made, NOW, NOW + HOUR)
    assert step.fires or step.next is not None


@given(st.sampled_from(["skip", "once", "all"]), st.integers(0, 400), st.integers(1, 20))
def test_every_time_fires_or_is_left_out_and_none_twice(policy, minutes, most):
    made = schedule(policy, "rate(1 minute)", most=most)
    now, time = NOW + minutes * MINUTE + 7_000, NOW
    fired, left_out = [], []
    while time <= now:
        step = next_step(made, time, now)
        if step.fires:
            fired.append(time)
        else:
            assert time <= step.skipped_to < step.next
            left_out += range(time, step.skipped_to + 1, MINUTE)
        made = replace(made, catch_up_until=max(made.catch_up_until, step.catch_up_until))
        time = step.next
    assert sorted(fired + left_out) == list(range(NOW, now + 1, MINUTE))
    in_time = 2
    assert len(fired) <= {"skip": in_time, "once": in_time, "all": most + in_time}[policy]
    if minutes > in_time:
        assert len(fired) == {"skip": 1, "once": 1, "all": min(most, minutes + 1)}[policy]
