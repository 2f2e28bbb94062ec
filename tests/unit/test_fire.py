"""Occurrences: the next is there before one is claimed, and none is lost, doubled or early."""

import pytest
from faults import is_down, loses_its_answer
from world import NOW, World

from minutero.domain.instants import HOUR, MINUTE, SECOND, parse_instant
from minutero.domain.lifecycle import Status
from minutero.domain.metrics import Metric
from minutero.domain.schedule import Definition, Misfire
from minutero.domain.task import first_place


@pytest.fixture
def world():
    return World(shards=4)


def times_run(world, name="s"):
    """The nominal times of the runs of a schedule, in order."""
    tasks = [world.memory.tasks.get(first_place(task_id)) for task_id, _, _ in world.runs]
    occurrences = [task.occurrence for task in tasks if task.occurrence]
    return [one.nominal for one in occurrences if one.schedule == name]


def put(world, expression="rate(1 minute)", name="s", **said):
    return world.put_schedule(name, Definition("echo", expression, **said)).schedule


def row(world, name="s"):
    return world.memory.schedules.schedules[name]


def pending_task(world, name="s"):
    return world.memory.tasks.get(first_place(row(world, name).pending.task_id))


def test_each_time_runs_once_and_in_time(world):
    put(world)
    world.play(20)
    assert times_run(world) == [NOW + minute * MINUTE for minute in range(1, 20)]
    assert [at for _, _, at in world.runs] == times_run(world)


def test_a_schedule_made_within_the_look_ahead_fires_without_a_tick(world):
    put(world)
    assert len(world.waiting()) == 3
    assert row(world).pending.nominal == NOW + 4 * MINUTE


def test_a_schedule_whose_writer_dies_is_fired_by_the_next_tick(world):
    world.queue.always("send", is_down)
    put(world)
    world.queue.heal()
    world.play(3)
    assert times_run(world) == [NOW + MINUTE, NOW + 2 * MINUTE]


def test_double_ticks_fire_nothing_twice(world):
    put(world)
    for second in range(15 * 60):
        if second % 60 == 0:
            world.tick(owner="one")
            world.tick(owner="two")
        world.work()
        world.work()
        world.clock.advance(SECOND)
    assert times_run(world) == [NOW + minute * MINUTE for minute in range(1, 15)]


def test_the_next_occurrence_is_there_before_one_is_claimed(world):
    put(world, "rate(1 hour)")
    world.clock.advance(58 * MINUTE)
    seen = []

    def claim(real, places, claim_id, at, taken_from=None):
        seen.append(row(world).pending.nominal)
        return real(places, claim_id, at, taken_from)

    world.store.always("claim", claim)
    world.tick()
    assert seen == [NOW + 2 * HOUR]


def test_a_tick_that_dies_between_firing_and_claiming_loses_nothing(world):
    put(world, "rate(1 hour)")
    world.clock.advance(58 * MINUTE)
    world.store.always("claim", is_down)
    world.store.always("open_claim", is_down)
    world.tick()
    assert row(world).pending.nominal == NOW + 2 * HOUR
    world.store.heal()
    world.play(4)
    assert times_run(world) == [NOW + HOUR]


def test_a_lost_answer_to_a_step_breaks_no_chain(world):
    put(world, "rate(1 hour)")
    world.clock.advance(58 * MINUTE)
    world.schedules.next("step", loses_its_answer)
    world.tick()
    world.play(4)
    assert times_run(world) == [NOW + HOUR]
    assert row(world).pending.nominal == NOW + 2 * HOUR


def test_a_schedule_that_cannot_be_read_keeps_no_other_waiting(world):
    put(world, "rate(1 hour)", "broken")
    put(world, "rate(1 hour)", "sound")
    world.add(at=NOW + HOUR)
    world.clock.advance(58 * MINUTE)

    def get(real, name):
        return is_down(real, name) if name == "broken" else real(name)

    world.schedules.always("get", get)
    world.play(4)
    assert times_run_all(world) == ["sound", None]
    world.schedules.heal()
    world.play(1)
    assert times_run(world, "broken") == [NOW + HOUR]


def times_run_all(world):
    tasks = [world.memory.tasks.get(first_place(task_id)) for task_id, _, _ in world.runs]
    return sorted(
        (task.occurrence.schedule if task.occurrence else None for task in tasks), key=str
    )[::-1]


def test_what_a_tick_has_no_time_to_fire_is_left_to_the_next(world):
    for number in range(20):
        put(world, "rate(1 hour)", f"s{number}")
    world.clock.advance(58 * MINUTE)

    def slow(real, change):
        world.clock.advance(SECOND)
        return real(change)

    world.schedules.always("step", slow)
    world.tick(enough=10 * SECOND)
    fired = sum(row(world, f"s{number}").pending.nominal > NOW + HOUR for number in range(20))
    assert 5 <= fired <= 10
    world.schedules.heal()
    world.play(4)
    assert len(world.runs) == 20


def test_a_step_another_has_taken_is_looked_at_again(world):
    put(world, "rate(1 hour)")
    world.clock.advance(58 * MINUTE)
    world.schedules.next("step", lambda real, change: False)
    world.tick()
    assert row(world).pending.nominal == NOW + 2 * HOUR
    assert len(world.schedules.called("get")) == 3


def test_the_schedule_of_an_occurrence_may_be_gone(world):
    put(world, "rate(1 hour)")
    del world.memory.schedules.schedules["s"]
    world.clock.advance(58 * MINUTE)
    world.play(4)
    assert times_run(world) == [NOW + HOUR]


def test_the_last_time_of_a_rule_leaves_nothing_pending(world):
    put(world, "rate(1 minute)", end_at=NOW + 3 * MINUTE)
    world.play(10)
    assert times_run(world) == [NOW + minute * MINUTE for minute in (1, 2, 3)]
    assert row(world).pending is None
    assert row(world).enabled


