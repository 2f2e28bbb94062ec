"""One batch: open claim, claims, sends, close; and the rescue of a batch left behind."""

import itertools

import pytest
from faults import (
    ProcessDied,
    answers_unknown,
    fails_all,
    is_down,
    loses_its_answer,
    process_dies,
    refuses_all,
    takes_effect_unknown,
    works,
)
from world import NOW, World

from minutero.domain.buckets import claim_sort_key
from minutero.domain.exchanged import Claim, Sent
from minutero.domain.instants import DAY, MINUTE, SECOND
from minutero.domain.task import OpenClaim, State
from minutero.service.claim_batch import LATENESSES, Tally


def scheduled(world, count=1, **more):
    tasks = [world.add_crashed(**more) for _ in range(count)]
    world.store.calls.clear()
    return tasks


def pointers(tasks):
    return [task.pointer for task in tasks]


def abandon(world, count=3):
    """A batch whose dispatcher died after its claims; (its open claim, its tasks)."""
    tasks = scheduled(world, count)
    world.queue.always("send", process_dies)
    with pytest.raises(ProcessDied):
        world.batch().claim_and_send(tasks[0].place.bucket, pointers(tasks))
    world.queue.heal()
    world.store.calls.clear()
    [claim] = world.open_claims()
    return claim, tasks


# --- a batch


def test_the_claim_is_opened_before_the_first_task_is_taken_and_closed_after_the_last_is_sent(
    world,
):
    [task] = scheduled(world)
    order = []
    world.store.always("open_claim", lambda real, *args: order.append("open") or real(*args))
    world.store.always("claim", lambda real, *args: order.append("claim") or real(*args))
    world.queue.always("send", lambda real, *args: order.append("send") or real(*args))
    world.store.always("close_claim", lambda real, *args: order.append("close") or real(*args))
    world.batch().claim_and_send(task.place.bucket, [task.pointer])
    assert order == ["open", "claim", "send", "close"]
    assert world.stored(task).claim_id == world.store.called("open_claim")[0][0].claim_id


def test_every_batch_has_a_claim_id_of_its_own(world):
    for _ in range(50):
        [task] = scheduled(world)
        world.batch().claim_and_send(task.place.bucket, [task.pointer])
    ids = {task.claim_id for b in world.memory.tasks.buckets.values() for task in b.values()}
    assert len(ids) == 50


def test_a_claim_that_cannot_be_opened_takes_nothing(world):
    [task] = scheduled(world)
    world.store.always("open_claim", is_down)
    with pytest.raises(Exception, match="down"):
        world.batch().claim_and_send(task.place.bucket, [task.pointer])
    assert world.stored(task).state is State.SCHEDULED
    assert len(world.queue) == 0


def test_what_another_has_taken_is_lost_and_not_sent(world):
    mine, theirs = scheduled(world, 2)
    world.memory.tasks.claim([theirs.place], "another", NOW)
    batch = world.batch()
    batch.claim_and_send(mine.place.bucket, pointers([mine, theirs]))
    assert (batch.tally.claimed, batch.tally.claims_lost) == (1, 1)
    assert world.waiting_ids() == [mine.task_id]
    assert world.stored(theirs).claim_id == "another"
    assert world.open_claims() == []


def test_a_task_cancelled_meanwhile_is_lost(world):
    [task] = scheduled(world)
    world.cancel(task.task_id)
    batch = world.batch()
    batch.claim_and_send(task.place.bucket, [task.pointer])
    assert (batch.tally.claims_lost, len(world.queue)) == (1, 0)
    assert world.open_claims() == []


@pytest.mark.parametrize("unknown", [answers_unknown, takes_effect_unknown])
def test_unknown_answers_are_asked_again_with_the_same_claim_id(world, unknown):
    tasks = scheduled(world, 30)
    world.store.next("claim", unknown, works, unknown, unknown)
    batch = world.batch()
    batch.claim_and_send(tasks[0].place.bucket, pointers(tasks))
    asked = world.store.called("claim")
    assert [len(args[0]) for args in asked] == [25, 5, 25, 25, 25]
    assert len({args[1] for args in asked}) == 1
    assert (batch.tally.claimed, batch.tally.sent, batch.tally.claims_lost) == (30, 30, 0)
    assert sorted(world.waiting_ids()) == sorted(task.task_id for task in tasks)
    assert world.open_claims() == []


def test_only_the_unknown_ones_are_asked_again(world):
    tasks = scheduled(world, 3)

    def second_unknown(real, places, claim_id, at, taken_from=None):
        answers = real(places, claim_id, at, taken_from)
        return [answers[0], Claim.UNKNOWN, answers[2]]

    world.store.next("claim", second_unknown)
    world.batch().claim_and_send(tasks[0].place.bucket, pointers(tasks))
    assert world.store.called("claim")[1][0] == [tasks[1].place]
    assert len(world.queue) == 3


