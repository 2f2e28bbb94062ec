import pytest
from faults import Faulty
from world import NOW

from minutero.domain.exchanged import Growth
from minutero.domain.instants import DAY, HOUR, MINUTE
from minutero.service.shards import Shards, first_watermark
from minutero.testing.memory import MemorySettingsStore


@pytest.fixture
def settings():
    return Faulty(MemorySettingsStore())


@pytest.mark.parametrize("first", ["for_writing", "for_dispatch"])
def test_the_first_use_stores_the_wanted_count_from_an_hour_before(settings, first):
    getattr(Shards(settings, 8), first)(NOW + 30_000)
    assert settings.growth() == (Growth(8, NOW - HOUR),)


def test_two_first_users_agree(settings):
    one, other = Shards(settings, 8), Shards(settings, 16)
    assert one.for_writing(NOW) == 8
    assert other.for_writing(NOW) == 8


def test_a_writer_never_exceeds_the_stored_count(settings):
    """Dispatchers that have not read a larger one would not look there."""
    Shards(settings, 8).for_dispatch(NOW)
    writer = Shards(settings, 16)
    for later in range(0, 10 * MINUTE, MINUTE):
        assert writer.for_writing(NOW + later) == 8
    assert settings.growth() == (Growth(8, NOW - HOUR),)


def test_a_dispatcher_raises_the_count_to_the_wanted_one_from_an_hour_before(settings):
    Shards(settings, 8).for_dispatch(NOW)
    growth = Shards(settings, 16).for_dispatch(NOW + 2 * DAY)
    assert growth == (Growth(8, NOW - HOUR), Growth(16, NOW + 2 * DAY - HOUR))


def test_a_writer_follows_within_a_minute(settings):
    writer = Shards(settings, 16)
    Shards(settings, 8).for_dispatch(NOW)
    assert writer.for_writing(NOW) == 8
    Shards(settings, 16).for_dispatch(NOW + 1)
    assert writer.for_writing(NOW + MINUTE - 1) == 8
    assert writer.for_writing(NOW + MINUTE) == 16


def test_a_writer_reads_the_count_once_a_minute(settings):
    shards = Shards(settings, 8)
    shards.for_dispatch(NOW)
    settings.calls.clear()
    for later in range(0, MINUTE, 1000):
        shards.for_writing(NOW + later)
    assert settings.calls == []
    shards.for_writing(NOW + MINUTE)
    assert settings.names("growth") == ["growth"]


def test_a_dispatcher_reads_the_count_every_time(settings):
    shards = Shards(settings, 8)
    shards.for_dispatch(NOW)
    settings.grow(Growth(32, NOW))
    assert shards.for_dispatch(NOW + 1)[-1].shards == 32


def test_a_smaller_wish_does_not_shrink_the_count(settings):
    Shards(settings, 16).for_dispatch(NOW)
    assert Shards(settings, 8).for_dispatch(NOW + DAY) == (Growth(16, NOW - HOUR),)
    assert Shards(settings, 8).for_writing(NOW + DAY) == 16


def test_a_count_raised_by_another_meanwhile_stands(settings):
    Shards(settings, 8).for_dispatch(NOW)

    def another_first(real, growth):
        real(Growth(32, growth.since))
        return real(growth)

    settings.next("grow", another_first)
    assert Shards(settings, 16).for_dispatch(NOW)[-1].shards == 32


def test_a_shard_begins_a_minute_before_the_time_it_came_to_be():
    growth = [Growth(8, NOW), Growth(16, NOW + DAY), Growth(32, NOW + 2 * DAY)]
    assert first_watermark(0, growth) == NOW - MINUTE
    assert first_watermark(7, growth) == NOW - MINUTE
    assert first_watermark(8, growth) == NOW + DAY - MINUTE
    assert first_watermark(31, growth) == NOW + 2 * DAY - MINUTE
