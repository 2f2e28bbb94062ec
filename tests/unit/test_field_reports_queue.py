"""What went wrong for others, between the store and the queue. docs/field-reports.md lists the reports."""

import pytest
from faults import ProcessDied, is_down, process_dies
from world import NOW, World

from minutero.aws.queue import encode_message
from minutero.domain.exchanged import Sent
from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.new_task import PAYLOAD_LIMIT, encode_payload
from minutero.domain.task import State
from minutero.domain.timing import Timing
from minutero.errors import PermanentFailure, Unavailable
from minutero.service.execute import Verdict

LONGEST_DELAY = 900
LEAST_QUEUE_LIMIT = 1_024
"""The smallest MaximumMessageSize that a queue can have, in bytes:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SetQueueAttributes.html"""


def ids(tasks):
    return sorted(task.task_id for task in tasks)


def started(world):
    return sorted(task_id for task_id, _, _ in world.runs)


# --- from the claim to the queue


def test_a_claim_without_a_message_is_no_sign_of_life(world):
    """B092: the process died between claiming and sending. What is claimed is sent once its lease is over."""
    tasks = [world.add_crashed() for _ in range(3)]
    world.queue.next("send", process_dies)
    with pytest.raises(ProcessDied):
        world.tick()
    assert {world.stored(task).state for task in tasks} == {State.CLAIMED}
    assert world.waiting_ids() == []
    world.play(minutes=4)
    assert started(world) == ids(tasks)
    assert world.open_claims() == []


@pytest.mark.parametrize("dies_at", ["send", "close_claim"])
def test_whoever_dies_around_its_send_neither_loses_nor_doubles(world, dies_at):
    """B093: two stores cannot be written at once; the claim is first, and the run is one."""
    tasks = [world.add_crashed() for _ in range(3)]

    def takes_effect_and_dies(real, *args):
        real(*args)
        raise ProcessDied

    owner = world.queue if dies_at == "send" else world.store
    owner.next(dies_at, takes_effect_and_dies)
    with pytest.raises(ProcessDied):
        world.tick()
    world.play(minutes=4)
    assert started(world) == ids(tasks)


@pytest.mark.parametrize("first", ["rescuer", "owner"])
def test_of_a_slow_dispatcher_and_the_rescue_of_its_batch_neither_harms_the_tasks(world, first):
    """B095: its request was under way for longer than its lease, and takes effect at last."""
    tasks = [world.add_crashed() for _ in range(3)]
    rescued = []

    def rescue():
        world.clock.advance(121 * SECOND)
        (claim,) = world.open_claims()
        world.batch().rescue(claim)
        rescued.extend(world.stored(task).claim_id for task in tasks)

    def slow(real, messages):
        answers = real(messages) if first == "owner" else None
        rescue()
        return answers or real(messages)

    world.queue.next("send", slow)
    world.tick()
    assert len(set(rescued)) == 1
    assert [world.stored(task).claim_id for task in tasks] == rescued
    assert world.open_claims() == []
    world.work()
    assert started(world) == ids(tasks)
    assert {world.status(task) for task in tasks} == {"succeeded"}


# --- delays


@pytest.mark.parametrize("seconds", [900, 901, 54_524, 86_400])
def test_what_is_far_off_waits_in_the_store_and_no_delay_is_too_long(seconds):
    """B099, B100: SQS takes no delay over 15 minutes."""
    world = World()
    task = world.add(after=seconds * SECOND)
    assert len(world.queue) == 0
    world.clock.advance(seconds * SECOND - 2 * MINUTE)
    world.play(minutes=3)
    delays = [message.delay for (messages,) in world.queue.called("send") for message in messages]
    assert delays
    assert max(delays) <= LONGEST_DELAY
    assert world.runs == [(task.task_id, 1, NOW + seconds * SECOND)]


def test_the_fortieth_attempt_is_no_further_off_than_the_queue_takes(world):
    """B099: a pause that doubles without end asked for half a day."""
    world.job("echo", lambda payload, run: 1 / 0)
    task = world.add(max_attempts=100)
    world.queue.calls.clear()
    for _ in range(40):
        world.work()
        world.clock.advance(LONGEST_DELAY * SECOND)
    assert len(world.record(task).failures) > 0
    delays = [message.delay for (messages,) in world.queue.called("send") for message in messages]
    assert len(delays) == 40
    assert LONGEST_DELAY // 2 <= delays[-1] <= LONGEST_DELAY


