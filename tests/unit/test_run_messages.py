"""One delivery of a batch: its order, what is acknowledged and when."""

import pytest
from faults import Faulty, ProcessDied, is_down
from hypothesis import strategies as st
from properties import given
from world import NOW, World, make_task

from minutero.aws.queue import encode_message, parse_message
from minutero.domain.instants import HOUR, SECOND
from minutero.errors import Unavailable
from minutero.service.execute import Verdict
from minutero.service.messages import Kept
from minutero.service.run_messages import Batch, Delivery, RunMessages

DEADLINE = NOW + 60 * SECOND


class Receipts:
    """`Inbox` that keeps each request."""

    def __init__(self):
        self.requests = []

    def acknowledge(self, receipts):
        self.requests.append(list(receipts))

    @property
    def all(self):
        return [receipt for request in self.requests for receipt in request]


class Hand:
    """A worker with one batch in hand. `deliveries` are named after their tasks."""

    def __init__(self, world):
        self.world = world
        self.inbox = Receipts()
        self.store = Faulty(world.memory.tasks)
        messages = RunMessages(self.store, world.execute, parse_message)
        self.batch = Batch(messages, self.inbox, world.clock.now() + DEADLINE - NOW)

    def delivery(self, task=None, receives=1, **more):
        task = task or self.world.add(**more)
        return Delivery(encode_message(task.pointer), task.task_id, receives)

    def run(self, deliveries):
        """As the handler does it: in order, one failure stopping no other. Those that were kept."""
        kept = []
        for delivery in self.batch.read(deliveries):
            try:
                self.batch.run(delivery)
            except (Kept, Unavailable):
                kept.append(delivery)
        return kept


@pytest.fixture
def hand(world):
    return Hand(world)


def dies(payload, run):
    raise ProcessDied


def started(world):
    return [task_id for task_id, _, _ in world.runs]


def receipts(deliveries):
    return [delivery.receipt for delivery in deliveries]


# --- order


@given(st.lists(st.integers(1, 4), max_size=10))
def test_suspects_come_last_and_the_others_keep_their_order(receives):
    hand = Hand(World())
    deliveries = [hand.delivery(receives=count) for count in receives]
    fresh = [one for one in deliveries if one.receives == 1]
    suspects = [one for one in deliveries if one.receives > 1]
    in_order = hand.batch.read(deliveries)
    assert in_order[: len(fresh)] == fresh
    assert sorted(receipts(in_order[len(fresh) :])) == sorted(receipts(suspects))


@pytest.mark.parametrize("at", range(4))
def test_whoever_stood_behind_one_that_ended_the_process_stands_before_it_the_next_time(world, at):
    """All of them are suspects then, since none was acknowledged."""
    world.job("poison", dies)
    tasks = [world.add(job="poison" if n == at else "echo") for n in range(4)]
    for receives in (1, 2):
        hand = Hand(world)
        with pytest.raises(ProcessDied):
            hand.run([hand.delivery(task, receives) for task in tasks])
        world.clock.advance(DEADLINE - NOW + world.timing.run_margin + 1)
    assert {world.status(task) for task in tasks if task.job == "echo"} == {"succeeded"}


@given(st.lists(st.integers(1, 3), max_size=10))
def test_everything_done_is_acknowledged_before_a_suspect_starts(receives):
    world = World()
    hand = Hand(world)
    deliveries = [hand.delivery(receives=count) for count in receives]
    suspects = {one.receipt for one in deliveries if one.is_suspect}
    undeleted = []

    def looks(payload, run):
        done = set(started(world)) - {run.task_id}
        if run.task_id in suspects:
            undeleted.append(done - set(hand.inbox.all))

    world.job("echo", looks)
    assert hand.run(deliveries) == []
    assert undeleted == [set()] * len(suspects)
    assert sorted(started(world)) == sorted(receipts(deliveries))


def test_without_a_suspect_nothing_is_acknowledged_ahead_of_the_end(hand):
    assert hand.run([hand.delivery() for _ in range(3)]) == []
    assert hand.inbox.requests == []


def test_a_suspect_that_comes_first_asks_for_no_acknowledgement_of_nothing(hand):
    hand.run([hand.delivery(receives=2)])
    assert hand.inbox.requests == []


def test_a_poison_message_takes_nobody_along(world, hand):
    """It ends the process; what ran before it in this batch is acknowledged."""

    world.job("poison", dies)
    poison = hand.delivery(job="poison", receives=2)
    others = [hand.delivery() for _ in range(4)]
    with pytest.raises(ProcessDied):
        hand.run([poison, *others])
    assert hand.inbox.all == receipts(others)


# --- acknowledging


