"""A tick of many shards: what it serves itself, and whom it calls for the rest."""

from types import SimpleNamespace

import pytest
from hypothesis import strategies as st
from properties import given
from world import ENOUGH, NOW, World

from minutero.domain.exchanged import Growth
from minutero.domain.instants import HOUR, MINUTE
from minutero.service.entries import Tick
from minutero.service.fan_out import GROUP, groups
from minutero.settings import MOST_SHARDS


@given(st.integers(1, MOST_SHARDS))
def test_the_groups_cover_every_shard_once(shards):
    own, others = groups(shards)
    assert [shard for group in (own, *others) for shard in group] == list(range(shards))


@given(st.integers(1, MOST_SHARDS))
def test_no_group_is_empty_or_larger_than_one_dispatcher_serves(shards):
    own, others = groups(shards)
    assert all(1 <= len(group) <= GROUP for group in (own, *others))


def tick_of(world, shards):
    """A Tick over a deployment with so many shards, the calls it makes, and the shards it serves."""
    world.memory.settings.grow(Growth(shards, NOW - HOUR))
    called, served = [], []
    real = world.dispatcher()

    def tick(shards, growth, deadline, latest):
        served.extend(shards)
        return real.tick(shards, growth, deadline, latest)

    def call(group, at):
        called.append(group)

    dispatcher = SimpleNamespace(tick=tick)
    return Tick(dispatcher, world.shards, world.clock, call), called, served


@pytest.mark.parametrize("shards", [1, GROUP])
def test_few_shards_are_served_without_help(shards):
    tick, called, served = tick_of(World(shards=1), shards)
    reports = tick.tick(None, NOW + ENOUGH)
    assert [report.shard for report in reports] == served == list(range(shards))
    assert called == []


@pytest.mark.parametrize("shards", [GROUP + 1, 3 * GROUP, 3 * GROUP + 5])
def test_a_tick_for_all_shards_calls_others_for_those_it_does_not_serve(shards):
    tick, called, served = tick_of(World(shards=1), shards)
    tick.tick(None, NOW + ENOUGH)
    assert served == list(range(GROUP))
    assert sorted(shard for group in called for shard in group) == list(range(GROUP, shards))


@given(st.lists(st.integers(0, 99), max_size=GROUP))
def test_a_tick_for_some_shards_calls_nobody(some):
    """So that the called ones call no further ones."""
    tick, called, served = tick_of(World(shards=1), 100)
    tick.tick(some, NOW + ENOUGH)
    assert served == some
    assert called == []


def test_others_are_called_before_the_own_shards_are_served():
    """They work side by side."""
    world = World(shards=1)
    world.memory.settings.grow(Growth(2 * GROUP, NOW - HOUR))
    order = []
    dispatcher = SimpleNamespace(tick=lambda *_: order.append("own"))
    tick = Tick(dispatcher, world.shards, world.clock, lambda *_: order.append("call"))
    tick.tick(None, NOW)
    assert order == ["call", "own"]


def test_the_others_are_told_the_time_of_the_tick():
    world = World(shards=1)
    world.memory.settings.grow(Growth(2 * GROUP, NOW - HOUR))
    times = []
    dispatcher = SimpleNamespace(tick=lambda *_: [])
    tick = Tick(dispatcher, world.shards, world.clock, lambda _, at: times.append(at))
    tick.tick(None, NOW, NOW - 17)
    assert times == [NOW - 17]


def tick_at(world, event_at):
    tick = Tick(world.dispatcher(), world.shards, world.clock, None)
    return tick.tick(None, world.clock.now() + ENOUGH, event_at)


def test_a_clock_that_is_far_ahead_of_its_tick_settles_nothing_that_is_to_come(caplog):
    """B195: a node an hour ahead made a slot be missed. What is added meanwhile would lie behind a watermark
    that is an hour ahead."""
    world = World(shards=1)
    tick_at(world, NOW)
    world.clock.advance(HOUR)
    tick_at(world, NOW + MINUTE)
    assert world.watermark() < NOW + MINUTE
    assert "do not agree" in caplog.text
    world.clock.advance(-HOUR + MINUTE)
    task = world.add(after=10 * MINUTE)
    world.play(12)
    assert [run[0] for run in world.runs] == [task.task_id]


def test_without_a_time_of_the_tick_the_clock_alone_counts(caplog):
    world = World(shards=1)
    tick_at(world, None)
    world.clock.advance(HOUR)
    tick_at(world, None)
    assert world.watermark() == world.clock.now() - 6 * MINUTE
    assert not caplog.text


def test_a_tick_that_comes_a_minute_late_is_nothing_to_tell(caplog):
    world = World(shards=1)
    tick_at(world, NOW)
    world.clock.advance(HOUR)
    tick_at(world, world.clock.now() - MINUTE)
    assert world.watermark() == world.clock.now() - 6 * MINUTE
    assert not caplog.text
