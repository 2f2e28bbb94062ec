"""Discard: a dead run taken off the list for good."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from botocore.exceptions import ConnectTimeoutError
from worlds import KEEP, NOW

from minutero.domain.exchanged import DeadLetter, Move
from minutero.domain.instants import DAY, HOUR, MINUTE
from minutero.domain.lifecycle import Status, status_of
from minutero.domain.run import Attempt, Ending, Outcome
from minutero.domain.task import Place
from minutero.errors import Unavailable

UNTIL = NOW + MINUTE


def letter_for(task, reason="spent"):
    return DeadLetter(task.run_id, task.place, task.job, task.tenant, reason, NOW + 1, KEEP)


def dead(world, new_task):
    """A task whose second attempt was its last, listed: the task and its letter."""
    task = new_task(tenant="acme")
    world.tasks.put(task)
    world.ledger.start(task.run_id, "a", NOW, UNTIL, KEEP)
    world.ledger.fail(task.run_id, "a", "no", NOW)
    world.ledger.start(task.run_id, "b", NOW, UNTIL, KEEP)
    world.ledger.finish(task.run_id, "b", Outcome(Ending.DEAD, reason="spent"), NOW + 1)
    letter = letter_for(task)
    assert world.tasks.list_dead(letter)
    return task, letter


def redrive_of(task, letter, token="t"):
    return Move(task, task.moved(NOW + HOUR, NOW, DAY), token, NOW, KEEP, NOW, letter)


def listed(world):
    return list(world.tasks.page_dead("2026-11-29", 3)[0])


def test_a_discarded_run_is_listed_no_more_and_keeps_what_it_was(world, new_task):
    task, letter = dead(world, new_task)
    before = world.ledger.get(task.run_id)
    assert world.tasks.discard(letter)
    assert listed(world) == []
    record = world.ledger.get(task.run_id)
    assert record.outcome == Outcome(Ending.DISCARDED, reason="spent")
    assert replace(record, outcome=before.outcome, owner=before.owner) == before
    assert record.failures == (Attempt(1, NOW, "no"),)
    assert status_of(world.tasks.get(task.place), record, NOW) is Status.DEAD


def test_discarding_again_finds_it_discarded(world, new_task):
    _, letter = dead(world, new_task)
    assert world.tasks.discard(letter)
    assert world.tasks.discard(letter)


def test_one_discard_leaves_the_other_letters(world, new_task):
    (_, letter), (_, other) = dead(world, new_task), dead(world, new_task)
    assert world.tasks.discard(letter)
    assert listed(world) == [other]


def test_a_discarded_run_is_over(world, new_task):
    task, letter = dead(world, new_task)
    world.tasks.discard(letter)
    found = world.ledger.start(task.run_id, "c", UNTIL + HOUR, UNTIL + 2 * HOUR, KEEP)
    assert found.outcome.ending is Ending.DISCARDED
    assert not world.ledger.finish(task.run_id, "c", Outcome(Ending.SUCCEEDED), NOW)
    assert not world.tasks.bury(letter)
    assert world.tasks.cancel(task, NOW, KEEP, NOW).outcome.ending is Ending.DISCARDED


def test_a_late_message_of_a_discarded_run_does_not_list_it_again(world, new_task):
    _, letter = dead(world, new_task)
    world.tasks.discard(letter)
    assert not world.tasks.list_dead(letter)
    assert listed(world) == []


def test_a_run_may_be_discarded_before_it_is_listed(world, new_task):
    task = new_task()
    world.tasks.put(task)
    world.ledger.close(task.run_id, Outcome(Ending.DEAD, reason="spent"), NOW, KEEP)
    assert world.tasks.discard(letter_for(task))
    assert not world.tasks.list_dead(letter_for(task))
    assert listed(world) == []


def test_a_buried_run_may_be_discarded(world, new_task):
    task = new_task()
    world.tasks.put(task)
    letter = letter_for(task, "unsendable")
    assert world.tasks.bury(letter)
    assert world.tasks.discard(letter)
    assert listed(world) == []
    assert world.ledger.get(task.run_id).outcome == Outcome(Ending.DISCARDED, reason="unsendable")


def test_a_discarded_run_is_not_redriven(world, new_task):
    task, letter = dead(world, new_task)
    world.tasks.discard(letter)
    move = redrive_of(task, letter)
    assert world.tasks.move(move).outcome.ending is Ending.DISCARDED
    assert world.tasks.get(move.to.place) is None


def test_a_redriven_run_is_not_discarded(world, new_task):
    task, letter = dead(world, new_task)
    move = redrive_of(task, letter)
    assert world.tasks.move(move) is None
    assert not world.tasks.discard(letter)
    assert world.ledger.get(task.run_id).outcome.ending is Ending.SUPERSEDED
    assert world.tasks.get(move.to.place) == move.to


@pytest.mark.parametrize(
    "ending", [None, *(one for one in Ending if one not in (Ending.DEAD, Ending.DISCARDED))]
)
def test_what_is_not_dead_is_not_discarded(world, new_task, ending):
    task = new_task()
    world.tasks.put(task)
    assert not world.tasks.discard(letter_for(task))
    assert world.ledger.get(task.run_id) is None
    world.ledger.start(task.run_id, "a", NOW, UNTIL, KEEP)
    if ending is not None:
        world.ledger.finish(task.run_id, "a", Outcome(ending), NOW)
    before = world.ledger.get(task.run_id)
    assert not world.tasks.discard(letter_for(task))
    assert world.ledger.get(task.run_id) == before


@pytest.mark.parametrize("sk", ["", "07#nothing#0000"])
def test_of_a_row_that_could_not_be_read_the_letter_alone_goes(world, new_task, sk):
    """It has no run; that of a task with the same sort key is another's business."""
    task = new_task()
    world.tasks.put(task)
    place = replace(task.place, sk=sk or task.place.sk)
    if world.tables is not None:
        row = {"bucket": {"S": place.bucket}, "sk": {"S": place.sk}}
        world.tables.client.put_item(TableName=world.tables.names.tasks, Item=row)
    world.tasks.bury_unreadable(place, "cannot be read", NOW, KEEP)
    (letter,) = listed(world)
    assert not letter.has_run
    assert world.tasks.discard(letter)
    assert world.tasks.discard(letter)
    assert listed(world) == []
    assert world.ledger.get(task.run_id) is None


