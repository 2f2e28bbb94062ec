"""The measurement of the dispatcher, at a tiny size: every task once, and by which calls."""

import pytest

from bench import dispatch, stub
from bench.worker import unread_log
from minutero import wiring
from minutero.aws import clients
from minutero.aws.queue import parse_message

TASKS = 60
FLOOR = ("Query", "BatchExecuteStatement", "SendMessageBatch")


@pytest.fixture
def server():
    """A stub that this process takes for its deployment, as if it had just begun."""
    for builder in (wiring.dispatcher, wiring.settings_here):
        builder.cache_clear()
    with stub.deployed() as server, unread_log():
        yield server
    for builder in (wiring.dispatcher, wiring.settings_here):
        builder.cache_clear()


def received(server):
    """The pointers of all messages in the queue."""
    sqs, url = clients.sqs(), server.environment["MINUTERO_TASKS_QUEUE_URL"]
    pointers = []
    while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages"):
        pointers += [parse_message(message["Body"])[0] for message in messages]
    return pointers


def test_a_tick_claims_and_sends_each_task_once(server):
    filled = dispatch.fill(TASKS)
    dispatch.dispatch(TASKS)
    assert sorted(p.task_id for p in received(server)) == sorted(t.task_id for t in filled)
    dispatch.dispatch(0)
    assert received(server) == []


def test_tasks_that_are_not_dispatched_are_noticed(server):
    dispatch.fill(TASKS)
    with pytest.raises(AssertionError, match=f"{TASKS + 1} tasks were due"):
        dispatch.dispatch(TASKS + 1)


def test_the_floor_makes_the_calls_of_a_tick(server):
    filled = dispatch.fill(TASKS)
    floor = dispatch.recorded_floor(TASKS)
    of_a_tick = {name: server.calls()[name] for name in FLOOR}
    assert all(of_a_tick.values())
    server.clear()
    dispatch.put(filled)
    before = server.calls()
    floor()
    assert server.calls() - before == of_a_tick
    # They are answered as they were: each task is claimed, and its message sent.
    assert sorted(p.task_id for p in received(server)) == sorted(t.task_id for t in filled)
    dispatch.dispatch(0)


def test_it_measures(server):
    numbers = dispatch.measure(tasks=TASKS, rounds=1)
    assert set(numbers) == {"cpu_us_per_task", "floor_cpu_us_per_task", "ratio_to_floor"}
    assert numbers["cpu_us_per_task"] == pytest.approx(
        numbers["ratio_to_floor"] * numbers["floor_cpu_us_per_task"]
    )
