"""Cancel, move, bury, list: runs ended from outside, by the lock a start takes."""

from dataclasses import replace

import pytest
from worlds import KEEP, NOW, key_of

from minutero.domain.exchanged import Claim, DeadLetter, Move
from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.run import Ending, Outcome, Superseded
from minutero.domain.task import State, first_place

UNTIL = NOW + MINUTE
LARGE = '"' + "x" * 2_000 + '"'
LATER = KEEP + 99
RETENTION = 30 * DAY


def stored(world, task):
    if task.key:
        world.tasks.put_keyed(task, key_of(task), NOW)
    else:
        world.tasks.put(task)
    return task


def moved(task, run_at=NOW + HOUR, token="t1", at=NOW, redrives=None):
    to = task.moved(run_at, at, RETENTION)
    return Move(task, to, token, at, LATER, at, redrives)


def letter_for(task, reason="unsendable", died_at=NOW):
    return DeadLetter(task.run_id, task.place, task.job, task.tenant, reason, died_at, LATER)


def start(world, task, owner="worker", now=NOW):
    return world.ledger.start(task.run_id, owner, now, now + MINUTE, LATER)


# --- cancel


def test_a_cancelled_task_never_starts(world, new_task):
    task = stored(world, new_task())
    record = world.tasks.cancel(task, NOW, LATER, NOW)
    assert (record.outcome.ending, record.finished_at) == (Ending.CANCELLED, NOW)
    assert world.tasks.get(task.place).state is State.CANCELLED
    assert start(world, task).outcome.ending is Ending.CANCELLED


def test_cancelling_again_finds_it_cancelled(world, new_task):
    task = stored(world, new_task())
    world.tasks.cancel(task, NOW, LATER, NOW)
    again = world.tasks.cancel(task, NOW + 5, LATER, NOW + 5)
    assert (again.outcome.ending, again.finished_at) == (Ending.CANCELLED, NOW)


def test_a_running_task_is_not_cancelled(world, new_task):
    task = stored(world, new_task())
    running = start(world, task)
    assert world.tasks.cancel(task, NOW + 1, LATER, NOW + 1) == running
    assert world.tasks.get(task.place).state is State.SCHEDULED


def test_a_task_between_two_attempts_can_be_cancelled(world, new_task):
    task = stored(world, new_task())
    start(world, task)
    world.ledger.fail(task.run_id, "worker", "no", NOW + 1)
    record = world.tasks.cancel(task, NOW + 2, LATER, NOW + 2)
    assert (record.outcome.ending, record.attempts) == (Ending.CANCELLED, 1)


def test_what_is_over_is_not_cancelled(world, new_task):
    task = stored(world, new_task())
    start(world, task)
    world.ledger.finish(task.run_id, "worker", Outcome(Ending.SUCCEEDED), NOW + 1)
    assert world.tasks.cancel(task, NOW + 2, LATER, NOW + 2).outcome.ending is Ending.SUCCEEDED
    assert world.tasks.get(task.place).state is State.SCHEDULED


def test_an_attempt_is_given_up_by_the_margin_for_the_askers_clock(world, new_task):
    task = stored(world, new_task())
    running = start(world, task)
    ahead = UNTIL + 5 * SECOND
    move = replace(moved(task), at=ahead, given_up=UNTIL)
    assert world.tasks.cancel(task, ahead, LATER, UNTIL) == running
    assert world.tasks.move(move) == running
    assert world.tasks.move(replace(move, given_up=UNTIL + 1)) is None


# --- move


@pytest.mark.parametrize(
    "attributes", [{}, {"payload": LARGE, "large": True, "key": "k", "tenant": "acme"}]
)
def test_a_moved_task_lies_at_its_new_place_and_the_first_leads_there(world, new_task, attributes):
    task = stored(world, new_task(**attributes))
    move = moved(task)
    assert world.tasks.move(move) is None
    assert world.tasks.get(move.to.place) == move.to
    address = world.tasks.get(task.place)
    assert (address.state, address.moved_to) == (State.MOVED, move.to.place)
    assert start(world, task).outcome.ending is Ending.SUPERSEDED
    assert start(world, move.to).owner == "worker"
    if task.key:
        assert world.tasks.get_key("acme", "k", NOW).keep_until == move.to.keep_until


