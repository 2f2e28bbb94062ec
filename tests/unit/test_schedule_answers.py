"""What is told about schedules: their state, their coming times, what became of the others."""

from dataclasses import replace

import pytest
from world import NOW, World

from minutero.domain.coming import coming_times
from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND, format_instant, parse_instant
from minutero.domain.schedule import Definition, Link, Misfire
from minutero.http.schedule_answers import (
    explain_answer,
    listed_schedule_answer,
    next_answer,
    put_answer,
    schedule_answer,
)


def put(world, expression="rate(1 minute)", *, enabled=None, **said):
    return world.put_schedule("s", Definition("echo", expression, **said), enabled=enabled)


def told(world):
    return schedule_answer(world.schedules.get("s"), world.clock.now())


def test_a_schedule_is_told_whole(world):
    put(
        world,
        "cron(0 18 ? * FRI *)",
        timezone="America/Mexico_City",
        payload='{"a":[1]}',
        start_at=NOW,
        end_at=NOW + 365 * DAY,
        tenant="acme",
    )
    assert told(world) == {
        "name": "s",
        "job": "echo",
        "payload": {"a": [1]},
        "expression": "cron(0 18 ? * FRI *)",
        "timezone": "America/Mexico_City",
        "start_at": "2026-11-29T20:21:00Z",
        "end_at": "2027-11-29T20:21:00Z",
        "jitter_seconds": 0,
        "on_gap": "skip",
        "on_overlap": "first",
        "misfire": {"policy": "once", "grace_seconds": 300, "max_catch_up": 100},
        "overlap": "allow",
        "enabled": True,
        "max_attempts": 5,
        "tenant": "acme",
        "paused_reason": None,
        "version": 1,
        "next_run_at": "2026-12-05T00:00:00Z",
        "last_run_at": None,
        "finished": False,
        "created_at": "2026-11-29T20:21:00Z",
        "changed_at": "2026-11-29T20:21:00Z",
    }


def test_in_a_list_it_is_the_same_without_its_payload(world):
    schedule = put(world, payload="{}").schedule
    whole = schedule_answer(schedule, NOW)
    assert whole.pop("payload") == {}
    assert listed_schedule_answer(schedule, NOW) == whole


def test_the_times_around_now_are_the_last_that_came_and_the_next(world):
    put(world)
    world.play(2)
    assert (told(world)["last_run_at"], told(world)["next_run_at"]) == (
        format_instant(world.clock.now()),
        format_instant(world.clock.now() + MINUTE),
    )


def test_a_paused_schedule_has_a_reason_and_no_next_time_and_is_not_finished(world):
    put(world)
    world.pause_schedule.pause("s", "holidays")
    found = told(world)
    assert (found["enabled"], found["paused_reason"]) == (False, "holidays")
    assert (found["next_run_at"], found["finished"]) == (None, False)


def test_a_schedule_whose_rule_has_ended_is_finished_once_its_last_time_has_come(world):
    put(world, "at(2026-11-29T20:22:00)")
    assert not told(world)["finished"]
    world.play(2)
    found = told(world)
    assert (found["finished"], found["enabled"], found["next_run_at"]) == (True, True, None)
    assert found["last_run_at"] == "2026-11-29T20:22:00Z"


# --- put


def test_a_put_says_whether_it_changed_anything(world):
    assert [put_answer(put(world), NOW)["changed"] for _ in range(2)] == [True, False]


GAP = "2027-03-14T02:30:00 does not exist in America/New_York"


@pytest.mark.parametrize(
    ("on_gap", "warning"),
    [
        ("skip", f"{GAP}: it is skipped; with on_gap next it fires at 2027-03-14T07:00:00Z"),
        ("next", f"{GAP}: it fires at 2027-03-14T07:00:00Z, as on_gap says"),
    ],
)
def test_a_time_in_a_gap_is_warned_of_with_its_date_and_what_becomes_of_it(world, on_gap, warning):
    made = put(world, "cron(30 2 * * ? *)", timezone="America/New_York", on_gap=on_gap)
    assert put_answer(made, NOW)["warnings"] == [warning]


@pytest.mark.parametrize(
    "said",
    [
        {"expression": "cron(30 4 * * ? *)"},
        {"expression": "cron(30 * * * ? *)"},
        {"expression": "rate(1 hour)"},
        {"end_at": parse_instant("2027-03-14T06:59:59Z")},
    ],
)
def test_nobody_is_warned_of_a_gap_that_takes_nothing(world, said):
    made = put(
        world, **{"expression": "cron(30 2 * * ? *)", "timezone": "America/New_York", **said}
    )
    assert put_answer(made, NOW)["warnings"] == []


