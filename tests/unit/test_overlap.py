"""Runs of one schedule that must not overlap: skipped, or put off until the one before is over."""

import pytest
from faults import is_down
from world import NOW, World

from minutero.domain.instants import HOUR, MINUTE, SECOND
from minutero.domain.lifecycle import Status
from minutero.domain.metrics import Metric
from minutero.domain.schedule import Definition
from minutero.errors import PermanentFailure, RetryLater, Unavailable
from minutero.service.execute import Verdict


@pytest.fixture
def world():
    return World()


def put(world, overlap):
    world.put_schedule("s", Definition("echo", "rate(1 hour)", overlap=overlap))


def run_now(world):
    return world.run_schedule("s")


def during_a_run(world, action):
    """Makes a run of the schedule, and does something while it goes on."""
    done = []

    def body(payload, run):
        if not done:
            done.append(True)
            done.append(action())

    world.job("echo", body)
    first = run_now(world)
    world.deliver(first)
    return first, done[1]


@pytest.mark.parametrize("overlap", ["allow", "skip", "queue"])
def test_runs_that_do_not_meet_all_run(world, overlap):
    put(world, overlap)
    for _ in range(3):
        task = run_now(world)
        assert world.deliver(task) is Verdict.ENDED
        assert world.status(task) is Status.SUCCEEDED


def test_runs_may_overlap_where_that_is_allowed(world):
    put(world, "allow")
    second = run_now(world)
    _, verdict = during_a_run(world, lambda: world.deliver(second))
    assert verdict is Verdict.ENDED
    assert world.status(second) is Status.SUCCEEDED
    assert not world.locks.calls


def test_one_that_would_overlap_is_skipped_and_says_why(world):
    put(world, "skip")
    second = run_now(world)
    _, verdict = during_a_run(world, lambda: world.deliver(second))
    assert verdict is Verdict.ENDED
    assert world.status(second) is Status.SKIPPED
    assert "not over" in world.record(second).outcome.reason
    assert len(world.runs) == 1
    assert world.meter.totals()[Metric.OVERLAPS] == 1


@pytest.mark.parametrize(
    ("change", "status"),
    [
        (lambda world, task: world.cancel(task.task_id), Status.CANCELLED),
        (
            lambda world, task: world.move.reschedule(task.task_id, lambda now: now + HOUR),
            Status.SCHEDULED,
        ),
    ],
    ids=["cancelled", "moved"],
)
def test_the_message_of_one_that_is_over_while_it_waited_is_acknowledged(world, change, status):
    put(world, "queue")
    second = run_now(world)
    change(world, second)
    while world.memory.queue.receive(world.clock.now()) is not None:
        pass
    _, verdict = during_a_run(world, lambda: world.deliver(second))
    assert verdict is Verdict.KNOWN
    assert world.status(second) is status
    assert second.task_id not in world.waiting_ids()
    assert len(world.runs) == 1


def test_one_that_would_overlap_waits_until_the_other_is_over(world):
    put(world, "queue")
    second = run_now(world)
    _, verdict = during_a_run(world, lambda: world.deliver(second))
    assert verdict is Verdict.RESENT
    assert len(world.runs) == 1
    for _ in range(11):
        world.clock.advance(SECOND)
        world.work()
    assert world.status(second) is Status.SUCCEEDED


def test_a_job_slower_than_its_schedule_runs_as_often_as_it_can(world):
    """B077: a job slower than interval and grace was skipped for ever."""
    world.put_schedule("s", Definition("echo", "rate(1 minute)", overlap="skip"))
    ends = {}

    def slow(payload, run):
        if run.task_id not in ends:
            ends[run.task_id] = world.clock.now() + 3 * MINUTE
            raise RetryLater(180)

    world.job("echo", slow)
    world.play(31)
    succeeded = [one for one in ends if world.read_task(one).status is Status.SUCCEEDED]
    assert 6 <= len(succeeded) <= 8


def test_between_its_attempts_a_run_is_not_over(world):
    put(world, "skip")
    world.job("echo", lambda payload, run: (_ for _ in ()).throw(RetryLater(600)))
    first = run_now(world)
    world.deliver(first)
    world.job("echo", lambda payload, run: payload)
    world.clock.advance(9 * MINUTE)
    second = run_now(world)
    world.deliver(second)
    assert world.status(second) is Status.SKIPPED
    world.clock.advance(MINUTE)
    world.deliver(first)
    assert world.status(first) is Status.SUCCEEDED
    third = run_now(world)
    world.deliver(third)
    assert world.status(third) is Status.SUCCEEDED


@pytest.mark.parametrize(
    "end", [PermanentFailure("no such board"), None], ids=["dead", "succeeded"]
)
def test_the_end_of_a_run_lets_the_next_one_in(world, end):
    put(world, "skip")

    def body(payload, run):
        if end:
            raise end

    world.job("echo", body)
    world.deliver(run_now(world))
    world.job("echo", lambda payload, run: payload)
    second = run_now(world)
    world.deliver(second)
    assert world.status(second) is Status.SUCCEEDED


def test_a_crashed_run_keeps_the_schedule_waiting_no_longer_than_its_own_time(world):
    put(world, "skip")

    def dies(payload, run):
        raise SystemExit

    world.job("echo", dies)
    with pytest.raises(SystemExit):
        world.deliver(run_now(world))
    world.job("echo", lambda payload, run: payload)
    second = run_now(world)
    world.deliver(second)
    assert world.status(second) is Status.SKIPPED
    world.clock.advance(world.timing.worker_timeout + world.timing.run_margin + 1)
    third = run_now(world)
    world.deliver(third)
    assert world.status(third) is Status.SUCCEEDED


def test_a_redelivery_of_the_run_that_has_the_lock_is_no_overlap(world):
    put(world, "skip")
    first = run_now(world)

    def again():
        return world.deliver(first)

    done = []

    def body(payload, run):
        if not done:
            done.append(again())

    world.job("echo", body)
    world.deliver(first)
    assert done == [Verdict.RESENT]
    assert world.status(first) is Status.SUCCEEDED
    assert world.deliver(first) is Verdict.KNOWN


def test_a_run_that_has_begun_is_not_skipped_when_another_took_its_lock(world):
    put(world, "skip")
    world.job("echo", lambda payload, run: (_ for _ in ()).throw(ValueError("first")))
    first = run_now(world)
    world.deliver(first)
    world.memory.locks.held["s"] = ("another", world.clock.now() + HOUR)
    world.deliver(first)
    assert world.status(first) is Status.RETRYING


def test_schedules_do_not_wait_for_each_other(world):
    put(world, "skip")
    world.put_schedule("other", Definition("echo", "rate(1 hour)", overlap="skip"))
    other = world.run_schedule("other")
    during_a_run(world, lambda: world.deliver(other))
    assert world.status(other) is Status.SUCCEEDED


def test_without_an_answer_of_the_lock_the_message_is_kept(world):
    put(world, "skip")
    task = run_now(world)
    world.locks.always("take", is_down)
    with pytest.raises(Unavailable):
        world.deliver(task)
    assert world.runs == []
    assert world.clock.now() == NOW


def test_a_late_message_of_a_run_that_was_moved_lets_no_other_in(world):
    put(world, "skip")
    first, other = run_now(world), run_now(world)
    moved = world.move.run_now(first.task_id)
    ends = []

    def body(payload, run):
        ends.append(world.deliver(first))
        ends.append(world.deliver(other))

    world.job("echo", body)
    world.deliver(moved)
    assert ends == [Verdict.KNOWN, Verdict.ENDED]
    assert world.status(other) is Status.SKIPPED