def test_a_task_moved_twice_leaves_one_address(world, new_task):
    task = stored(world, new_task(payload="1"))
    first, second = moved(task), None
    world.tasks.move(first)
    second = moved(first.to, NOW + 2 * HOUR, "t2")
    assert world.tasks.move(second) is None
    assert world.tasks.get(first.to.place) is None
    assert world.tasks.get(second.to.place) == second.to
    assert world.tasks.get(first_place(task.task_id)).moved_to == second.to.place


def test_a_moved_task_is_not_dispatched_from_where_it_was(world, new_task):
    task = stored(world, new_task())
    move = moved(task)
    world.tasks.move(move)
    assert not world.tasks.page(task.place.bucket).scheduled
    assert list(world.tasks.page(move.to.place.bucket).scheduled) == [move.to.pointer]


def test_a_moved_task_cannot_be_claimed_where_it_was(honest_world, new_task):
    task = stored(honest_world, new_task())
    move = moved(task)
    honest_world.tasks.move(move)
    places = [task.place, move.to.place]
    assert honest_world.tasks.claim(places, "c1", NOW) == [Claim.LOST, Claim.WON]


def test_moving_again_with_ones_own_token_is_moved(world, new_task):
    task = stored(world, new_task())
    move = moved(task)
    assert world.tasks.move(move) is None
    assert world.tasks.move(replace(move, at=NOW + 1)) is None
    assert world.tasks.get(move.to.place) == move.to


def test_of_two_moves_the_second_finds_the_first_in_its_way(world, new_task):
    task = stored(world, new_task())
    world.tasks.move(moved(task))
    blocking = world.tasks.move(moved(task, NOW + 3 * HOUR, "t2"))
    assert (blocking.outcome.ending, blocking.owner) == (Ending.SUPERSEDED, "t1")


def test_a_move_leaves_in_the_old_run_when_it_was_due_and_who_had_claimed_it(world, new_task):
    task = stored(world, new_task(attempts_before=2))
    world.tasks.mark_sent(task.place, "c1", NOW + 1)
    claimed = world.tasks.get(task.place)
    world.tasks.move(moved(claimed, at=NOW + 2))
    record = world.ledger.get(task.run_id)
    assert record.superseded == Superseded(task.run_at, "c1", NOW + 1, attempts_before=2)
    assert record.finished_at == NOW + 2


def test_a_running_task_is_not_moved(world, new_task):
    task = stored(world, new_task())
    running = start(world, task)
    move = moved(task)
    assert world.tasks.move(move) == running
    assert world.tasks.get(move.to.place) is None
    assert world.tasks.get(task.place) == task


def test_a_cancelled_task_is_not_moved(world, new_task):
    task = stored(world, new_task())
    world.tasks.cancel(task, NOW, LATER, NOW)
    assert world.tasks.move(moved(task)).outcome.ending is Ending.CANCELLED


# --- death without a message


def test_a_buried_task_is_dead_and_listed(world, new_task):
    task = stored(world, new_task(tenant="acme"))
    letter = letter_for(task)
    assert world.tasks.bury(letter)
    assert world.tasks.get(task.place).state is State.DEAD
    assert start(world, task).outcome == Outcome(Ending.DEAD, reason="unsendable")
    assert not world.tasks.page(task.place.bucket).scheduled
    listed, after = world.tasks.page_dead("2026-11-29", 3)
    assert (list(listed), after) == ([letter], None)


def test_a_run_a_worker_has_is_not_buried(world, new_task):
    task = stored(world, new_task())
    start(world, task)
    assert not world.tasks.bury(letter_for(task))
    assert world.tasks.get(task.place).state is State.SCHEDULED
    assert list(world.tasks.page_dead("2026-11-29", 3)[0]) == []


