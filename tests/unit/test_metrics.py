"""What is counted, and that it is counted once."""

from dataclasses import replace
from pathlib import Path

import pytest
from faults import is_down, loses_its_answer, refuses_all
from world import NOW, Counted

import minutero
from minutero.domain.exchanged import Finished
from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.metrics import SILENT, Metric, Unit
from minutero.domain.new_task import NewTask
from minutero.domain.run import Ending, Outcome
from minutero.errors import PermanentFailure, Unavailable
from minutero.service.add_tasks import AddTasks, Wanted
from minutero.service.counts import count_audit, count_tick
from minutero.service.execute import ENDED, Verdict
from minutero.testing.memory import one_by_one


@pytest.fixture
def counted(world):
    """What has been counted since this was last asked."""

    def take():
        totals = world.meter.totals()
        world.meter.values.clear()
        return totals

    return take


def fails(payload, run):
    raise ValueError("no such wallet")


# --- a task's way


def test_a_near_task_that_succeeds_is_counted_once_at_each_step(world, counted):
    world.add()
    world.work()
    assert counted() == {
        Metric.CREATED: 1,
        Metric.SENT: 1,
        Metric.STARTED: 1,
        Metric.SUCCEEDED: 1,
    }


def test_a_task_made_before_with_its_key_is_not_created_again(world, counted):
    world.add(key="order-17", after=HOUR)
    world.add(key="order-17", after=HOUR)
    assert counted() == {Metric.CREATED: 1}


def test_a_near_task_the_queue_did_not_take_is_created_and_not_sent(world, counted):
    world.queue.next("send", is_down)
    world.add()
    assert counted() == {Metric.CREATED: 1}


def test_of_many_those_are_created_that_were_stored(world, counted):
    def all_but_one(real, tasks):
        return [False, *real(tasks[1:])]

    world.store.next("put_many", all_but_one)
    add_tasks = AddTasks(world.add_task, world.store, one_by_one, world.clock)
    far = [Wanted(NewTask("echo", run_at=NOW + HOUR), "") for _ in range(5)]
    add_tasks([*far, Wanted(NewTask("no_such_job"), ""), Wanted(NewTask("echo", key="k"), "")])
    assert counted() == {Metric.CREATED: 5, Metric.SENT: 1}


def test_a_duplicate_is_counted_as_one_and_ends_nothing_again(world, counted):
    task = world.add()
    world.work()
    counted()
    assert world.deliver(task) is Verdict.KNOWN
    assert counted() == {Metric.DUPLICATES: 1}


def test_an_early_message_and_one_in_progress_start_nothing(world, counted):
    world.deliver(world.add(after=MINUTE))
    task = world.add()
    counted()

    def meets_itself(payload, run):
        assert world.deliver(task) is Verdict.RESENT

    world.job("echo", meets_itself)
    world.deliver(task)
    assert counted()[Metric.STARTED] == 1


def test_lateness_is_that_of_the_first_start(world):
    world.job("echo", fails)
    task = world.add()
    world.clock.advance(1_234)
    world.deliver(task)
    world.clock.advance(MINUTE)
    world.deliver(task)
    assert world.meter.values[Metric.LATENESS_AT_START] == [1_234]
    assert len(world.meter.values[Metric.STARTED]) == 2


# --- ends


def test_each_failed_attempt_and_the_death_are_counted_once(world, counted):
    world.job("echo", fails)
    task = world.add(max_attempts=3)
    counted()
    for _ in range(4):
        world.deliver(task)
    assert counted() == {
        Metric.STARTED: 3,
        Metric.FAILED: 2,
        Metric.DEAD: 1,
        Metric.DUPLICATES: 1,
    }


def test_a_death_is_counted_although_its_dead_letter_could_not_be_sent(world, counted):
    def gives_up(payload, run):
        raise PermanentFailure("account closed")

    world.job("echo", gives_up)
    task = world.add()
    counted()
    world.queue.next("send_dead", is_down)
    with pytest.raises(Unavailable):
        world.deliver(task)
    world.deliver(task)
    assert counted() == {Metric.STARTED: 1, Metric.DEAD: 1, Metric.DUPLICATES: 1}


def test_a_run_that_expired_was_not_started(world, counted):
    task = world.add(expires_after_seconds=10)
    counted()
    world.clock.advance(11 * SECOND)
    world.deliver(task)
    assert counted() == {Metric.EXPIRED: 1}


def test_a_run_that_was_skipped(world, counted):
    world.job("echo", lambda payload, run: run.skip("nothing to do"))
    world.add()
    counted()
    world.work()
    assert counted() == {Metric.STARTED: 1, Metric.SKIPPED: 1}


def test_a_run_overtaken_after_its_time_ends_once(world, counted):
    task = world.add()

    def overstays(payload, run):
        if run.attempt == 1:
            world.clock.advance(91 * SECOND)
            assert world.deliver(task) is Verdict.ENDED

    world.job("echo", overstays)
    counted()
    assert world.deliver(task) is Verdict.KEPT
    assert counted() == {Metric.STARTED: 2, Metric.SUCCEEDED: 1}