# --- outages


def outage(world, policy, most=100, grace=60, length=12 * HOUR):
    put(world, "rate(10 minutes)", misfire=Misfire(policy, grace, most))
    world.play(1)
    world.clock.advance(length)
    world.play(3)


def runs(world):
    tasks = [world.memory.tasks.get(first_place(task_id)) for task_id, _, _ in world.runs]
    occurrences = [task.occurrence for task in tasks]
    return [((one.nominal - NOW) // MINUTE, one.is_catch_up) for one in occurrences]


def test_after_an_outage_skip_runs_nothing_that_is_late(world):
    outage(world, "skip")
    assert runs(world) == [(720, False)]


def test_after_an_outage_once_runs_the_latest_and_no_other(world):
    outage(world, "once")
    assert runs(world) == [(720, True)]
    assert world.meter.totals()[Metric.CAUGHT_UP] == 1


def test_after_an_outage_all_runs_each_up_to_its_cap(world):
    outage(world, "all", most=5, length=12 * HOUR + 5 * MINUTE)
    assert runs(world) == [(minutes, True) for minutes in (680, 690, 700, 710, 720)]


def test_one_that_is_left_out_says_so(world):
    put(world, "rate(10 minutes)", misfire=Misfire("skip", 60))
    task = pending_task(world)
    world.clock.advance(HOUR)
    world.tick()
    assert world.status(task) is Status.SKIPPED
    assert "grace" in world.record(task).outcome.reason


def test_an_outage_of_twelve_hours_gives_a_thousand_schedules_one_run_each():
    world = World(shards=4)
    for number in range(1_000):
        put(world, "rate(10 minutes)", f"s{number}", misfire=Misfire("once", 60))
    world.clock.advance(12 * HOUR + 5 * MINUTE)
    world.tick(enough=HOUR)
    world.tick(enough=HOUR)
    world.work()
    assert len(world.runs) == 1_000
    names = {
        world.memory.tasks.get(first_place(task_id)).occurrence.schedule
        for task_id, _, _ in world.runs
    }
    assert len(names) == 1_000


def test_a_clock_an_hour_ahead_makes_no_time_come_twice_or_never(world):
    """B195: the next time was computed from the clock of who had taken the job."""
    put(world, "rate(10 minutes)", misfire=Misfire("all", 86_400))
    world.clock.advance(HOUR)
    world.tick()
    world.clock.advance(-HOUR)
    world.play(75)
    assert sorted(times_run(world)) == [NOW + minutes * MINUTE for minutes in range(10, 75, 10)]


def test_a_time_the_clock_leaves_out_is_counted():
    """B044: a job at two in the night was left out in spring, without notice."""
    world = World(now=parse_instant("2027-03-27T01:20:00Z"))
    put(world, "cron(30 2 * * ? *)", timezone="Europe/Paris")
    world.play(12)
    assert len(world.runs) == 1
    assert row(world).pending.nominal == parse_instant("2027-03-29T00:30:00Z")
    assert world.meter.totals()[Metric.GAPS] == 1


# --- one occurrence alone


def test_a_pending_occurrence_is_cancelled_and_the_next_one_runs(world):
    """B173: the cancelled flag stuck, and later occurrences were aborted too."""
    put(world, "rate(1 hour)")
    task = pending_task(world)
    world.cancel(task.task_id)
    assert row(world).next_run_at(world.clock.now()) == NOW + 2 * HOUR
    world.play(2 * 60 + 1)
    assert times_run(world) == [NOW + 2 * HOUR]
    assert world.status(task) is Status.CANCELLED


def test_a_pending_occurrence_is_moved_and_the_next_one_stays(world):
    put(world, "rate(1 hour)")
    task = pending_task(world)
    world.move.reschedule(task.task_id, lambda now: now + 90 * MINUTE)
    world.play(2 * 60 + 1)
    assert [at for _, _, at in world.runs] == [NOW + 90 * MINUTE, NOW + 2 * HOUR]


def test_a_pending_occurrence_that_is_run_now_is_not_run_again(world):
    put(world, "rate(1 hour)")
    world.move.run_now(pending_task(world).task_id)
    world.play(61)
    assert [at for _, _, at in world.runs] == [NOW]


def test_an_occurrence_that_has_fired_is_cancelled_like_any_task(world):
    put(world)
    fired = row(world).fired[0]
    world.cancel(fired.task_id)
    world.play(3)
    assert times_run(world) == [NOW + 2 * MINUTE]


# --- run now


def test_run_now_runs_besides_the_times_and_moves_none(world):
    """B075: a manual run moved all later ones."""
    put(world, "rate(1 day)")
    world.clock.advance(HOUR)
    task = world.run_schedule("s")
    world.work()
    assert [at for _, _, at in world.runs] == [NOW + HOUR]
    assert task.occurrence.trigger == "manual"
    assert row(world).pending.nominal == NOW + 24 * HOUR


# --- what its job is told


def test_a_run_knows_its_time_its_trigger_and_whether_it_is_a_catch_up(world):
    told = []
    world.job("echo", lambda payload, run: told.append(run))
    put(world, "rate(10 minutes)", misfire=Misfire("once", 60))
    world.clock.advance(62 * MINUTE)
    world.play(2)
    world.run_schedule("s")
    world.work()
    late, manual = told
    assert (late.trigger, late.is_catch_up) == ("schedule", True)
    assert late.scheduled_for.timestamp() * 1000 == NOW + HOUR
    assert late.run_at.timestamp() * 1000 == NOW + 62 * MINUTE
    assert (manual.trigger, manual.is_catch_up) == ("manual", False)
