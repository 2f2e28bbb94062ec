"""The audit arms again what should never have lost its chain, and what its zone's rules have moved."""

import logging
from dataclasses import replace

import pytest
from faults import is_down
from world import NOW, World

from minutero.domain.instants import DAY, HOUR, MINUTE
from minutero.domain.schedule import Definition, partition_of
from minutero.domain.task import first_place
from minutero.errors import Unavailable
from minutero.service.rearm import EVERY


@pytest.fixture
def world():
    return World(shards=4)


def put(world, expression="rate(1 hour)", name="s", **said):
    world.put_schedule(name, Definition("echo", expression, **said))


def row(world, name="s"):
    return world.memory.schedules.schedules[name]


def look_at_all(world):
    """Sixteen audits, one after the other."""
    now, found = world.clock.now(), 0
    for number in range(16):
        found += world.rearm.look(now + number * EVERY, now + DAY)
    return found


def lose_the_pending_task(world):
    world.memory.tasks._delete(first_place(row(world).pending.task_id))


def test_a_sound_schedule_is_left_alone(world):
    put(world)
    before = row(world)
    assert look_at_all(world) == 0
    assert row(world) == before


def test_one_audit_looks_at_one_partition_and_sixteen_at_all(world):
    names = [f"s{number}" for number in range(40)]
    for name in names:
        put(world, name=name)
        world.memory.schedules.schedules[name] = replace(row(world, name), pending=None)
    now = world.clock.now()
    for number in range(16):
        partition = (now + number * EVERY) // EVERY % 16
        there = sum(partition_of(name) == partition for name in names)
        assert world.rearm.look(now + number * EVERY, now + DAY) == there


def test_one_whose_occurrence_is_gone_is_armed_again_and_counted(world, caplog):
    put(world)
    lose_the_pending_task(world)
    world.clock.advance(2 * HOUR + MINUTE)
    with caplog.at_level(logging.ERROR):
        assert look_at_all(world) == 1
    assert "armed again" in caplog.text
    world.play(60)
    assert [at for _, _, at in world.runs] == [NOW + 3 * HOUR]


def test_what_was_lost_is_told(world):
    put(world)
    lose_the_pending_task(world)
    world.clock.advance(2 * HOUR + MINUTE)
    look_at_all(world)
    told = world.explain("s", NOW, NOW + 2 * HOUR).times
    assert [(one.time - NOW, one.why[:4]) for one in told] == [(HOUR, "lost"), (2 * HOUR, "lost")]


def test_one_with_nothing_pending_whose_rule_goes_on_is_armed_again(world):
    put(world)
    world.memory.schedules.schedules["s"] = replace(row(world), pending=None)
    assert look_at_all(world) == 1
    assert row(world).pending.nominal == NOW + HOUR


def test_one_whose_rule_has_ended_is_left_alone(world):
    put(world, end_at=NOW + HOUR)
    world.play(63)
    assert row(world).pending is None
    assert look_at_all(world) == 0


def test_a_paused_one_is_left_alone(world):
    put(world)
    world.pause_schedule.pause("s")
    assert look_at_all(world) == 0
    assert not row(world).enabled


def test_one_that_waits_for_a_tick_is_left_to_it(world):
    put(world)
    world.clock.advance(DAY)
    assert look_at_all(world) == 0


def test_one_whose_zone_has_new_rules_is_armed_for_its_new_time_and_not_counted(world):
    """B059: an instant that was stored outlived the rule it came from."""
    put(world, "cron(0 9 * * ? *)", timezone="America/Mexico_City")
    made = row(world)
    lose_the_pending_task(world)
    old = made.link(made.pending.nominal + HOUR, NOW, 4)
    world.memory.tasks.put(made.task(old, NOW, 0))
    world.memory.schedules.schedules["s"] = replace(made, pending=old)
    assert look_at_all(world) == 0
    assert row(world).pending.nominal == made.pending.nominal
    world.clock.advance(made.pending.nominal - NOW - MINUTE)
    world.play(65)
    assert [at for _, _, at in world.runs] == [made.pending.nominal]


def test_a_schedule_that_changed_since_it_was_looked_at_is_left_alone(world):
    put(world)
    world.memory.schedules.schedules["s"] = replace(row(world), pending=None)

    def page(real, partition, after):
        found = real(partition, after)
        if found[0]:
            world.pause_schedule.pause("s")
        return found

    world.schedules.always("page", page)
    assert look_at_all(world) == 0
    assert not row(world).enabled


def test_an_audit_without_time_looks_at_nothing(world):
    put(world)
    world.memory.schedules.schedules["s"] = replace(row(world), pending=None)
    now = world.clock.now()
    assert sum(world.rearm.look(now + number * EVERY, now) for number in range(16)) == 0


def test_a_store_that_does_not_answer_is_told(world):
    put(world)
    world.schedules.always("page", is_down)
    with pytest.raises(Unavailable):
        world.rearm.look(NOW, NOW + DAY)


def test_one_that_has_ended_by_a_clock_ahead_of_this_one_is_left_alone(world):
    world.clock.advance(3 * MINUTE)
    put(world, "rate(2 minutes)", end_at=NOW + 6 * MINUTE)
    world.clock.advance(-3 * MINUTE)
    before = row(world)
    assert before.pending is None
    assert look_at_all(world) == 0
    assert row(world) == before
