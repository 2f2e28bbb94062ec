"""Schedules are put, edited, paused, resumed and deleted; nothing fires twice, at once, or after all."""

from math import ceil

import pytest
from faults import is_down, loses_its_answer
from world import NOW, World

from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.lifecycle import Status
from minutero.domain.schedule import Definition, Misfire
from minutero.domain.task import State, Task, first_place
from minutero.errors import InvalidInput, InvalidSchedule, NotFound, Unavailable, UnknownJob


@pytest.fixture
def world():
    return World(shards=4)


def put(world, expression="rate(1 minute)", *, enabled=None, job="echo", **said):
    return world.put_schedule("s", Definition(job, expression, **said), enabled=enabled)


def row(world):
    return world.memory.schedules.schedules["s"]


def ran(world):
    """The times that ran, in minutes after the world's begin."""
    tasks = [world.memory.tasks.get(first_place(task_id)) for task_id, _, _ in world.runs]
    return [(task.occurrence.nominal - NOW) / MINUTE for task in tasks]


def fates(world):
    """What was left out: (why, first, last), in whole minutes after the world's begin."""
    noted = world.memory.schedules.noted["s"].values()
    return [
        (fate.name, ceil((fate.first - NOW) / MINUTE), (fate.last - NOW) // MINUTE)
        for fate in sorted(noted, key=lambda fate: fate.first)
        if fate.name != "fired"
    ]


def armed(world):
    """All tasks of the schedule that may still run."""
    items = [item for bucket in world.memory.tasks.buckets.values() for item in bucket.values()]
    tasks = [item for item in items if isinstance(item, Task)]
    over = {Status.SCHEDULED, Status.CLAIMED}
    return [task for task in tasks if world.status(task) in over]


# --- put


def test_what_is_put_is_armed_with_its_first_time(world):
    made = put(world, "rate(1 hour)")
    assert (made.created, made.changed, made.schedule.version) == (True, True, 1)
    assert made.schedule.next_run_at(NOW) == NOW + HOUR
    assert [task.run_at for task in armed(world)] == [NOW + HOUR]


def test_putting_the_same_again_changes_nothing(world):
    first = put(world, "rate(1 hour)", payload='{"a":1}')
    world.clock.advance(5 * MINUTE)
    again = put(world, "rate(1 hour)", payload='{"a":1}')
    assert (again.created, again.changed) == (False, False)
    assert again.schedule == first.schedule == row(world)


def test_the_same_put_twice_at_once_makes_one(world):
    world.schedules.next("get", lambda real, name: None)
    put(world, "rate(1 hour)")
    world.clock.advance(1)
    world.schedules.next("get", lambda real, name: None)
    again = put(world, "rate(1 hour)")
    assert not again.changed
    assert len(armed(world)) == 1


def test_a_lost_answer_to_a_put_is_made_good_by_putting_again(world):
    world.schedules.next("create", loses_its_answer)
    with pytest.raises(Unavailable):
        put(world)
    assert not put(world).changed
    world.play(4)
    assert ran(world) == [1, 2, 3]


@pytest.mark.parametrize(
    ("expression", "more", "field"),
    [
        ("cron(0 0 31 2 ? *)", {}, "expression"),
        ("cron(0 9 * * ? 2020)", {}, "expression"),
        ("at(2020-01-01T00:00:00)", {}, "expression"),
        ("rate(1 hour)", {"end_at": NOW + MINUTE}, "end_at"),
        ("cron(0 9 * * ? *)", {"start_at": NOW + HOUR, "end_at": NOW + 2 * HOUR}, "end_at"),
    ],
)
def test_one_that_would_never_fire_is_refused_and_nothing_is_stored(world, expression, more, field):
    with pytest.raises(InvalidSchedule) as refused:
        put(world, expression, **more)
    assert refused.value.field == field
    assert not world.memory.schedules.schedules
    assert not armed(world)


def test_a_job_that_is_not_deployed_is_refused(world):
    with pytest.raises(UnknownJob):
        put(world, job="nobody")
    put(world, "rate(1 hour)")
    with pytest.raises(UnknownJob):
        put(world, "rate(1 hour)", job="nobody")
    assert row(world).version == 1


def test_a_schedule_may_be_put_again_after_its_job_was_taken_out(world):
    put(world, "rate(1 hour)")
    world.memory.settings.announce_jobs(frozenset())
    assert not put(world, "rate(1 hour)").changed


def test_a_schedule_starts_at_its_start(world):
    put(world, "rate(10 minutes)", start_at=NOW + 25 * MINUTE)
    world.play(46)
    assert ran(world) == [25, 35, 45]


def test_a_schedule_may_be_made_paused(world):
    put(world, enabled=False)
    world.play(5)
    assert (row(world).enabled, ran(world), armed(world)) == (False, [], [])


# --- edit


def test_an_edit_never_fires_at_once(world):
    """B082: an interval made shorter made past times look missed."""
    put(world, "rate(1 day)")
    world.clock.advance(20 * HOUR + 30 * SECOND)
    put(world, "rate(1 minute)")
    world.play(3)
    begin = 20 * 60 + 0.5
    assert ran(world) == [begin + 1, begin + 2]


def test_an_edit_takes_what_had_fired_ahead_along(world):
    put(world, payload='"old"')
    world.clock.advance(10 * SECOND)
    put(world, payload='"new"')
    told = []
    world.job("echo", lambda payload, run: told.append(payload))
    world.play(4)
    assert ran(world) == [1, 2, 3, 4]
    assert told == ["new"] * 4


def test_an_edit_does_not_fire_twice_in_its_minute(world):
    put(world, payload='"old"')
    world.play(1)
    world.work()
    assert ran(world) == [1]
    put(world, payload='"new"')
    world.play(3)
    assert ran(world) == [1, 2, 3]


def test_an_edit_keeps_the_phase_of_a_rate_that_stays(world):
    put(world, "rate(10 minutes)")
    world.clock.advance(3 * MINUTE)
    put(world, "rate(10 minutes)", payload='"new"')
    assert row(world).pending.nominal == NOW + 10 * MINUTE


def test_an_edit_after_an_outage_makes_no_backlog_of_the_old_version(world):
    put(world, "rate(10 minutes)", misfire=Misfire("all", 60))
    world.clock.advance(65 * MINUTE)
    put(world, "rate(10 minutes)", misfire=Misfire("all", 60), payload='"new"')
    world.play(6)
    assert ran(world) == [70]
    assert fates(world) == [("changed", 10, 60)]


def test_an_edit_while_a_step_is_taken_looks_again(world):
    put(world, "rate(1 hour)")
    world.schedules.next("replace", _after(lambda: world.fire.pass_on(armed(world)[0], 4)))
    put(world, "rate(1 hour)", payload='"new"')
    assert len(world.schedules.called("replace")) == 2
    assert row(world).version == 2


def _after(first):
    def replacement(real, change):
        first()
        return real(change)

    return replacement


def test_a_tick_in_the_midst_of_an_edit_finds_one_version_or_the_other(world):
    put(world, "rate(10 minutes)", payload='"old"')
    world.clock.advance(8 * MINUTE)
    world.schedules.next("replace", _after(world.tick))
    put(world, "rate(10 minutes)", payload='"new"')
    world.play(3)
    assert ran(world) == [10]


def test_an_occurrence_that_runs_stays_and_the_edit_comes_after_it(world):
    put(world)
    world.play(1)

    def edit(payload, run):
        put(world, payload='"new"')

    world.job("echo", edit)
    world.work()
    world.job("echo", lambda payload, run: payload)
    world.play(3)
    assert ran(world) == [1, 2, 3]


def test_an_occurrence_somebody_has_cancelled_is_not_armed_by_an_edit(world):
    put(world)
    world.cancel(row(world).fired[0].task_id)
    put(world, payload='"new"')
    world.play(4)
    assert ran(world) == [2, 3]


def test_an_edit_that_is_not_answered_is_repeated_without_harm(world):
    put(world)
    world.schedules.next("replace", loses_its_answer)
    with pytest.raises(Unavailable):
        put(world, payload='"new"')
    assert not put(world, payload='"new"').changed
    world.play(4)
    assert ran(world) == [1, 2, 3]


def test_what_changes_again_and_again_is_told_as_busy(world):
    put(world)
    world.schedules.always("replace", lambda real, change: "stale")
    with pytest.raises(Unavailable, match="again and again"):
        put(world, payload='"new"')


# --- pause and resume


def test_a_pause_keeps_quiet_at_once_what_had_fired_ahead_too(world):
    put(world)
    assert len(world.waiting()) == 3
    paused = world.pause_schedule.pause("s", "an incident")
    world.play(10)
    assert ran(world) == []
    assert (paused.enabled, paused.paused_reason, paused.next_run_at(NOW)) == (
        False,
        "an incident",
        None,
    )
    assert not armed(world)


def test_a_pause_tells_its_tasks_why(world):
    put(world, "rate(1 hour)")
    task = armed(world)[0]
    world.pause_schedule.pause("s")
    assert world.status(task) is Status.CANCELLED
    assert world.record(task).outcome.reason == "the schedule was paused"


def test_pausing_twice_changes_the_reason_alone(world):
    put(world)
    first = world.pause_schedule.pause("s", "one")
    assert world.pause_schedule.pause("s") == first
    second = world.pause_schedule.pause("s", "two")
    assert (second.paused_reason, second.paused_since) == ("two", first.paused_since)


def test_after_a_pause_the_next_time_runs_and_none_of_the_paused(world):
    """B081: a schedule that was resumed after a long time never fired again."""
    put(world)
    world.pause_schedule.pause("s")
    world.clock.advance(3 * DAY + 20 * SECOND)
    world.pause_schedule.resume("s")
    world.play(2)
    paused = 3 * DAY / MINUTE
    assert ran(world) == [paused + 1, paused + 2]
    assert fates(world) == [("paused", 1, paused)]


def test_a_backfill_runs_what_the_pause_took_whatever_the_misfire_policy(world):
    put(world, "rate(10 minutes)", misfire=Misfire("skip", 60))
    world.pause_schedule.pause("s")
    world.clock.advance(35 * MINUTE)
    world.pause_schedule.resume("s", "backfill")
    world.play(6)
    assert ran(world) == [10, 20, 30, 40]
    flags = [
        world.memory.tasks.get(first_place(task_id)).occurrence.is_catch_up
        for task_id, _, _ in world.runs
    ]
    assert flags == [True, True, True, False]


def test_a_backfill_takes_the_latest_up_to_the_cap(world):
    put(world, misfire=Misfire("once", 60, 5))
    world.pause_schedule.pause("s")
    world.clock.advance(2 * HOUR)
    world.pause_schedule.resume("s", "backfill")
    world.work()
    assert ran(world) == [116, 117, 118, 119, 120]
    assert fates(world) == [("paused", 1, 115)]


def test_a_backfill_of_nothing_is_a_resume(world):
    put(world, "rate(1 hour)")
    world.pause_schedule.pause("s")
    world.clock.advance(MINUTE)
    world.pause_schedule.resume("s", "backfill")
    assert row(world).pending.nominal == NOW + HOUR


def test_resuming_what_runs_changes_nothing(world):
    before = put(world).schedule
    assert world.pause_schedule.resume("s").version == before.version


def test_resume_takes_now_or_backfill(world):
    put(world)
    with pytest.raises(InvalidInput, match="now or backfill"):
        world.pause_schedule.resume("s", "yesterday")


def test_deploying_a_paused_schedule_again_does_not_end_its_pause(world):
    put(world, "rate(1 hour)")
    world.pause_schedule.pause("s", "an incident")
    assert not put(world, "rate(1 hour)").changed
    edited = put(world, "rate(2 hours)").schedule
    assert (edited.enabled, edited.paused_reason) == (False, "an incident")
    assert not armed(world)


def test_a_put_may_end_a_pause_or_make_one(world):
    put(world, "rate(1 hour)")
    assert not put(world, "rate(1 hour)", enabled=False).schedule.enabled
    assert not armed(world)
    assert put(world, "rate(1 hour)", enabled=True).schedule.enabled
    assert len(armed(world)) == 1


def test_times_of_a_pause_are_told_by_the_rule_they_were_times_of(world):
    put(world, "rate(10 minutes)")
    world.pause_schedule.pause("s")
    world.clock.advance(25 * MINUTE)
    put(world, "rate(5 minutes)")
    world.clock.advance(11 * MINUTE)
    world.pause_schedule.resume("s")
    assert fates(world) == [("paused", 1, 20), ("paused", 26, 35)]


# --- delete


def test_a_deleted_schedule_runs_no_more(world):
    put(world)
    world.revise.delete("s")
    world.play(10)
    assert ran(world) == []
    assert not armed(world)


def test_a_schedule_deleted_by_its_own_run_ends_with_that_run(world):
    """B172: a job that ran while its schedule was cancelled armed itself again."""
    put(world)
    world.job("echo", lambda payload, run: world.revise.delete("s"))
    world.play(10)
    assert ran(world) == [1]
    assert not armed(world)


def test_deleting_many_while_ticks_go_on_leaves_nothing(world):
    """B171: cancelling thousands under load left some alive."""
    names = [f"s{number}" for number in range(200)]
    for name in names:
        world.put_schedule(name, Definition("echo", "rate(1 minute)"))
    for name in names:
        world.schedules.next("delete", _after(world.tick) if name == "s100" else _plain)
        world.revise.delete(name)
    world.play(10)
    assert world.runs == []


def _plain(real, change):
    return real(change)


def test_a_name_may_be_used_again_and_nothing_of_the_old_one_comes_back(world):
    put(world, "rate(1 hour)", payload='"old"')
    world.revise.delete("s")
    world.clock.advance(SECOND)
    put(world, "cron(21 21 * * ? *)", payload='"new"')
    told = []
    world.job("echo", lambda payload, run: told.append(payload))
    world.play(62)
    assert told == ["new"]


@pytest.mark.parametrize("call", ["delete", "pause", "resume", "run"])
def test_what_is_not_there_is_told_so(world, call):
    with pytest.raises(NotFound, match="no schedule nobody"):
        {
            "delete": world.revise.delete,
            "pause": world.pause_schedule.pause,
            "resume": world.pause_schedule.resume,
            "run": world.run_schedule,
        }[call]("nobody")


def test_a_delete_that_cannot_be_made_is_told_so(world):
    put(world)
    world.schedules.always("delete", is_down)
    with pytest.raises(Unavailable):
        world.revise.delete("s")
    world.schedules.heal()
    world.play(2)
    assert ran(world) == [1]


def test_an_edit_leaves_an_occurrence_its_jitter(world):
    """Its time has come and it is not due: the new version takes it, and it does not run at once."""
    put(world, "rate(1 hour)", jitter_seconds=1_800, payload='"old"')
    task = armed(world)[0]
    world.clock.advance(task.run_at - SECOND - NOW)
    world.tick()
    put(world, "rate(1 hour)", jitter_seconds=1_800, payload='"new"')
    told = []
    world.job("echo", lambda payload, run: told.append((payload, run.scheduled_for.timestamp())))
    world.play(2)
    assert told == [("new", (NOW + HOUR) / SECOND)]
    assert fates(world) == []


def test_an_edit_that_takes_away_the_jitter_of_a_time_that_has_come_leaves_it_out(world):
    put(world, "rate(1 hour)", jitter_seconds=1_800)
    world.clock.advance(armed(world)[0].run_at - SECOND - NOW)
    world.tick()
    put(world, "rate(1 hour)")
    world.play(2)
    assert ran(world) == []
    assert fates(world) == [("changed", 60, 60)]


def test_a_task_that_is_gone_from_the_table_keeps_no_edit_from_being_made(world):
    put(world, "rate(1 hour)")
    world.memory.tasks._delete(armed(world)[0].place)
    put(world, "rate(2 hours)")
    assert [task.run_at for task in armed(world)] == [NOW + 2 * HOUR]


def test_closed_tasks_are_closed_in_the_store_too(world):
    put(world, "rate(1 hour)")
    task = armed(world)[0]
    world.pause_schedule.pause("s")
    assert world.stored(task).state is State.CANCELLED
