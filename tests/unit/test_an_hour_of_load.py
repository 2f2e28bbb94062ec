"""An hour of mixed load by the clock that is moved by hand: nothing piles up but what is kept on purpose."""

import gc
from collections import Counter
from random import Random

import pytest
from world import World

from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.schedule import Definition
from minutero.errors import PermanentFailure

HOUR_OF_MINUTES = 60
WARM = 15
"""Minutes until as much ends as begins."""


@pytest.fixture
def world():
    made = World(shards=2)
    made.job("fails first", fails_first)
    made.job("gives up", gives_up)
    made.put_schedule("often", Definition("echo", "rate(1 minute)"))
    made.put_schedule("seldom", Definition("fails first", "cron(0/7 * * * ? *)"))
    return made


def fails_first(payload, run):
    if run.attempt == 1:
        raise ValueError("the first attempt fails")


def gives_up(payload, run):
    raise PermanentFailure("no such wallet")


def load(world, draw, minute):
    """One minute's tasks: near and far, keyed, large, failing, dead, cancelled."""
    owed = {}
    for at in range(10):
        job, status = draw.choice(
            [("echo", "succeeded"), ("fails first", "succeeded"), ("gives up", "dead")]
        )
        more = draw.choice([{}, {"key": f"key-{minute}-{at}"}, {"payload": '"' + "x" * 900 + '"'}])
        task = world.add(job, after=draw.randrange(10 * MINUTE // SECOND) * SECOND, **more)
        if draw.random() < 0.1 and task.run_at > world.clock.now():
            world.cancel(task.task_id)
            status = "cancelled"
        owed[task.task_id] = (task, status)
    return owed


def at_work(world):
    """What there is besides what was stored to be kept: things of the services, claims, messages, buckets."""
    gc.collect()
    kept = Counter(
        type(one).__qualname__
        for one in gc.get_objects()
        if str(type(one).__module__).startswith(("minutero.service", "minutero.transaction"))
    )
    lags = [(world.clock.now() - world.watermark(shard)) // MINUTE for shard in range(2)]
    return kept, len(world.open_claims()), max(lags)


def test_neither_buckets_nor_claims_nor_objects_pile_up_in_an_hour(world):
    draw, owed, seen, waiting = Random(17), {}, [], []
    for minute in range(HOUR_OF_MINUTES):
        owed |= load(world, draw, minute)
        world.play(1)
        if minute % 5 == 0:
            world.auditor.audit(range(2), world.clock.now() + MINUTE)
        if minute >= WARM:
            seen.append(at_work(world))
            waiting.append(len(world.memory.queue))
    kept, claims, lags = zip(*seen, strict=True)
    assert kept[-1] == kept[0]
    assert set(claims) == {0}
    assert max(lags) <= 8
    assert max(waiting[-10:]) <= 2 * max(waiting[:10])
    world.play(15)
    ended = Counter(str(world.status(task)) == status for task, status in owed.values())
    assert ended == {True: 10 * HOUR_OF_MINUTES}
    early = [one for one in world.runs if one[0] in owed and one[2] < owed[one[0]][0].run_at]
    assert early == []


def test_it_is_noticed_when_claims_are_never_closed(world):
    world.store.always("close_claim", lambda real, claim: None)
    for minute in range(6):
        load(world, Random(minute), minute)
        world.play(1)
    _, claims, _ = at_work(world)
    assert claims > 0
