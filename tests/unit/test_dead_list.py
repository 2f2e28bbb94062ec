"""The list of the dead: run again as many as there is time for."""

import pytest
from world import NOW

from minutero.domain.instants import DAY, HOUR
from minutero.errors import PermanentFailure
from minutero.service.dead_list import REDRIVES, DeadList, DeadQuery
from minutero.service.walk import TIME
from minutero.testing.memory import one_by_one

ALL = DeadQuery(NOW - DAY, NOW + HOUR)


def gives_up(payload, run):
    raise PermanentFailure("account closed")


@pytest.fixture
def dead(world):
    """The service, and the ids of two and a half slices of dead tasks."""
    world.job("echo", gives_up)
    tasks = [world.add() for _ in range(REDRIVES * 5 // 2)]
    world.work()
    for task in tasks:
        world.bury_message(task.pointer)
    service = DeadList(
        *(world.store, world.read_task, world.move, world.shards),
        *(world.clock, world.timing, one_by_one),
    )
    return service, {task.task_id for task in tasks}


def test_all_the_dead_are_redriven_while_there_is_time(world, dead):
    service, ids = dead
    done = service.redrive(ALL, 500)
    assert {letter.run_id.split(".")[0] for letter in done.letters} == ids
    assert (done.failed, done.following) == ([], None)
    assert service.page(ALL, 500).letters == []


def test_slow_redrives_stop_in_time_and_the_next_request_goes_on_behind_them(world, dead):
    service, ids = dead

    def slow(real, *args, **more):
        world.clock.advance(TIME // REDRIVES + 1)
        return real(*args, **more)

    world.store.always("move", slow)
    first = service.redrive(ALL, 500)
    assert len(first.letters) == REDRIVES
    second = service.redrive(ALL, 500, first.following)
    third = service.redrive(ALL, 500, second.following)
    together = [*first.letters, *second.letters, *third.letters]
    assert {letter.run_id.split(".")[0] for letter in together} == ids
    assert len(together) == len(ids)
    assert third.following is None
