"""Schedules are read one by one, and listed: each once, whatever the size of the pages."""

import pytest
from faults import is_down
from world import World

from minutero.domain.instants import MINUTE
from minutero.domain.schedule import Definition
from minutero.errors import NotFound, Unavailable
from minutero.service.read_schedules import PARTITIONS, ReadSchedules
from minutero.testing import memory_schedules

NAMES = [f"schedule-{number:02d}" for number in range(40)]


@pytest.fixture
def read(world):
    for name in NAMES:
        world.put_schedule(name, Definition("echo", "rate(1 day)", payload='"x"'))
    return ReadSchedules(world.schedules, world.clock)


def pages(read, limit):
    found, following = [], None
    while True:
        page = read.page(limit, following)
        found.append([one.name for one in page.schedules])
        following = page.following
        if following is None:
            return found


def test_one_is_read_with_its_payload(read):
    assert read("schedule-07").definition.payload == '"x"'


def test_a_name_of_none_is_not_found(read):
    with pytest.raises(NotFound, match="PUT /schedules/nightly"):
        read("nightly")


@pytest.mark.parametrize("limit", [1, 3, 39, 40, 500])
def test_every_schedule_is_on_one_page_whatever_their_size(read, limit):
    found = pages(read, limit)
    together = [name for page in found for name in page]
    assert sorted(together) == NAMES
    assert max(map(len, found)) <= limit
    assert together == [name for page in pages(read, 7) for name in page]


def test_a_partition_of_many_pages_is_listed_whole(read, monkeypatch):
    monkeypatch.setattr(memory_schedules, "PAGE", 2)
    assert sorted(name for page in pages(read, 5) for name in page) == NAMES


def test_within_a_partition_they_stand_by_name(world, read):
    for partition in range(PARTITIONS):
        names = [one.name for one in world.memory.schedules.page(partition)[0]]
        assert names == sorted(names)


def test_a_page_that_takes_long_is_short_and_goes_on(world, read):
    real = world.memory.schedules.page

    class Slow:
        def page(self, *args):
            world.clock.advance(MINUTE)
            return real(*args)

    page = ReadSchedules(Slow(), world.clock).page(500)
    assert page.following is not None
    assert len(page.schedules) < len(NAMES)
    assert page.following.part == 1


def test_no_answer_is_told(world, read):
    world.schedules.next("page", is_down)
    with pytest.raises(Unavailable):
        read.page(10)


def test_nothing_is_an_empty_page():
    world = World()
    assert pages(ReadSchedules(world.schedules, world.clock), 10) == [[]]