def test_every_ending_a_worker_writes_has_its_metric(world, counted):
    task = world.add()
    counted()
    for ending in (Ending.SUCCEEDED, Ending.SKIPPED, Ending.EXPIRED, Ending.DEAD):
        result = Finished(Outcome(ending), fresh=True)
        execute = replace(world.execute, run_once=lambda *_, result=result: result)
        execute(task.pointer, task, NOW)
    assert counted() == dict.fromkeys(ENDED.values(), 1)


def test_a_run_ended_by_its_burial_is_dead_once_however_often_it_is_buried(world, counted):
    task = world.add()
    counted()
    world.ledger.next("close", loses_its_answer)
    with pytest.raises(Unavailable):
        world.bury_message(task.pointer)
    world.bury_message(task.pointer)
    world.clock.advance(SECOND)
    world.bury_message(task.pointer)
    assert counted() == {Metric.DEAD: 1}


def test_a_run_its_worker_ended_as_dead_is_not_counted_again_by_its_burial(world, counted):
    world.job("echo", fails)
    task = world.add(max_attempts=1)
    world.deliver(task)
    assert counted()[Metric.DEAD] == 1
    world.bury_message(task.pointer)
    assert counted() == {}


# --- ticks and audits


def test_a_tick_counts_what_it_claimed_and_sent(world, counted):
    for second in range(5):
        world.add(after=HOUR + second * SECOND)
    world.clock.advance(HOUR)
    counted()
    count_tick(world.meter, list(world.tick().values()))
    assert counted() == {Metric.TICKS: 1, Metric.CLAIMED: 5, Metric.SENT: 5}


def test_what_is_claimed_in_time_has_no_lateness_and_what_is_late_has(world):
    world.add(after=HOUR)
    world.add(after=HOUR - 1_500)
    world.clock.advance(HOUR)
    count_tick(world.meter, list(world.tick().values()))
    assert world.meter.values[Metric.LATENESS_AT_CLAIM] == [1_500]


def test_a_tick_counts_what_was_rescued_lost_and_buried(world, counted):
    world.add_crashed()
    world.add(after=HOUR)
    unsendable = world.add(after=HOUR)
    world.queue.always("send", is_down)
    world.tick(enough=1)
    world.queue.heal()
    world.clock.advance(HOUR)
    counted()

    def cancelled_meanwhile(real, places, *more):
        world.cancel(unsendable.task_id)
        return real(places, *more)

    world.store.next("claim", cancelled_meanwhile)
    world.queue.next("send", refuses_all)
    count_tick(world.meter, list(world.tick().values()))
    totals = counted()
    assert totals[Metric.CLAIMS_LOST] == 1
    assert totals[Metric.RESCUED] == 1
    assert totals[Metric.DEAD] == 1


def test_the_lag_of_a_tick_is_that_of_its_slowest_shard_in_seconds(world):
    world.tick()
    world.clock.advance(HOUR)
    (report,) = world.tick().values()
    slower = replace(report, lag_ms=17 * MINUTE)
    count_tick(world.meter, [report, slower])
    assert world.meter.values[Metric.WATERMARK_LAG] == [17 * 60]


def test_a_watermark_that_could_not_be_read_is_no_lag_of_nothing(world):
    world.cursors.always("get", is_down)
    reports = list(world.tick().values())
    count_tick(world.meter, reports)
    assert world.meter.values[Metric.WATERMARK_LAG] == []
    assert world.meter.values[Metric.TICKS] == [1]


def test_an_audit_counts_its_repairs(world, counted):
    world.tick()
    world.clock.advance(HOUR)
    world.tick()
    lost = world.add(after=400 * DAY)
    behind = replace(lost, place=replace(lost.place, bucket=world.bucket(NOW)), run_at=NOW)
    world.memory.tasks.put(behind)
    world.clock.advance(HOUR)
    world.tick()
    counted()
    report = world.auditor.audit([0], world.clock.now() + MINUTE)
    count_audit(world.meter, report)
    totals = counted()
    assert (totals[Metric.AUDIT_REPAIRS], totals[Metric.CLAIMED], totals[Metric.SENT]) == (1, 1, 1)


def test_what_an_audit_sent_again_is_a_repair(world, counted):
    report = world.auditor.audit([], NOW)
    report.sent_again = 3
    count_audit(world.meter, report)
    assert counted() == {Metric.AUDIT_REPAIRS: 3, Metric.SENT: 3}


# --- the metrics themselves


def test_every_metric_is_counted_somewhere():
    root = Path(minutero.__file__).parents[3]
    files = [*(root / "layers/minutero").rglob("*.py"), *(root / "functions").rglob("*.py")]
    told = " ".join(path.read_text() for path in files if path.name != "metrics.py")
    assert [one.name for one in Metric if f"Metric.{one.name}" not in told] == []


def test_every_metric_says_what_it_means_in_one_line():
    for metric in Metric:
        assert metric.isalpha()
        assert isinstance(metric.unit, Unit)
        assert metric.meaning
        assert "\n" not in metric.meaning


def test_a_silent_meter_takes_everything():
    for metric in Metric:
        assert SILENT.add(metric) is None
    assert Counted().totals() == {}