def test_a_gap_before_the_start_is_not_the_one_warned_of(world):
    start = parse_instant("2027-06-01T00:00:00Z")
    made = put(world, "cron(30 2 * * ? *)", timezone="America/New_York", start_at=start)
    assert "2028-03-12T02:30:00" in put_answer(made, NOW)["warnings"][0]


def test_who_puts_a_paused_schedule_is_warned_that_nothing_fires(world):
    put(world, enabled=False)
    (warning,) = put_answer(put(world), NOW)["warnings"]
    assert "paused" in warning


# --- next


def coming(schedule, now, count=3):
    return [one["utc"][11:19] for one in next_answer(schedule, now, count)["fire_times"]]


def test_the_next_times_are_told_in_utc_and_by_the_clock_of_the_zone(world):
    made = put(world, "cron(0 18 ? * FRI *)", timezone="America/Mexico_City").schedule
    assert next_answer(made, NOW, 1) == {
        "name": "s",
        "expression": "cron(0 18 ? * FRI *)",
        "timezone": "America/Mexico_City",
        "paused": False,
        "fire_times": [
            {
                "utc": "2026-12-05T00:00:00Z",
                "local": "2026-12-04T18:00:00-06:00",
                "run_at": "2026-12-05T00:00:00Z",
            }
        ],
    }


def test_they_begin_with_the_time_that_is_armed_and_end_with_the_rule(world):
    made = put(world, end_at=NOW + 2 * MINUTE).schedule
    assert coming(made, NOW) == ["20:22:00", "20:23:00"]
    assert coming(made, NOW, 1) == ["20:22:00"]
    world.play(5)
    assert coming(world.schedules.get("s"), world.clock.now()) == []


def test_of_a_time_that_fired_ahead_they_still_tell(world):
    put(world)
    world.tick()
    fired = world.schedules.get("s")
    assert fired.fired
    assert coming(fired, NOW) == ["20:22:00", "20:23:00", "20:24:00"]


def test_while_paused_they_are_those_of_the_rule_and_it_is_said(world):
    put(world)
    paused = world.pause_schedule.pause("s")
    assert coming(paused, NOW) == ["20:22:00", "20:23:00", "20:24:00"]
    assert next_answer(paused, NOW, 1)["paused"]


def test_what_is_overdue_is_none_of_the_next_times(world):
    put(world)
    assert coming(world.schedules.get("s"), NOW + 10 * MINUTE, 1) == ["20:32:00"]


def test_each_is_due_with_its_jitter_and_one_whose_jitter_runs_is_still_to_come(world):
    made = put(world, "rate(1 hour)", jitter_seconds=1_800).schedule
    first = NOW + HOUR
    due = made.due_at(first)
    assert first < due < first + HOUR // 2
    assert next_answer(made, NOW, 1)["fire_times"][0]["run_at"] == format_instant(due)
    assert next(coming_times(made, due - 1)) == first
    assert next(coming_times(made, due)) == first + HOUR


def test_a_time_that_came_before_the_schedule_was_made_is_none_of_them_for_all_its_jitter(world):
    anchor = NOW - SECOND
    made = put(world, "rate(1 hour)", start_at=anchor, jitter_seconds=1_800).schedule
    assert made.due_at(anchor) > NOW
    assert next(coming_times(made, NOW)) == anchor + HOUR


# --- explain


def test_each_time_is_told_with_what_became_of_it():
    world = World()
    put(world, misfire=Misfire("skip", grace_seconds=0))
    world.play(2)
    world.clock.advance(2 * MINUTE)
    world.tick()
    now = world.clock.now()
    answer = explain_answer(world.explain("s", NOW, now + HOUR))
    assert (answer["name"], answer["next_from"]) == ("s", None)
    found = {one["scheduled_for"][11:16]: one for one in answer["times"]}
    assert found["20:22"] == {
        "scheduled_for": "2026-11-29T20:22:00Z",
        "what": "ran",
        "why": "succeeded",
        "task_id": world.runs[0][0],
        "status": "succeeded",
        "lateness_ms": world.runs[0][2] - (NOW + MINUTE),
    }
    pending = answer["times"][-1]
    assert (pending["what"], pending["status"], pending["lateness_ms"]) == ("pending", None, None)


def test_where_there_are_more_the_answer_says_from_where(world):
    put(world)
    answer = explain_answer(world.explain("s", NOW, NOW + HOUR, 2))
    assert [one["scheduled_for"][11:19] for one in answer["times"]] == ["20:22:00", "20:23:00"]
    assert answer["next_from"] == "2026-11-29T20:23:00.001Z"


def test_an_old_link_without_a_task_is_no_reason_to_fail(world):
    made = put(world).schedule
    odd = replace(made, fired=(Link(NOW - DAY, NOW - DAY, "x"),))
    assert schedule_answer(odd, NOW)["last_run_at"] == format_instant(NOW - DAY)
