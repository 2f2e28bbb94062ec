"""The dead-letter function: which runs are listed."""

import pytest
from faults import is_down, loses_its_answer
from world import NOW

from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.run import Ending, Outcome
from minutero.errors import Conflict, PermanentFailure, Unavailable
from minutero.service.dead_letter import KILLER, Burial
from minutero.service.letters import letter_of


def gives_up(payload, run):
    raise PermanentFailure("account closed")


@pytest.fixture
def dead(world):
    """A task whose run a worker has ended as dead."""
    world.job("echo", gives_up)
    task = world.add(tenant="acme")
    world.work()
    return task


def test_a_run_a_worker_ended_as_dead_is_listed_with_its_reason(world, dead):
    world.clock.advance(HOUR)
    assert world.bury_message(dead.pointer) is Burial.LISTED
    letter = world.memory.tasks.letters[dead.run_id]
    assert (letter.job, letter.tenant, letter.place) == ("echo", "acme", dead.place)
    assert letter.reason == "PermanentFailure: account closed"
    assert letter.died_at == NOW
    assert letter.keep_until == (NOW + 30 * DAY) // SECOND


def test_listing_it_again_lists_the_same(world, dead):
    world.bury_message(dead.pointer)
    first = dict(world.memory.tasks.letters)
    world.clock.advance(HOUR)
    assert world.bury_message(dead.pointer) is Burial.LISTED
    assert world.memory.tasks.letters == first


def test_a_message_that_killed_its_workers_ends_its_run_as_dead(world):
    task = world.add()
    world.memory.ledger.start(task.run_id, "w", NOW, NOW + MINUTE, (NOW + DAY) // SECOND)
    world.clock.advance(MINUTE + 1)
    assert world.bury_message(task.pointer) is Burial.LISTED
    record = world.record(task)
    assert record.outcome == Outcome(Ending.DEAD, reason=KILLER)
    assert record.attempts == 1, "a burial is no attempt"
    assert world.status(task) == "dead"
    assert world.deliver(task).value == "known"


def test_a_message_that_never_started_a_run_ends_it_as_well(world):
    task = world.add()
    assert world.bury_message(task.pointer) is Burial.LISTED
    assert world.status(task) == "dead"
    world.work()
    assert world.runs == []


def test_a_living_run_is_left_to_its_worker_and_looked_at_later(world):
    task = world.add()
    world.memory.ledger.start(task.run_id, "w", NOW, NOW + MINUTE, (NOW + DAY) // SECOND)
    before = world.record(task)
    assert world.bury_message(task.pointer) is Burial.KEPT
    assert world.record(task) == before
    assert world.memory.tasks.letters == {}


@pytest.mark.parametrize("end", ["succeeded", "cancelled"])
def test_a_run_that_ended_otherwise_is_not_dead(world, end):
    task = world.add()
    if end == "cancelled":
        world.cancel(task.task_id)
    else:
        world.work()
    assert world.bury_message(task.pointer) is Burial.NOT_DEAD
    assert world.status(task) == end
    assert world.memory.tasks.letters == {}


def test_a_run_that_was_redriven_meanwhile_is_not_listed_again(world, dead):
    world.bury_message(dead.pointer)
    world.move.redrive(dead.task_id)
    assert world.memory.tasks.letters == {}
    assert world.bury_message(dead.pointer) is Burial.NOT_DEAD
    assert world.memory.tasks.letters == {}


def test_a_run_redriven_in_the_middle_of_the_listing_is_not_listed(world, dead):
    def redriven_first(real, letter):
        world.move.redrive(dead.task_id)
        return real(letter)

    world.store.next("list_dead", redriven_first)
    assert world.bury_message(dead.pointer) is Burial.NOT_DEAD
    assert world.memory.tasks.letters == {}


def discard(world, task):
    """Takes a dead task off the list."""
    assert world.memory.tasks.discard(letter_of(task, world.record(task), world.timing))


def test_a_run_that_was_discarded_meanwhile_is_not_listed_again(world, dead):
    world.bury_message(dead.pointer)
    discard(world, dead)
    assert world.memory.tasks.letters == {}
    assert world.bury_message(dead.pointer) is Burial.NOT_DEAD
    assert world.memory.tasks.letters == {}
    assert world.status(dead) == "dead"


def test_a_run_discarded_in_the_middle_of_the_listing_is_not_listed(world, dead):
    def discarded_first(real, letter):
        discard(world, dead)
        return real(letter)

    world.store.next("list_dead", discarded_first)
    assert world.bury_message(dead.pointer) is Burial.NOT_DEAD
    assert world.memory.tasks.letters == {}


def test_a_discarded_run_is_not_redriven(world, dead):
    discard(world, dead)
    with pytest.raises(Conflict, match="was discarded"):
        world.move.redrive(dead.task_id)
    assert world.record(dead).outcome.ending is Ending.DISCARDED


def test_a_message_of_no_task_is_an_orphan(world, dead):
    world.memory.tasks._delete(dead.place)
    assert world.bury_message(dead.pointer) is Burial.ORPHAN


@pytest.mark.parametrize("fault", [is_down, loses_its_answer])
@pytest.mark.parametrize(("part", "method"), [("ledger", "close"), ("store", "list_dead")])
def test_a_burial_that_is_not_answered_is_repeated_to_the_same_end(world, part, method, fault):
    task = world.add()
    getattr(world, part).next(method, fault)
    with pytest.raises(Unavailable):
        world.bury_message(task.pointer)
    world.clock.advance(MINUTE)
    assert world.bury_message(task.pointer) is Burial.LISTED
    assert list(world.memory.tasks.letters) == [task.run_id]
