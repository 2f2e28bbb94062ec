"""What a task costs in writes, by the capacity the database tells."""

from collections import Counter
from types import SimpleNamespace

import botocore.session
import pytest

from minutero import wiring
from minutero.aws import clients
from minutero.domain.new_task import NewTask
from minutero.jobs import JobRegistry, job
from minutero.testing.clock import SettableClock

TASKS = 200
START = 1_900_000_000_000 - 1_900_000_000_000 % 60_000
CACHED = (wiring.dispatcher, wiring.worker, wiring.settings_here)
REGISTRY = JobRegistry()


@job("small", into=REGISTRY)
def small(payload, run):
    return {"ok": True}


@pytest.fixture
def world(stack, aws_environment, monkeypatch):
    """Fresh tables on the same MiniStack, with the services in this process and a clock of their own."""
    dynamodb = stack.client("dynamodb")
    for name in ("Tasks", "Schedules", "Cursors", "Runs"):
        deployed = dynamodb.describe_table(TableName=stack.outputs[f"{name}TableName"])["Table"]
        dynamodb.create_table(
            TableName=f"units-{name}",
            KeySchema=deployed["KeySchema"],
            AttributeDefinitions=deployed["AttributeDefinitions"],
            BillingMode="PAY_PER_REQUEST",
        )
        monkeypatch.setenv(f"MINUTERO_{name.upper()}_TABLE", f"units-{name}")
    sqs = stack.client("sqs")
    for variable, name in (("TASKS", "units"), ("DEAD_LETTER", "units-dead")):
        url = sqs.create_queue(QueueName=name)["QueueUrl"]
        monkeypatch.setenv(f"MINUTERO_{variable}_QUEUE_URL", url)
    monkeypatch.setenv("MINUTERO_WORKER_FUNCTION", "none")
    monkeypatch.setenv("MINUTERO_DISPATCHER_FUNCTION", "none")
    monkeypatch.setenv("MINUTERO_SHARDS", "1")
    clock = SettableClock(START)
    monkeypatch.setattr(wiring.CLOCK, "now", clock.now)
    monkeypatch.setattr(wiring.CLOCK, "sleep", clock.sleep)
    meter = Meter(botocore.session.get_session())
    monkeypatch.setattr(clients, "_session", lambda: meter.session)
    forget()
    yield SimpleNamespace(clock=clock, meter=meter)
    forget()
    for name in ("Tasks", "Schedules", "Cursors", "Runs"):
        dynamodb.delete_table(TableName=f"units-{name}")


def forget():
    for builder in CACHED:
        builder.cache_clear()


class Meter:
    """Sums the capacity of writes, and keeps the messages sent."""

    def __init__(self, session):
        self.session = session
        self.units = Counter()
        self.scanned = 0
        self.messages = []
        session.register("before-parameter-build.dynamodb.*", self._ask)
        session.register("after-call.dynamodb.*", self._count)
        session.register("before-parameter-build.sqs.SendMessageBatch", self._keep)

    def _ask(self, params, model, **_):
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "TOTAL"

    def _count(self, parsed, model, **_):
        self.scanned += parsed.get("ScannedCount", 0)
        if model.name in ("GetItem", "BatchGetItem", "Query"):
            return
        told = parsed.get("ConsumedCapacity") or []
        for one in [told] if isinstance(told, dict) else told:
            self.units[model.name] += one["CapacityUnits"]

    def _keep(self, params, **_):
        self.messages += [entry["MessageBody"] for entry in params["Entries"]]


def run_all(world):
    """The worker, with batches of ten as SQS would bring them."""
    worker = wiring.worker(REGISTRY)
    bodies, world.meter.messages[:] = list(world.meter.messages), []
    assert len(bodies) == TASKS
    deadline = world.clock.now() + 60_000
    for first in range(0, len(bodies), 10):
        batch = bodies[first : first + 10]
        tasks = worker.messages.read(batch)
        for body in batch:
            assert worker.messages.run(body, tasks, deadline) == "ended"
    assert world.meter.messages == []


def begin(world):
    """What is written once, not once a task."""
    wiring.worker(REGISTRY).announce(REGISTRY.names())
    api = wiring.api_parts(wiring.settings_here())
    api.add_task(NewTask("small"), "")
    wiring.dispatcher().tick(None, world.clock.now() + 60_000)
    world.meter.messages.clear()
    world.meter.units.clear()
    return api


def test_a_small_near_task_costs_four_write_units(world):
    api = begin(world)
    tasks = [api.add_task(NewTask("small", '{"n":1}'), "").task.task_id for _ in range(TASKS)]
    run_all(world)
    assert {str(api.read_task(task).status) for task in tasks} == {"succeeded"}
    told(world)
    assert sum(world.meter.units.values()) == 4 * TASKS


def test_a_small_far_task_costs_four_write_units_and_its_share_of_the_batch(world):
    api = begin(world)
    due = world.clock.now() + 600_000
    tasks = [
        api.add_task(NewTask("small", '{"n":1}', run_at=due), "").task.task_id for _ in range(TASKS)
    ]
    assert world.meter.messages == []
    world.clock.set(due - 120_000)
    wiring.dispatcher().tick(None, world.clock.now() + 60_000)
    world.clock.set(due)
    run_all(world)
    assert {str(api.read_task(task).status) for task in tasks} == {"succeeded"}
    told(world)
    assert 4 * TASKS <= sum(world.meter.units.values()) <= 4.05 * TASKS


def told(world):
    units = world.meter.units
    print(f"write units a task: {sum(units.values()) / TASKS:.3f}", dict(units))


def test_an_idle_tick_reads_no_item_however_many_lie_in_the_future(world):
    api = begin(world)
    world.clock.advance(3_600_000)

    def idle():
        wiring.dispatcher().tick(None, world.clock.now() + 60_000)
        before = world.meter.scanned
        reports = wiring.dispatcher().tick(None, world.clock.now() + 60_000)
        return world.meter.scanned - before, [report.pages_read for report in reports]

    empty = idle()
    due = world.clock.now() + 600_000
    for _ in range(TASKS):
        api.add_task(NewTask("small", run_at=due), "")
    assert idle() == empty
    assert empty[0] == 0