def test_what_stays_unknown_keeps_the_claim_open_and_what_was_won_is_sent(world):
    tasks = scheduled(world, 2)

    def second_unknown(real, places, claim_id, at, taken_from=None):
        return [
            Claim.UNKNOWN if place == tasks[1].place else real([place], claim_id, at, taken_from)[0]
            for place in places
        ]

    world.store.always("claim", second_unknown)
    batch = world.batch(enough=2 * SECOND)
    batch.claim_and_send(tasks[0].place.bucket, pointers(tasks))
    assert world.waiting_ids() == [tasks[0].task_id]
    assert batch.tally.left_open == 1
    assert len(world.open_claims()) == 1


def test_every_entry_of_every_answer_is_read(world):
    """Of one SendMessageBatch: one sent, one failed by the queue's fault, one refused."""
    tasks = scheduled(world, 3)

    def mixed(real, messages):
        real(messages[:1])
        return [Sent.SENT, Sent.FAILED, Sent.REFUSED]

    world.queue.next("send", mixed)
    batch = world.batch()
    batch.claim_and_send(tasks[0].place.bucket, pointers(tasks))
    assert [len(args[0]) for args in world.queue.called("send")] == [3, 1]
    assert world.waiting_ids() == [tasks[0].task_id, tasks[1].task_id]
    assert (batch.tally.sent, batch.tally.buried, batch.tally.left_open) == (2, 1, 0)
    assert list(world.memory.tasks.letters) == [tasks[2].run_id]
    assert world.open_claims() == []


def test_a_message_sent_again_has_its_delay_of_then(world):
    [task] = scheduled(world, after=MINUTE)
    world.queue.next("send", *[fails_all] * 12)
    world.batch().claim_and_send(task.place.bucket, [task.pointer])
    [message] = world.waiting()
    assert world.clock.now() + message.delay * SECOND >= task.run_at
    assert message.delay < 60


def test_pauses_between_tries_grow_and_stay_short(world):
    tried = []

    def notes(real, messages):
        tried.append(world.clock.now())
        return fails_all(real, messages)

    [task] = scheduled(world)
    world.queue.always("send", notes)
    world.batch(enough=10 * SECOND).claim_and_send(task.place.bucket, [task.pointer])
    pauses = [later - earlier for earlier, later in itertools.pairwise(tried)]
    assert pauses[:6] == [50, 100, 200, 400, 800, 1000]
    assert max(pauses) == 1000


def test_a_batch_that_meets_no_trouble_never_pauses(world):
    tasks = scheduled(world, 30)
    world.batch().claim_and_send(tasks[0].place.bucket, pointers(tasks))
    assert world.clock.now() == NOW


def test_a_batch_begun_late_makes_one_try(world):
    [task] = scheduled(world)
    world.batch(enough=0).claim_and_send(task.place.bucket, [task.pointer])
    assert len(world.queue) == 1
    assert world.open_claims() == []


def test_a_refused_task_that_a_worker_has_already_is_not_buried(world):
    [task] = scheduled(world)
    world.memory.ledger.start(task.run_id, "worker", NOW, NOW + MINUTE, NOW)
    world.queue.next("send", refuses_all)
    batch = world.batch()
    batch.claim_and_send(task.place.bucket, [task.pointer])
    assert batch.tally.buried == 0
    assert world.memory.tasks.letters == {}
    assert world.status(task) == "running"


def test_a_buried_task_is_kept_as_long_as_its_letter_or_longer(world):
    near, far = scheduled(world, 1)[0], world.add(after=50 * DAY)
    world.queue.next("send", refuses_all, refuses_all)
    for task in (near, far):
        world.batch().claim_and_send(task.place.bucket, [task.pointer])
    letters = world.memory.tasks.letters
    assert letters[near.run_id].keep_until == (NOW + 30 * DAY) // SECOND
    assert letters[far.run_id].keep_until == far.keep_until


# --- a rescue


def test_a_claim_is_rescuable_once_its_lease_has_run_out(world):
    claim = OpenClaim("b", "c", NOW)
    world.clock.advance(120 * SECOND)
    assert not world.batch().is_rescuable(claim)
    world.clock.advance(1)
    assert world.batch().is_rescuable(claim)