def test_what_is_over_is_not_buried(world, new_task):
    task = stored(world, new_task())
    world.tasks.cancel(task, NOW, LATER, NOW)
    assert not world.tasks.bury(letter_for(task))


# --- the list of the dead


def die(world, task, at=NOW):
    start(world, task, now=at)
    world.ledger.finish(task.run_id, "worker", Outcome(Ending.DEAD, reason="spent"), at)
    return letter_for(task, "spent", at)


def test_a_dead_run_is_listed_once(world, new_task):
    task = stored(world, new_task())
    letter = die(world, task)
    assert world.tasks.list_dead(letter)
    assert world.tasks.list_dead(letter)
    assert list(world.tasks.page_dead("2026-11-29", 3)[0]) == [letter]


def test_what_is_not_dead_is_not_listed(world, new_task):
    task = stored(world, new_task())
    assert not world.tasks.list_dead(letter_for(task))
    start(world, task)
    assert not world.tasks.list_dead(letter_for(task))
    world.ledger.finish(task.run_id, "worker", Outcome(Ending.SUCCEEDED), NOW)
    assert not world.tasks.list_dead(letter_for(task))
    assert list(world.tasks.page_dead("2026-11-29", 3)[0]) == []


def test_the_dead_are_listed_by_day_oldest_first(world, new_task):
    ages = [3 * SECOND, SECOND, 2 * SECOND]
    letters = [die(world, stored(world, new_task()), NOW + age) for age in ages]
    yesterday = die(world, stored(world, new_task()), NOW - DAY)
    for letter in [*letters, yesterday]:
        assert world.tasks.list_dead(letter)
    oldest_first = sorted(letters, key=lambda letter: letter.died_at)
    assert list(world.tasks.page_dead("2026-11-29", 3)[0]) == oldest_first
    assert list(world.tasks.page_dead("2026-11-28", 3)[0]) == [yesterday]
    assert list(world.tasks.page_dead("2026-11-29", 4)[0]) == []


def test_the_list_goes_on_after_a_letter_of_another_shard(world, new_task):
    """The shards of a day are listed side by side."""
    letters = [die(world, stored(world, new_task(shard=3 + n % 2)), NOW + n) for n in range(6)]
    for letter in letters:
        assert world.tasks.list_dead(letter)
    for last in letters:
        after = f"{last.died_at:014d}#{last.run_id}"
        later = [letter for letter in letters if letter.died_at > last.died_at]
        found = [world.tasks.page_dead("2026-11-29", shard, after)[0] for shard in (3, 4)]
        assert sorted((one for page in found for one in page), key=lambda one: one.died_at) == later


def test_a_redriven_task_lies_anew_and_is_listed_no_more(world, new_task):
    task = stored(world, new_task())
    letter = die(world, task)
    world.tasks.list_dead(letter)
    move = moved(task, NOW + SECOND, redrives=letter)
    assert world.tasks.move(move) is None
    assert world.tasks.get(move.to.place) == move.to
    assert list(world.tasks.page_dead("2026-11-29", 3)[0]) == []
    assert not world.tasks.list_dead(letter)
    assert start(world, move.to).attempts == 1
    assert world.tasks.move(replace(move, at=NOW + 7)) is None
    left = Superseded(task.run_at, redriven_at=NOW, reason=letter.reason)
    assert world.ledger.get(task.run_id).superseded == left
    assert world.ledger.get(task.run_id).finished_at == letter.died_at


def test_what_is_not_dead_is_not_redriven(world, new_task):
    task = stored(world, new_task())
    start(world, task)
    world.ledger.finish(task.run_id, "worker", Outcome(Ending.SUCCEEDED), NOW)
    move = moved(task, NOW + SECOND, redrives=letter_for(task))
    assert world.tasks.move(move).outcome.ending is Ending.SUCCEEDED
    assert world.tasks.get(move.to.place) is None
