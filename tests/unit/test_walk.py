"""The walk over partitions: all rows, in order, once, whatever the pages look like."""

import random

import pytest

from minutero.service.walk import READS, ROWS, TIME, Position, Walk
from minutero.testing import SettableClock
from minutero.testing.memory import one_by_one


def store_of(rows, page):
    """Rows (part, shard, sort key) as a `read`; pages of `page` rows looked at, every third filtered out."""

    def read(part, shard, after):
        here = sorted(key for p, s, key in rows if (p, s) == (part, shard) and key > after)
        looked_at = here[:page]
        more = len(here) > page
        kept = [key for key in looked_at if not key.endswith("-")]
        return kept, looked_at[-1] if more else None

    return read


def walk(read, shards=3, clock=None):
    return Walk(read, lambda row: row, shards, one_by_one, clock or SettableClock(0))


@pytest.mark.parametrize("page", [1, 2, 7, 100])
@pytest.mark.parametrize("seed", range(5))
def test_every_row_comes_once_and_in_order_however_the_pages_fall(page, seed):
    chance = random.Random(seed)
    rows = {
        (
            part,
            chance.randrange(3),
            f"{chance.randrange(60):02d}#{number}{chance.choice(['', '-'])}",
        )
        for number in range(60)
        for part in (0, 10, 20)
        if chance.random() < 0.5
    }
    wanted = [key for part in (0, 10, 20) for key in sorted(k for p, _, k in rows if p == part)]
    wanted = [key for key in wanted if not key.endswith("-")]
    found, position = [], Position(0)
    while position is not None:
        for chunk in walk(store_of(rows, page)).chunks(range(0, 30, 10), position):
            found += chunk.rows
            position = chunk.following
    assert found == wanted


def test_it_goes_on_behind_a_position_in_the_midst_of_a_part():
    rows = {(0, shard, f"{second:02d}") for shard in range(3) for second in range(shard, 9, 3)}
    chunks = list(walk(store_of(rows, 100)).chunks(range(0, 10, 10), Position(0, "05")))
    assert [chunk.rows for chunk in chunks] == [["06", "07", "08"]]
    assert chunks[-1].following is None


def test_it_stops_when_its_reads_are_used_up_and_says_where():
    calls = []

    def read(part, shard, after):
        calls.append(part)
        return [], None

    chunks = list(walk(read, shards=7).chunks(range(0, 10_000_000, 10), Position(0)))
    assert READS <= len(calls) < READS + 7
    assert chunks[-1].following == Position(len(chunks) * 10)


def test_it_stops_when_it_has_looked_at_rows_enough_and_says_where():
    def read(part, shard, after):
        first = int(after or "0")
        return [f"{first + n:09d}" for n in range(1, 501)], f"{first + 500:09d}"

    chunks = list(walk(read, shards=1).chunks(range(0, 10, 10), Position(0)))
    assert sum(len(chunk.rows) for chunk in chunks) == ROWS
    assert chunks[-1].following == Position(0, f"{ROWS:09d}")


def test_it_stops_when_its_reads_are_slow_and_says_where():
    clock = SettableClock(0)

    def read(part, shard, after):
        clock.advance(TIME // 4)
        return [], None

    found = walk(read, shards=2, clock=clock)
    assert list(found.chunks(range(0, 100, 10), Position(0)))[-1].following == Position(20)
    assert list(found.chunks(range(0, 100, 10), Position(20)))[-1].following == Position(40)


def test_it_gets_on_however_slow_its_reads_are():
    clock = SettableClock(0)

    def read(part, shard, after):
        clock.advance(10 * TIME)
        return [f"{part}"], None

    [chunk] = walk(read, shards=1, clock=clock).chunks(range(0, 30, 10), Position(0))
    assert (chunk.rows, chunk.following) == (["0"], Position(10))
