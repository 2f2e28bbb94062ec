"""Cancel, reschedule, run now and redrive: each takes the very lock a starting run takes."""

import pytest
from faults import ProcessDied
from world import NOW

from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.task import State
from minutero.errors import Conflict, NotFound, PermanentFailure


def gives_up(payload, run):
    raise PermanentFailure("account closed")


def fails(payload, run):
    raise ValueError


def dies(payload, run):
    raise ProcessDied


@pytest.mark.parametrize("after", [0, MINUTE, HOUR])
def test_a_cancelled_task_never_runs_whatever_waits_in_the_queue(world, after):
    task = world.add(after=after)
    world.cancel(task.task_id)
    assert world.status(task) == "cancelled"
    world.play(minutes=after // MINUTE + 1)
    assert world.runs == []
    assert world.status(task) == "cancelled"


def test_cancelling_again_is_no_error(world):
    task = world.add(after=HOUR)
    world.cancel(task.task_id)
    world.cancel(task.task_id)
    assert world.status(task) == "cancelled"


def test_a_running_task_can_be_neither_cancelled_nor_moved(world):
    refused = []

    def job(payload, run):
        for call in (
            world.cancel,
            world.move.run_now,
            lambda task_id: world.move.reschedule(task_id, lambda now: now + HOUR),
        ):
            with pytest.raises(Conflict, match="running"):
                call(run.task_id)
            refused.append(call)

    world.job("echo", job)
    task = world.add()
    world.work()
    assert len(refused) == 3
    assert world.status(task) == "succeeded"


def test_a_task_that_is_over_can_be_neither_cancelled_nor_moved(world):
    task = world.add()
    world.work()
    with pytest.raises(Conflict, match="succeeded"):
        world.cancel(task.task_id)
    with pytest.raises(Conflict, match="succeeded"):
        world.move.reschedule(task.task_id, lambda now: now + HOUR)
    with pytest.raises(Conflict, match="not dead"):
        world.move.redrive(task.task_id)
    assert world.status(task) == "succeeded"


def test_a_cancelled_task_is_not_brought_back_by_a_move(world):
    task = world.add(after=HOUR)
    world.cancel(task.task_id)
    with pytest.raises(Conflict, match="cancelled"):
        world.move.run_now(task.task_id)
    assert world.status(task) == "cancelled"


@pytest.mark.parametrize("job", [fails, dies])
def test_a_task_between_two_attempts_can_be_cancelled(world, job):
    world.job("echo", job)
    task = world.add()
    try:
        world.work()
    except ProcessDied:
        world.clock.advance(91 * SECOND)
    assert world.status(task) == "retrying"
    world.cancel(task.task_id)
    world.play(minutes=3)
    assert len(world.runs) == 1
    assert world.status(task) == "cancelled"


def test_a_rescheduled_task_runs_at_its_new_time_and_only_then(world):
    task = world.add(after=10 * SECOND)
    moved = world.move.reschedule(task.task_id, lambda now: now + 5 * MINUTE)
    assert moved.task_id == task.task_id
    world.play(minutes=6)
    assert world.runs == [(task.task_id, 1, NOW + 5 * MINUTE)]


def test_a_task_brought_forward_is_sent_at_once(world):
    task = world.add(after=DAY)
    moved = world.move.run_now(task.task_id)
    assert moved.state is State.CLAIMED
    world.work()
    assert world.runs == [(task.task_id, 1, NOW)]
    world.clock.set(NOW + DAY)
    world.play(minutes=2)
    assert len(world.runs) == 1


def test_a_task_moved_many_times_lies_at_its_address_and_its_last_place_alone(world):
    task = world.add(after=HOUR)
    for hours in range(2, 8):
        world.move.reschedule(task.task_id, lambda now, hours=hours: now + hours * HOUR)
    items = [item for bucket in world.memory.tasks.buckets.values() for item in bucket.values()]
    assert sorted(item.run_no for item in items) == [0, 6]
    world.cancel(task.task_id)
    assert world.status(task) == "cancelled"


def test_a_dead_task_is_redriven_with_all_its_attempts(world):
    world.job("echo", gives_up)
    task = world.add(max_attempts=2)
    world.work()
    world.bury_message(world.dead[0].pointer)
    world.job("echo", fails)
    redriven = world.move.redrive(task.task_id)
    assert world.memory.tasks.letters == {}
    assert redriven.attempts_before == 0
    world.play(minutes=1)
    assert [attempt for _, attempt, _ in world.runs] == [1, 1, 2]
    assert world.status(task) == "dead"


def test_a_redrive_before_its_letter_is_listed_is_taken(world):
    world.job("echo", gives_up)
    task = world.add()
    world.work()
    world.job("echo", lambda payload, run: None)
    world.move.redrive(task.task_id)
    world.work()
    assert world.status(task) == "succeeded"
    assert world.bury_message(world.dead[0].pointer).value == "not dead"


def test_a_redrive_of_what_is_not_dead_is_refused(world):
    task = world.add(after=HOUR)
    with pytest.raises(Conflict, match="not dead"):
        world.move.redrive(task.task_id)


@pytest.mark.parametrize("call", ["cancel", "run_now", "redrive"])
def test_an_unknown_task_is_not_found(world, call):
    act = world.cancel if call == "cancel" else getattr(world.move, call)
    with pytest.raises(NotFound):
        act("1" + "A" * 24)


def test_a_cancel_that_meets_a_move_follows_it(world):
    task = world.add(after=HOUR)

    def moved_first(real, *args):
        world.move.reschedule(task.task_id, lambda now: now + 2 * HOUR)
        return real(*args)

    world.store.next("cancel", moved_first)
    world.cancel(task.task_id)
    assert world.status(task) == "cancelled"
    assert world.read_task(task.task_id).task.run_no == 1


def test_a_cancel_that_meets_a_start_knows_it(world):
    task = world.add()

    def starts_first(real, *args):
        world.memory.ledger.start(task.run_id, "w", NOW, NOW + MINUTE, (NOW + DAY) // SECOND)
        return real(*args)

    world.store.next("cancel", starts_first)
    with pytest.raises(Conflict, match="running"):
        world.cancel(task.task_id)
    assert world.status(task) == "running"


def test_retention_follows_the_task_and_its_key(world):
    task = world.add(after=HOUR, key="k", body_hash="h")
    moved = world.move.reschedule(task.task_id, lambda now: now + 100 * DAY)
    assert moved.keep_until == (NOW + 130 * DAY) // SECOND
    assert world.memory.tasks.get_key("", "k", NOW).keep_until == moved.keep_until