def test_what_is_done_is_acknowledged_once(hand):
    deliveries = [hand.delivery() for _ in range(2)]
    hand.run(deliveries)
    hand.batch.acknowledge_done()
    hand.batch.acknowledge_done()
    assert hand.inbox.requests == [receipts(deliveries)]


def test_acknowledging_before_anything_is_done_asks_for_nothing(hand):
    hand.batch.acknowledge_done()
    hand.batch.read([hand.delivery()])
    hand.batch.acknowledge_done()
    assert hand.inbox.requests == []


def test_while_a_job_runs_only_what_was_done_before_it_is_acknowledged(world, hand):
    """The process is about to end: this job's message must come again."""
    world.job("endless", lambda payload, run: hand.batch.acknowledge_done())
    quick, endless = hand.delivery(), hand.delivery(job="endless")
    hand.run([quick, endless])
    assert hand.inbox.requests == [[quick.receipt]]


@pytest.mark.parametrize("how", ["moved message", "duplicate", "none of ours", "early", "failed"])
def test_whatever_ends_well_is_acknowledged(world, hand, how):
    def fails(payload, run):
        raise ValueError

    world.job("broken", fails)
    delivery = {
        "moved message": lambda: hand.delivery(make_task()),
        "duplicate": lambda: hand.delivery(succeeded(world)),
        "none of ours": lambda: Delivery("hello", "?", 1),
        "early": lambda: hand.delivery(after=HOUR),
        "failed": lambda: hand.delivery(job="broken"),
    }[how]()
    assert hand.run([delivery]) == []
    hand.batch.acknowledge_done()
    assert hand.inbox.all == [delivery.receipt]


def succeeded(world):
    task = world.add()
    assert world.deliver(task) is Verdict.ENDED
    return task


@pytest.mark.parametrize("why", ["overtaken", "not sent on", "the ledger is down"])
def test_what_is_kept_is_never_acknowledged(world, hand, why):
    if why == "overtaken":
        world.job("echo", lambda payload, run: overtake(world, run))
    elif why == "not sent on":
        world.job("echo", lambda payload, run: 1 / 0)
        world.queue.always("send", is_down)
    else:
        world.ledger.always("start", is_down)
    delivery = hand.delivery()
    assert hand.run([delivery]) == [delivery]
    suspect = hand.delivery(make_task(), receives=2)
    assert hand.run([suspect]) == []
    hand.batch.acknowledge_done()
    assert hand.inbox.all == [suspect.receipt]


def overtake(world, run):
    """The attempt lasts beyond its time, and another one takes the run and ends it."""
    world.clock.set(DEADLINE + world.timing.run_margin + 1)
    world.jobs["echo"] = lambda payload, run: None
    task = next(iter(world.memory.tasks.buckets[world.bucket(NOW)].values()))
    assert world.deliver(task) is Verdict.ENDED


def test_kept_says_which_run(world, hand):
    delivery = hand.delivery()
    task = world.stored(world.read_task(delivery.receipt).task)
    world.ledger.always("finish", lambda *_: False)
    hand.batch.read([delivery])
    with pytest.raises(Kept, match=task.run_id):
        hand.batch.run(delivery)


# --- reading


def test_the_tasks_of_a_batch_are_read_in_one_go_each_once(hand):
    twice = hand.delivery()
    deliveries = [twice, hand.delivery(), Delivery(twice.body, "again", 1)]
    assert hand.run(deliveries) == []
    [(pointers,)] = hand.store.called("get_many")
    assert sorted(pointer.task_id for pointer in pointers) == sorted(
        {d.receipt for d in deliveries[:2]}
    )
    assert hand.store.names("get") == []


def test_a_batch_with_nothing_of_ours_reads_nothing(hand):
    assert hand.run([Delivery("{}", "a", 1), Delivery("", "b", 2)]) == []
    assert hand.store.calls == []


def test_a_message_of_a_newer_version_is_kept_and_spoils_no_other(world, hand):
    newer = Delivery('{"v": 2}', "newer", 1)
    deliveries = [hand.delivery(), newer, hand.delivery()]
    assert hand.run(deliveries) == [newer]
    assert len(world.runs) == 2


def test_a_batch_that_cannot_be_read_runs_nothing(world, hand):
    hand.store.always("get_many", is_down)
    with pytest.raises(Unavailable):
        hand.run([hand.delivery()])
    assert world.runs == []
    assert hand.inbox.requests == []


def test_one_message_twice_in_a_batch_runs_once(world, hand):
    first = hand.delivery()
    again = Delivery(first.body, "again", 1)
    assert hand.run([first, again]) == []
    hand.batch.acknowledge_done()
    assert started(world) == [first.receipt]
    assert hand.inbox.all == [first.receipt, "again"]