# --- batches


@pytest.mark.parametrize("count", [1, 10, 11, 25, 26])
def test_no_request_has_more_than_ten_messages(world, count):
    """B106"""
    tasks = [world.add(after=HOUR) for _ in range(count)]
    world.clock.advance(HOUR)
    world.tick()
    sizes = [len(messages) for (messages,) in world.queue.called("send")]
    assert max(sizes) <= 10
    assert len(sizes) == -(-count // 10)
    assert sorted(world.waiting_ids()) == ids(tasks)


def test_of_a_batch_with_one_failed_entry_that_one_alone_is_sent_again(world):
    """B101: SQS tells it inside a 200."""
    tasks = [world.add(after=HOUR) for _ in range(10)]

    def seventh_fails(real, messages):
        real([*messages[:7], *messages[8:]])
        return [Sent.FAILED if at == 7 else Sent.SENT for at in range(10)]

    world.clock.advance(HOUR)
    world.queue.next("send", seventh_fails)
    world.tick()
    assert [len(messages) for (messages,) in world.queue.called("send")] == [10, 1]
    assert sorted(world.waiting_ids()) == ids(tasks)


@pytest.mark.parametrize("letter", ["x", "語", "🎉", "\x00"], ids=["ascii", "cjk", "emoji", "nul"])
def test_a_message_is_as_small_whatever_its_tasks_payload_weighs(world, letter):
    """B102, B103, B104: no limit of a queue, however low it is set, can be met by a batch of pointers."""
    bare = world.add(tenant="t" * 128)
    size = len(encode_payload(letter).encode()) - 2
    payload = encode_payload(letter * ((PAYLOAD_LIMIT - 2) // size))
    heavy = world.add(tenant="t" * 128, payload=payload)
    size = len(encode_message(heavy.pointer).encode())
    assert size - len(encode_message(bare.pointer)) == len(',"large":true')
    assert 2 * size < LEAST_QUEUE_LIMIT


# --- duplicates


@pytest.mark.parametrize("later", [6 * MINUTE, HOUR, 14 * DAY])
def test_a_message_that_comes_again_runs_nothing_as_long_as_a_queue_can_keep_it(world, later):
    """B112: no window of five minutes; the run record is what knows."""
    task = world.add()
    world.work()
    world.clock.advance(later)
    assert world.deliver(task) is Verdict.KNOWN
    assert len(world.runs) == 1
    assert Timing().retention >= 2 * 14 * DAY, "a message may be sent again when it is old"


# --- retries


def unreachable(payload, run):
    raise ConnectionError("503 Service Unavailable")


@pytest.mark.parametrize("bad", [1, 4])
def test_what_fails_now_and_then_is_tried_again_and_is_no_dead_letter(world, bad):
    """B184"""
    task = world.add(max_attempts=5)
    world.job("echo", lambda payload, run: unreachable(payload, run) if run.attempt <= bad else 1)
    world.play(minutes=2)
    assert [attempt for _, attempt, _ in world.runs] == list(range(1, bad + 2))
    assert world.status(task) == "succeeded"
    assert world.dead == []


def test_what_cannot_work_is_tried_once_and_is_one_dead_letter(world):
    """B185"""

    class AccountClosed(PermanentFailure):
        """A job's own kind."""

    def gives_up(payload, run):
        raise AccountClosed("nobody to pay")

    world.job("echo", gives_up)
    task = world.add(max_attempts=5)
    world.play(minutes=2)
    assert len(world.runs) == 1
    assert world.status(task) == "dead"
    assert [message.reason for message in world.dead] == ["AccountClosed: nobody to pay"]


def test_a_permanent_failure_whose_letter_was_not_taken_is_still_tried_once(world):
    """B185"""

    def gives_up(payload, run):
        raise PermanentFailure("nobody to pay")

    world.job("echo", gives_up)
    task = world.add()
    world.queue.next("send_dead", is_down)
    with pytest.raises(Unavailable):
        world.work()
    world.deliver(task)
    assert len(world.runs) == 1
    assert len(world.dead) == 1
