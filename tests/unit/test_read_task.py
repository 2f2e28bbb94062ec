import pytest
from world import NOW

from minutero.domain.instants import HOUR, MINUTE, SECOND
from minutero.domain.task import new_task_id
from minutero.errors import NotFound, PermanentFailure


def test_a_task_is_read_through_its_whole_life(world):
    task = world.add(after=5 * MINUTE)
    seen = [world.status(task)]
    world.clock.advance(2 * MINUTE)
    world.tick()
    seen.append(world.status(task))
    world.clock.advance(3 * MINUTE)
    world.job("echo", lambda payload, run: seen.append(world.status(task)))
    world.work()
    seen.append(world.status(task))
    assert seen == ["scheduled", "claimed", "running", "succeeded"]


def test_a_failed_attempt_shows_as_retrying_until_the_next(world):
    def fails_once(payload, run):
        if run.attempt == 1:
            raise ValueError
        raise PermanentFailure

    world.job("echo", fails_once)
    task = world.add()
    world.work()
    assert world.status(task) == "retrying"
    world.clock.advance(MINUTE)
    world.work()
    assert world.status(task) == "dead"


def test_lateness_is_the_first_start_minus_the_due_time(world):
    task = world.add(after=SECOND)
    assert world.read_task(task.task_id).lateness_ms is None

    def fails(payload, run):
        raise ValueError

    world.job("echo", fails)
    world.clock.advance(SECOND + 120)
    world.work()
    world.clock.advance(MINUTE)
    world.work()
    assert len(world.runs) == 2
    assert world.read_task(task.task_id).lateness_ms == 120


@pytest.mark.parametrize(
    "task_id",
    ["", "nonsense", "1" + "_" * 24, "1" + "A" * 24, "x" * 5000, "../../etc", "1\ud800", "1/" * 12],
)
def test_what_is_no_id_is_not_found(world, task_id):
    with pytest.raises(NotFound) as missing:
        world.read_task(task_id)
    assert len(str(missing.value)) < 250


def test_an_id_of_no_task_is_not_found(world):
    with pytest.raises(NotFound, match="never added"):
        world.read_task(new_task_id(NOW, 1))


def test_a_moved_task_is_found_by_its_first_id(world):
    task = world.add(after=HOUR)
    for hours in (2, 3, 4):
        moved = world.move.reschedule(task.task_id, lambda now, hours=hours: now + hours * HOUR)
        assert world.read_task(task.task_id).task == moved
    assert (moved.run_no, moved.run_at) == (3, NOW + 4 * HOUR)


def test_a_task_that_moves_between_the_two_reads_is_found(world):
    task = world.add(after=HOUR)
    moved = world.move.reschedule(task.task_id, lambda now: now + 2 * HOUR)

    def moves_meanwhile(real, place):
        if place == moved.place:
            world.store.heal()
            world.move.reschedule(task.task_id, lambda now: now + 3 * HOUR)
        return real(place)

    world.store.always("get", moves_meanwhile)
    assert world.read_task(task.task_id).task.run_at == NOW + 3 * HOUR


def test_a_moved_task_that_has_expired_before_its_address_is_not_found(world):
    """DynamoDB deletes what has expired in no order at all."""
    task = world.add(after=HOUR)
    moved = world.move.reschedule(task.task_id, lambda now: now + 2 * HOUR)
    world.memory.tasks._delete(moved.place)
    with pytest.raises(NotFound):
        world.read_task(task.task_id)
    assert len(world.store.called("get")) < 10
