"""The numbers of a deployment, told from what is there."""

import pytest
from world import NOW, World

from minutero.domain.instants import HOUR, MINUTE, SECOND, format_instant
from minutero.http.stats_answers import stats_answer
from minutero.service import walk
from minutero.service.backlog import OVERDUE, SHOWN, quantiles
from minutero.service.list_tasks import ListTasks
from minutero.service.read_stats import ReadStats
from minutero.testing.memory import one_by_one


@pytest.fixture
def world():
    return World(shards=2)


def stats(world, start=-5 * MINUTE, end=5 * MINUTE):
    """What is told of the tasks due between these, counted from now."""
    lists = ListTasks(world.store, world.ledger, world.shards, world.clock, one_by_one)
    read = ReadStats(world.cursors, world.queue, lists, world.shards, world.clock, one_by_one)
    now = world.clock.now()
    return stats_answer(read(now + start, now + end))


def at(after):
    return format_instant(NOW + after)


def test_the_backlog_is_told_by_status_and_by_minute(world):
    world.add(after=-1)
    world.work()
    world.add(after=MINUTE)
    for _ in range(3):
        world.add(after=4 * MINUTE)
    told = stats(world)["backlog"]
    assert told["complete"]
    assert {name: n for name, n in told["counts"].items() if n} == {
        "succeeded": 1,
        "claimed": 1,
        "scheduled": 3,
    }
    assert told["minutes"] == [
        {"at": at(0), "counts": {"succeeded": 1}},
        {"at": at(MINUTE), "counts": {"claimed": 1}},
        {"at": at(4 * MINUTE), "counts": {"scheduled": 3}},
    ]


def test_a_minute_that_lies_half_in_the_stretch_has_that_half_alone(world):
    world.add(after=4 * MINUTE + 10 * SECOND)
    world.add(after=4 * MINUTE + 40 * SECOND)
    told = stats(world, end=4 * MINUTE + 30 * SECOND)["backlog"]
    assert told["minutes"] == [{"at": at(4 * MINUTE), "counts": {"scheduled": 1}}]


def test_lateness_is_of_the_tasks_that_have_started(world):
    for late in (1000, 200, 30):
        world.add()
        world.clock.advance(late)
        world.work()
    world.add(after=MINUTE)
    assert stats(world)["lateness_ms"] == {
        "samples": 3,
        "p50": 200,
        "p90": 1000,
        "p99": 1000,
        "max": 1000,
    }


def test_without_a_start_there_is_no_lateness(world):
    world.add(after=MINUTE)
    told = stats(world)["lateness_ms"]
    assert told == {"samples": 0, "p50": None, "p90": None, "p99": None, "max": None}


def test_each_quantile_is_one_of_the_values():
    assert quantiles(range(1, 101)) == quantiles([*range(100, 0, -1)])
    told = quantiles(range(1, 1001))
    assert (told.samples, told.p50, told.p90, told.p99, told.max) == (1000, 500, 900, 990, 1000)
    assert quantiles([7]).p99 == quantiles([7]).p50 == 7


def test_a_task_that_was_due_and_has_not_begun_is_overdue(world):
    world.add(after=SECOND)
    late = world.add()
    world.clock.advance(OVERDUE)
    assert stats(world)["overdue"]["task_id"] is None
    world.clock.advance(1)
    told = stats(world)["overdue"]
    assert (told["task_id"], told["run_at"], told["age_seconds"]) == (late.task_id, at(0), 5)
    world.work()
    assert stats(world)["overdue"]["task_id"] is None


def test_what_was_tried_once_or_is_over_is_not_overdue(world):
    def fails(payload, run):
        raise ValueError

    world.job("echo", fails)
    world.add()
    world.work()
    world.cancel(world.add(after=SECOND).task_id)
    world.clock.advance(MINUTE)
    assert stats(world)["overdue"]["task_id"] is None


def test_what_is_not_settled_is_looked_through_before_the_stretch_too(world):
    world.tick()
    begin = min(world.watermark(0), world.watermark(1))
    old = world.add_crashed()
    world.add_crashed(after=MINUTE)
    world.clock.advance(HOUR)
    told = stats(world)["overdue"]
    assert (told["task_id"], told["age_seconds"]) == (old.task_id, 3600)
    assert (told["from"], told["to"]) == (format_instant(begin), at(HOUR))
    assert told["complete"]


def test_what_is_settled_is_not_looked_through_again(world):
    world.add_crashed()
    for shard in (0, 1):
        world.cursors.begin(shard, NOW + 2 * HOUR)
    world.clock.advance(2 * HOUR)
    told = stats(world, start=-MINUTE)["overdue"]
    assert (told["task_id"], told["from"]) == (None, at(2 * HOUR - MINUTE))


def test_of_a_stretch_to_come_only_what_is_due_by_now_can_be_overdue(world):
    world.add(after=2 * HOUR)
    told = stats(world, start=HOUR, end=3 * HOUR)
    assert (told["overdue"]["task_id"], told["overdue"]["to"]) == (None, at(0))
    assert told["backlog"]["counts"]["scheduled"] == 1


def test_where_the_budget_does_not_suffice_it_says_so(world, monkeypatch):
    monkeypatch.setattr(walk, "READS", 8)
    world.tick()
    world.clock.advance(HOUR)
    told = stats(world)
    assert not told["backlog"]["complete"]
    assert not told["overdue"]["complete"]


def test_both_stretches_together_have_the_time_of_one_request(world):
    """Twice that time would be longer than the API has."""

    def slow(real, *args):
        world.clock.advance(SECOND)
        return real(*args)

    world.tick()
    world.clock.advance(HOUR)
    begun = world.clock.now()
    world.store.always("page_tasks", slow)
    told = stats(world)
    assert not told["overdue"]["complete"]
    last_read = 2 * SECOND
    assert world.clock.now() - begun <= walk.TIME + last_read


def test_what_runs_is_told_longest_first_and_with_its_attempt(world):
    tasks = [world.add() for _ in range(SHOWN + 2)]
    for second, task in enumerate(tasks):
        world.ledger.start(task.run_id, "w", NOW + second, NOW + HOUR, task.keep_until)
    world.clock.advance(MINUTE)
    told = stats(world)
    assert told["backlog"]["counts"]["running"] == SHOWN + 2
    assert [one["task_id"] for one in told["running"]] == [one.task_id for one in tasks[:SHOWN]]
    assert told["running"][1] == {
        "task_id": tasks[1].task_id,
        "job": "echo",
        "attempt": 1,
        "started_at": at(1),
    }


def test_the_watermark_is_told_once_every_shard_was_served(world):
    assert stats(world)["watermark"] == {"oldest": None, "lag_seconds": None}
    world.tick()
    told = stats(world)["watermark"]
    assert told["oldest"] == format_instant(min(world.watermark(0), world.watermark(1)))
    assert told["lag_seconds"] > 0
