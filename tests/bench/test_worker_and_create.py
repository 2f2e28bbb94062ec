"""The measurements of the worker and of bulk create, at tiny sizes: every task once, and by which calls."""

import pytest

from bench import create, stub, worker
from bench.replay import make_again, recorded
from minutero import wiring
from minutero.aws import clients
from minutero.aws.queue import parse_message
from minutero.aws.run_ledger import DynamoRunLedger
from minutero.domain.run import Ending
from minutero.wiring.process import CLOCK

CACHED = (wiring.worker, wiring.api, wiring.settings_here)
TASKS = 20


@pytest.fixture
def server(monkeypatch):
    """A stub that this process takes for its deployment, as if it had just begun."""
    # The worker's folder is put on the path.
    monkeypatch.syspath_prepend("")
    for builder in CACHED:
        builder.cache_clear()
    with stub.deployed() as server, worker.unread_log():
        yield server
    for builder in CACHED:
        builder.cache_clear()


def test_the_worker_runs_every_task_once_with_two_writes_and_a_tenth_of_a_read(server):
    function = worker.worker_function()
    worker.run(function, worker.fill(10))  # a process announces its jobs with its first event
    server.clear()
    events = worker.fill(TASKS)
    worker.run(function, events)
    calls = server.calls()
    worker.check(calls, TASKS)
    assert calls == {"BatchWriteItem": 1, "BatchGetItem": 2, "UpdateItem": 2 * TASKS}
    runs = [
        parse_message(record["body"])[0].run_id for event in events for record in event["Records"]
    ]
    records = DynamoRunLedger(clients.dynamodb(), "Runs", CLOCK).get_many(runs).values()
    assert len(records) == TASKS
    assert {(one.attempts, one.outcome.ending) for one in records} == {(1, Ending.SUCCEEDED)}


def test_tasks_that_do_not_run_are_noticed(server):
    function = worker.worker_function()
    worker.run(function, worker.fill(10))
    events = worker.fill(TASKS)
    server.clear()
    worker.run(function, events)
    with pytest.raises(AssertionError, match="not all have run"):
        worker.check(server.calls(), TASKS)


def test_the_floor_of_the_worker_is_the_same_requests_to_the_ledger(server):
    function = worker.worker_function()
    worker.run(function, worker.fill(10))
    events = worker.fill(TASKS)
    with recorded(worker.ledger_client(), "UpdateItem") as calls:
        worker.run(function, events)
    server.clear()
    make_again(clients.dynamodb(), calls)
    assert server.calls() == {"UpdateItem": 2 * TASKS}


@pytest.mark.parametrize("way", [create.by_client, create.over_http])
def test_every_task_is_added_once_in_a_batch_or_with_its_key_in_a_transaction(server, way):
    added_by = way()
    ((name, batch),) = create.calls_of(server, added_by, create.asked(TASKS))
    assert name == "BatchWriteItem"
    assert (
        len({put["PutRequest"]["Item"]["sk"]["S"] for put in batch["RequestItems"]["Tasks"]})
        == TASKS
    )
    keyed = create.calls_of(server, added_by, create.asked(TASKS, "order"))
    assert {name for name, _ in keyed} == {"TransactWriteItems"}
    entries = [entry for _, request in keyed for entry in request["TransactItems"]]
    assert len({str(entry["Put"]["Item"]["sk"]) for entry in entries}) == TASKS + 1, (
        "a key's is `key`"
    )
    assert len(entries) == 2 * TASKS


@pytest.mark.parametrize("module", [create, worker])
def test_a_measurement_tells_of_itself_and_its_floor(server, module):
    told = module.measure(tasks=TASKS, rounds=1)
    for numbers in (told, *(told[name] for name in told if isinstance(told[name], dict))):
        assert (
            numbers["ratio_to_floor"]
            == numbers["cpu_us_per_task"] / numbers["floor_cpu_us_per_task"]
            > 0
        )
