"""Occurrences that ran, were moved or cancelled before the ones ahead of them, and clocks that are behind:
an edit, a pause and a backfill leave no time out and repeat none."""

import pytest
from world import NOW, World

from minutero.domain.instants import HOUR, MINUTE, SECOND
from minutero.domain.lifecycle import Status
from minutero.domain.schedule import Definition, Misfire
from minutero.domain.task import first_place


@pytest.fixture
def world():
    return World(shards=4)


def put(world, expression="rate(1 minute)", *, enabled=None, **said):
    return world.put_schedule("s", Definition("echo", expression, **said), enabled=enabled)


def row(world):
    return world.memory.schedules.schedules["s"]


def task_of(world, link):
    return world.memory.tasks.get(first_place(link.task_id))


def ran(world):
    """The times that ran, in minutes after the world's begin."""
    tasks = [world.memory.tasks.get(first_place(task_id)) for task_id, _, _ in world.runs]
    return [(task.occurrence.nominal - NOW) / MINUTE for task in tasks]


def test_an_occurrence_cancelled_far_ahead_keeps_no_edit_from_firing_before_it(world):
    put(world, "rate(12 hours)")
    world.cancel(row(world).pending.task_id)
    put(world, "rate(1 minute)")
    world.play(4)
    assert ran(world) == [1, 2, 3]


def test_an_edit_takes_the_times_before_one_that_was_cancelled_and_not_that_one(world):
    put(world, payload='"old"')
    world.cancel(row(world).fired[-1].task_id)
    put(world, payload='"new"')
    world.play(6)
    assert ran(world) == [1, 2, 4, 5]


def test_a_cancel_that_was_never_carried_out_keeps_no_pause_from_closing_its_occurrence(world):
    put(world, "rate(10 minutes)")
    world.fire.pass_on(task_of(world, row(world).pending), 4)
    world.pause_schedule.pause("s")
    world.play(12)
    assert ran(world) == []


def test_a_backfill_does_not_repeat_an_occurrence_that_was_run_early(world):
    put(world, "rate(10 minutes)", misfire=Misfire("all", 60))
    world.clock.advance(MINUTE)
    world.move.run_now(row(world).pending.task_id)
    world.work()
    world.pause_schedule.pause("s")
    world.clock.advance(34 * MINUTE)
    world.pause_schedule.resume("s", "backfill")
    world.play(6)
    assert [row(world).pending.nominal, *ran(world)].count(NOW + 10 * MINUTE) == 0
    assert len(world.runs) == 4


@pytest.mark.parametrize("times", ["the same", "others"])
def test_an_edit_by_a_clock_that_is_behind_repeats_nothing(world, times):
    put(world)
    world.play(6)
    world.clock.advance(-3 * MINUTE)
    put(world, payload='"new"', end_at=None if times == "the same" else NOW + HOUR)
    world.clock.advance(3 * MINUTE)
    world.play(4)
    assert ran(world) == sorted(set(ran(world)))
    assert ran(world)[-3:] == [7, 8, 9]


def test_a_pause_by_a_clock_that_is_behind_takes_nothing_that_ran(world):
    put(world)
    world.play(6)
    world.clock.advance(-3 * MINUTE)
    world.pause_schedule.pause("s")
    world.clock.advance(6 * MINUTE)
    world.pause_schedule.resume("s", "backfill")
    world.play(3)
    assert ran(world) == list(range(1, 12))


def test_a_run_that_is_to_be_tried_again_has_begun_and_is_not_closed(world):
    put(world)

    def fails_once(payload, run):
        if run.attempt == 1:
            raise ValueError

    world.job("echo", fails_once)
    first = task_of(world, row(world).fired[0])
    world.clock.advance(MINUTE)
    world.work()
    world.clock.advance(-5 * SECOND)
    world.pause_schedule.pause("s")
    world.play(4)
    assert world.status(first) is Status.SUCCEEDED
    assert ran(world) == [1, 1]


def test_another_rule_put_together_with_a_pause_in_an_outage_leaves_the_old_times_out(world):
    put(world, "rate(10 minutes)")
    world.clock.advance(65 * MINUTE)
    put(world, "rate(7 minutes)", enabled=False)
    noted = world.memory.schedules.noted["s"].values()
    assert [(fate.name, fate.first, fate.last) for fate in noted] == [
        ("changed", NOW + 10 * MINUTE, NOW + 60 * MINUTE)
    ]


def test_nor_does_it_when_the_time_has_come_and_the_jitter_has_not_passed(world):
    put(world, "rate(1 hour)", jitter_seconds=1_800)
    task = task_of(world, row(world).pending)
    world.clock.advance(task.run_at - SECOND - NOW)
    world.fire.pass_on(task, 4)
    world.revise.delete("s")
    world.play(2)
    assert ran(world) == []


def test_two_edits_leave_an_occurrence_its_jitter_as_one_does(world):
    put(world, "rate(1 hour)", jitter_seconds=1_800)
    due = row(world).pending.run_at
    world.clock.advance(due - 3 * SECOND - NOW)
    put(world, "rate(1 hour)", jitter_seconds=1_800, payload="1")
    world.clock.advance(SECOND)
    put(world, "rate(1 hour)", jitter_seconds=1_800, payload="2")
    world.play(2)
    assert ran(world) == [60]
