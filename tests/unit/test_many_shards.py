"""Many shards, dispatched by several invocations: those that get lost or come twice harm nothing."""

from collections import Counter

import pytest
from world import ENOUGH, NOW, World

from minutero.domain.instants import MINUTE, SECOND
from minutero.service.entries import Tick
from minutero.service.fan_out import GROUP

SHARDS = 64
CALLS = SHARDS // GROUP - 1
"""Invocations a tick asks for, beside itself."""

ALL_ONCE = [1] * CALLS


class Fleet:
    """A deployment of many shards, whose ticks call further dispatchers, each a process of its own."""

    def __init__(self):
        self.world = World(shards=SHARDS)
        self.calls = []
        self.tasks = []
        self.processes = 0
        while len({task.place.bucket[-2:] for task in self.tasks}) < SHARDS:
            self.tasks.append(self.world.add(after=4 * MINUTE + len(self.tasks) * SECOND // 8))

    def tick(self, times):
        """One tick, and each of the invocations it asks for as often as `times` says; the reports."""
        reports = self._invoke(None)
        for (group, at), often in zip(self.calls, times, strict=True):
            for _ in range(often):
                reports += self._invoke(group, at)
        self.calls.clear()
        return reports

    def _invoke(self, shards, at=None):
        self.processes += 1
        world = self.world
        dispatcher = world.dispatcher(owner=f"process-{self.processes}")
        call = lambda group, at: self.calls.append((group, at))  # noqa: E731 - it stands for one
        tick = Tick(dispatcher, world.shards, world.clock, call)
        return tick.tick(shards, world.clock.now() + ENOUGH, at)

    def play(self, minutes, times):
        """Ticks each minute and works each second."""
        for minute in range(minutes):
            self.tick(times(minute))
            for _ in range(60):
                self.world.work()
                self.world.clock.advance(SECOND)

    def sent(self):
        """How often each task was sent."""
        return Counter(self.world.waiting_ids())

    def settled(self):
        """True when no watermark is behind the others."""
        return len({self.world.watermark(shard) for shard in range(SHARDS)}) == 1


def test_one_tick_and_those_it_calls_send_all_that_is_due_in_every_shard():
    fleet = Fleet()
    fleet.world.clock.advance(4 * MINUTE)
    reports = fleet.tick(ALL_ONCE)
    assert sorted(report.shard for report in reports) == list(range(SHARDS))
    assert fleet.sent() == {task.task_id: 1 for task in fleet.tasks}
    assert fleet.processes == 1 + CALLS


@pytest.mark.parametrize("times", [[2] * CALLS, [1, 2, 1, 3, 1, 1, 2]])
def test_an_invocation_that_comes_twice_sends_nothing_again(times):
    fleet = Fleet()
    fleet.world.clock.advance(4 * MINUTE)
    fleet.tick(times)
    assert fleet.sent() == {task.task_id: 1 for task in fleet.tasks}
    assert not fleet.world.open_claims()


@pytest.mark.parametrize("times", [[0] * CALLS, [1, 0, 2, 1, 0, 0, 1]])
def test_the_shards_of_a_lost_invocation_are_served_by_the_next_tick(times):
    fleet = Fleet()
    fleet.world.clock.advance(4 * MINUTE)
    fleet.tick(times)
    assert 0 < len(fleet.sent()) < len(fleet.tasks)
    fleet.world.clock.advance(MINUTE)
    fleet.tick(ALL_ONCE)
    assert fleet.sent() == {task.task_id: 1 for task in fleet.tasks}


def test_under_invocations_lost_and_doubled_for_minutes_each_task_runs_once_and_none_early():
    fleet = Fleet()
    # Each invocation is lost in one minute of three, and comes twice in another.
    fleet.play(12, lambda minute: [(minute + n) % 3 for n in range(CALLS)])
    fleet.play(2, lambda _: ALL_ONCE)
    due = {task.task_id: task.run_at for task in fleet.tasks}
    assert Counter(task_id for task_id, _, _ in fleet.world.runs) == dict.fromkeys(due, 1)
    assert all(started >= due[task_id] for task_id, _, started in fleet.world.runs)
    assert fleet.settled()


def test_an_invocation_that_comes_minutes_late_sends_nothing_again_and_settles_nothing_too_far():
    fleet = Fleet()
    fleet.world.clock.advance(4 * MINUTE)
    fleet.tick(ALL_ONCE)
    fleet.world.clock.advance(9 * MINUTE)
    for first in range(0, SHARDS, GROUP):
        fleet._invoke(list(range(first, first + GROUP)), NOW + 4 * MINUTE)
    assert fleet.sent() == {task.task_id: 1 for task in fleet.tasks}
    assert all(fleet.world.watermark(shard) < NOW + 10 * MINUTE for shard in range(SHARDS))