def test_a_rescue_takes_exactly_what_was_claimed_under_the_old_claim(world):
    old, tasks = abandon(world)
    [fresh] = scheduled(world)
    [other] = scheduled(world)
    world.memory.tasks.claim([other.place], "another", NOW)
    world.clock.advance(121 * SECOND)
    batch = world.batch()
    batch.rescue(old)
    assert sorted(world.waiting_ids()) == sorted(task.task_id for task in tasks)
    assert (batch.tally.rescued, batch.tally.sent) == (3, 3)
    assert world.stored(fresh).state is State.SCHEDULED
    assert world.stored(other).claim_id == "another"
    assert world.open_claims() == []


def test_the_new_claim_is_opened_before_the_old_is_deleted_and_sorts_after_it(world):
    old, _ = abandon(world)
    world.batch().rescue(old)  # even by a clock that has not moved
    names = world.store.names("open_claim", "claim", "close_claim")
    assert names == ["open_claim", "claim", "close_claim", "close_claim"]
    new = world.store.called("open_claim")[0][0]
    assert world.store.called("close_claim") == [(old,), (new,)]
    assert claim_sort_key(new.opened_at, "") > claim_sort_key(old.opened_at, "~")


def test_there_is_an_open_claim_at_every_moment_of_a_rescue(world):
    old, _ = abandon(world)
    counts = []

    def looks(real, *args, **kwargs):
        counts.append(len(world.open_claims()))
        return real(*args, **kwargs)

    for method in ("claim", "page_claimed", "close_claim"):
        world.store.always(method, looks)
    world.queue.always("send", looks)
    world.batch().rescue(old)
    assert counts == [2] * (len(counts) - 1) + [1]


def test_the_old_claim_stays_while_something_is_claimed_under_it(world):
    old, tasks = abandon(world)
    world.clock.advance(121 * SECOND)
    world.store.always("claim", answers_unknown)
    world.batch(enough=SECOND).rescue(old)
    assert old in world.open_claims()
    assert len(world.open_claims()) == 2
    world.store.heal()
    world.clock.advance(121 * SECOND)
    for claim in world.open_claims():
        world.batch().rescue(claim)
    assert world.open_claims() == []
    assert sorted(world.waiting_ids()) == sorted(task.task_id for task in tasks)


def test_a_rescue_that_dies_is_rescued(world):
    old, tasks = abandon(world)
    world.clock.advance(121 * SECOND)
    world.queue.next("send", process_dies)
    with pytest.raises(ProcessDied):
        world.batch().rescue(old)
    world.clock.advance(121 * SECOND)
    for claim in world.open_claims():
        world.batch().rescue(claim)
    assert sorted(world.waiting_ids()) == sorted(task.task_id for task in tasks)
    assert world.open_claims() == []


def test_what_its_owner_had_sent_is_sent_twice_and_runs_once(world):
    tasks = scheduled(world, 2)
    world.store.next("close_claim", is_down)
    with pytest.raises(Exception, match="down"):
        world.batch().claim_and_send(tasks[0].place.bucket, pointers(tasks))
    world.clock.advance(121 * SECOND)
    world.batch().rescue(world.open_claims()[0])
    assert len(world.queue) == 4
    world.work()
    assert len(world.runs) == 2


def test_an_empty_claim_is_just_closed(world):
    world.memory.tasks.open_claim(old := OpenClaim(world.bucket(NOW), "abc", NOW))
    world.batch().rescue(old)
    assert world.open_claims() == []
    assert len(world.queue) == 0


def test_a_rescue_reads_all_pages():
    world = World(page=2)
    old, tasks = abandon(world, count=9)
    world.batch().rescue(old)
    assert sorted(world.waiting_ids()) == sorted(task.task_id for task in tasks)
    assert world.open_claims() == []


def test_a_rescue_whose_answers_get_lost_can_be_repeated(world):
    old, tasks = abandon(world)
    world.clock.advance(121 * SECOND)
    world.store.next("claim", loses_its_answer)
    with pytest.raises(Exception, match="lost"):
        world.batch().rescue(old)
    world.clock.advance(121 * SECOND)
    for claim in world.open_claims():
        world.batch().rescue(claim)
    assert sorted(world.waiting_ids()) == sorted(task.task_id for task in tasks)


def test_of_many_late_tasks_some_are_kept_roughly_spread_and_the_greatest_among_them():
    tally = Tally()
    for page in range(200):
        tally.claimed += 500
        tally.late([page * 500 + at for at in range(500)])
    kept = sorted(tally.lateness_ms)
    assert len(kept) <= 2 * LATENESSES
    assert kept[-1] == 99_999
    assert 30_000 < kept[len(kept) // 2] < 70_000


def test_of_few_late_tasks_all_are_kept():
    tally = Tally(claimed=3)
    tally.late([5, 1, 3])
    assert sorted(tally.lateness_ms) == [1, 3, 5]