def test_the_letter_of_a_run_says_that_it_has_one(new_task):
    assert letter_for(new_task()).has_run
    assert not DeadLetter("?", Place("b", "?"), "", "", "why", NOW, KEEP).has_run


def test_a_discard_whose_answer_got_lost_may_be_repeated(moto_world, new_task, monkeypatch):
    _, letter = dead(moto_world, new_task)
    real = moto_world.tables.client._make_api_call

    def loses_its_answer(operation, request):
        real(operation, request)
        raise ConnectTimeoutError(endpoint_url="http://dynamodb")

    with monkeypatch.context() as lost:
        lost.setattr(moto_world.tables.client, "_make_api_call", loses_its_answer)
        with pytest.raises(Unavailable):
            moto_world.tasks.discard(letter)
    assert moto_world.tasks.discard(letter)
    assert listed(moto_world) == []


@pytest.mark.stack
def test_of_a_redrive_and_a_discard_one_has_the_run(ministack_world, new_task):
    tasks, ends = ministack_world.tasks, []
    with ThreadPoolExecutor(2) as threads:
        for _ in range(20):
            task, letter = dead(ministack_world, new_task)
            redriven = threads.submit(tasks.move, redrive_of(task, letter))
            discarded = threads.submit(tasks.discard, letter)
            ends.append((redriven.result() is None, discarded.result()))
    assert {redriven != discarded for redriven, discarded in ends} == {True}
    assert listed(ministack_world) == []
