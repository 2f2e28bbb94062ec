"""Explain: each time a schedule names, and what became of it."""

import pytest
from faults import is_down
from world import NOW, World

from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND, parse_instant
from minutero.domain.schedule import Definition, Misfire
from minutero.errors import NotFound, PermanentFailure


@pytest.fixture
def world():
    return World(shards=4)


def put(world, expression="rate(10 minutes)", **said):
    world.put_schedule("s", Definition("echo", expression, **said))


def explain(world, first=0, last=60, **more):
    """(minutes after the world's begin, what, why)."""
    explained = world.explain("s", NOW + first * MINUTE, NOW + last * MINUTE, **more)
    return [((one.time - NOW) // MINUTE, str(one.what), one.why) for one in explained.times]


def test_what_ran_and_how_late(world):
    put(world)
    world.play(25)
    told = world.explain("s", NOW, NOW + 20 * MINUTE).times
    assert [(one.time - NOW, str(one.what), one.why) for one in told] == [
        (10 * MINUTE, "ran", "succeeded"),
        (20 * MINUTE, "ran", "succeeded"),
    ]
    assert [one.lateness_ms for one in told] == [0, 0]


def test_lateness_counts_from_the_time_and_not_from_when_it_was_found(world):
    put(world)
    world.clock.advance(12 * MINUTE)
    world.play(1)
    (told,) = world.explain("s", NOW, NOW + 10 * MINUTE).times
    assert (str(told.what), told.lateness_ms) == ("ran", 2 * MINUTE)


def test_what_has_fired_and_is_not_due_is_pending_and_so_is_what_comes(world):
    put(world)
    world.play(8)
    assert explain(world, 0, 30) == [
        (10, "pending", "claimed"),
        (20, "pending", ""),
        (30, "pending", ""),
    ]


def test_what_no_tick_has_fired_yet_is_missed(world):
    put(world)
    world.clock.advance(25 * MINUTE)
    assert [told[:2] for told in explain(world, 0, 30)] == [
        (10, "missed"),
        (20, "missed"),
        (30, "pending"),
    ]


def test_what_the_misfire_policy_left_out_and_what_it_caught_up(world):
    put(world, misfire=Misfire("once", 60))
    world.clock.advance(35 * MINUTE)
    world.play(2)
    told = explain(world, 0, 40)
    assert [one[:2] for one in told] == [
        (10, "skipped"),
        (20, "skipped"),
        (30, "caught up"),
        (40, "pending"),
    ]
    assert told[0][2].startswith("misfire")


def test_what_a_pause_takes_during_it_and_after(world):
    put(world)
    world.play(12)
    world.pause_schedule.pause("s", "x")
    world.clock.advance(20 * MINUTE)
    during = [(10, "ran"), (20, "skipped"), (30, "skipped")]
    assert [one[:2] for one in explain(world)] == during
    world.pause_schedule.resume("s")
    after = [one[:2] for one in explain(world)]
    assert after == [*during, (40, "pending"), (50, "pending"), (60, "pending")]
    assert {one[2] for one in explain(world) if one[1] == "skipped"} == {"paused"}


def test_what_an_edit_in_an_outage_left_out(world):
    put(world)
    world.clock.advance(25 * MINUTE)
    put(world, payload='"new"')
    told = explain(world, 0, 30)
    assert [one[:2] for one in told] == [(10, "skipped"), (20, "skipped"), (30, "pending")]
    assert told[0][2].startswith("changed")


def test_what_its_overlap_policy_skipped(world):
    put(world, overlap="skip")
    world.memory.locks.held["s"] = ("another", NOW + DAY)
    world.play(12)
    assert explain(world, 0, 10) == [(10, "skipped", "another run of its schedule was not over")]


def test_what_somebody_cancelled(world):
    put(world)
    world.cancel(world.memory.schedules.schedules["s"].pending.task_id)
    assert [one[:2] for one in explain(world, 0, 20)] == [(10, "skipped"), (20, "pending")]


def test_what_somebody_moved_is_followed(world):
    put(world)
    task_id = world.memory.schedules.schedules["s"].pending.task_id
    world.move.reschedule(task_id, lambda now: now + 15 * MINUTE)
    world.play(16)
    (told, *_) = world.explain("s", NOW, NOW + 10 * MINUTE).times
    assert (str(told.what), told.lateness_ms) == ("ran", 5 * MINUTE)


def test_what_died_ran_and_says_of_what(world):
    put(world)

    def fails(payload, run):
        raise PermanentFailure("no such board")

    world.job("echo", fails)
    world.play(12)
    assert explain(world, 0, 10) == [(10, "ran", "PermanentFailure: no such board")]


def test_a_time_the_clock_left_out_is_told():
    """B044: a job at two in the night was left out in spring, and nobody was told."""
    world = World(now=parse_instant("2027-03-27T12:00:00Z"))
    world.put_schedule("s", Definition("echo", "cron(30 2 * * ? *)", "Europe/Paris"))
    world.tick()
    world.clock.advance(3 * DAY)
    told = world.explain("s", world.clock.now() - 3 * DAY, world.clock.now()).times
    gap = parse_instant("2027-03-28T01:00:00Z")
    assert (told[0].time, str(told[0].what)) == (gap, "skipped")
    assert told[0].why.startswith("gap")


def test_a_manual_run_is_no_time_of_the_schedule(world):
    put(world)
    world.run_schedule("s")
    world.work()
    assert [one[:2] for one in explain(world, 0, 10)] == [(10, "pending")]


def test_times_of_an_older_version_are_told_by_that(world):
    put(world, "rate(10 minutes)")
    world.play(21)
    put(world, "rate(30 minutes)")
    assert [one[:2] for one in explain(world, 0, 60)] == [
        (10, "ran"),
        (20, "ran"),
        (51, "pending"),
    ]


@pytest.mark.parametrize("played", [0, 45])
def test_pages_follow_one_another_and_tell_each_time_once(world, played):
    put(world, "rate(1 minute)")
    world.play(played)
    whole = explain(world, 0, 60)
    first, told = NOW, []
    while first is not None:
        page = world.explain("s", first, NOW + 60 * MINUTE, most=7)
        assert 0 < len(page.times) <= 7
        told += [((one.time - NOW) // MINUTE, str(one.what), one.why) for one in page.times]
        first = page.next
    assert told == whole
    assert len(told) == 60


def test_a_stretch_left_out_is_told_in_pages_too(world):
    put(world, "rate(1 minute)", misfire=Misfire("skip", 60))
    world.play(5)
    world.clock.advance(DAY)
    world.tick()
    page = world.explain("s", NOW + 10 * MINUTE, NOW + DAY, most=500)
    assert len(page.times) == 500
    assert page.next == NOW + 509 * MINUTE + 1
    assert {str(one.what) for one in page.times} == {"skipped"}


def test_one_that_has_ended_tells_of_no_more(world):
    put(world, "rate(10 minutes)", end_at=NOW + 25 * MINUTE)
    world.play(31)
    assert [one[:2] for one in explain(world)] == [(10, "ran"), (20, "ran")]


def test_one_that_is_not_there_is_told_so(world):
    with pytest.raises(NotFound):
        world.explain("nobody", NOW, NOW + DAY)


def test_a_task_past_its_retention_is_told_as_such(world):
    put(world)
    world.play(12)
    world.memory.tasks.buckets.clear()
    assert explain(world, 0, 10) == [(10, "ran", "its task is past its retention")]


def test_an_unavailable_store_is_no_empty_answer(world):
    put(world)
    world.schedules.always("fates", is_down)
    with pytest.raises(Exception, match="down"):
        world.explain("s", NOW, NOW + HOUR + SECOND)
