"""What it costs, in the write units that are billed."""

from contextlib import contextmanager
from dataclasses import replace

import pytest
from bank import bank_of
from worlds import KEEP, NOW, key_of

from minutero.domain.exchanged import Claim, DeadLetter, ScheduleChange
from minutero.domain.instants import DAY, MINUTE
from minutero.domain.new_task import INLINE_PAYLOAD_LIMIT
from minutero.domain.run import Ending, Outcome
from minutero.domain.schedule import Definition, Fate, Schedule
from minutero.domain.task import OpenClaim

pytestmark = pytest.mark.stack


class Meter:
    """Adds up the units DynamoDB says a client's requests consumed."""

    def __init__(self):
        self.units = 0.0

    def ask(self, params, **_):
        params["ReturnConsumedCapacity"] = "TOTAL"

    def read(self, parsed, **_):
        consumed = parsed.get("ConsumedCapacity", [])
        for one in consumed if isinstance(consumed, list) else [consumed]:
            self.units += one["CapacityUnits"]


@pytest.fixture
def units_of(ministack_world):
    """Write units of what is done inside; MiniStack counts as AWS does for writes."""
    events = ministack_world.tables.client.meta.events

    @contextmanager
    def measure():
        meter = Meter()
        events.register("before-parameter-build.dynamodb.*", meter.ask, "meter-ask")
        events.register("after-call.dynamodb.*", meter.read, "meter-read")
        try:
            yield meter
        finally:
            events.unregister("before-parameter-build.dynamodb.*", unique_id="meter-ask")
            events.unregister("after-call.dynamodb.*", unique_id="meter-read")

    return measure


def test_a_small_unkeyed_task_costs_four_units(ministack_world, new_task, units_of):
    world = ministack_world
    tasks = [new_task(payload="x" * INLINE_PAYLOAD_LIMIT) for _ in range(25)]
    with units_of() as put:
        for task in tasks:
            world.tasks.put(task)
    with units_of() as claim:
        won = world.tasks.claim([task.place for task in tasks], "0123456789abcdef", NOW)
    assert won == [Claim.WON] * 25
    with units_of() as start:
        for task in tasks:
            world.ledger.start(task.run_id, "0123456789abcdef", NOW, NOW + MINUTE, KEEP)
    with units_of() as finish:
        for task in tasks:
            outcome = Outcome(Ending.SUCCEEDED, "1")
            assert world.ledger.finish(task.run_id, "0123456789abcdef", outcome, NOW)
    units = [meter.units / 25 for meter in (put, claim, start, finish)]
    assert units == [1.0, 1.0, 1.0, 1.0]


def test_what_else_it_costs(ministack_world, new_task, units_of):
    world = ministack_world
    task, dead = new_task(key="order-17", tenant="acme"), new_task()
    world.tasks.put(dead)
    with units_of() as keyed:
        world.tasks.put_keyed(task, key_of(task), NOW)
    with units_of() as near:
        world.tasks.mark_sent(task.place, "near", NOW)
    claim = OpenClaim(task.place.bucket, "0123456789abcdef", NOW)
    with units_of() as batch:
        world.tasks.open_claim(claim)
        world.tasks.close_claim(claim)
    with units_of() as failure:
        world.ledger.start(dead.run_id, "a", NOW, NOW + MINUTE, KEEP)
        world.ledger.fail(dead.run_id, "a", "no", NOW)
    tasks = [new_task(payload="x" * INLINE_PAYLOAD_LIMIT) for _ in range(24)]
    with units_of() as many:
        # The large one costs an item for its payload, too.
        assert all(world.tasks.put_many([*tasks, new_task(payload="x" * 900, large=True)]))
    pairs = [(one, key_of(one)) for one in (new_task(key=f"order-{n}") for n in range(25))]
    with units_of() as many_keyed:
        world.tasks.put_many_keyed(pairs, NOW)
    letter = DeadLetter(task.run_id, task.place, "echo", "", "why", NOW, KEEP)
    world.ledger.close(task.run_id, Outcome(Ending.DEAD), NOW, KEEP)
    world.tasks.list_dead(letter)
    with units_of() as discard:
        assert world.tasks.discard(letter)
    assert (keyed.units, near.units, batch.units) == (4.0, 1.0, 2.0)
    assert many_keyed.units / 25 == keyed.units
    assert (many.units, discard.units) == (25.0 + 1.0, 4.0)
    # A start, the read of the attempt's number, and the failure.
    assert failure.units == 1.0 + 1.0 + 1.0


def test_what_schedules_cost(ministack_world, units_of):
    world = ministack_world
    schedule = armed("every-minute")
    change = created(schedule)
    with units_of() as create:
        assert world.schedules.create(change)
    following = replace(
        schedule.with_fired(schedule.pending, NOW),
        pending=schedule.link(NOW + 2 * MINUTE, NOW, 8),
    )
    time, task = schedule.pending.nominal, schedule.pending.task_id
    fate = Fate("fired", time, time, schedule.times, task)
    adds = following.task(following.pending, NOW, 30 * DAY)
    with units_of() as step:
        fires = ScheduleChange(schedule, following, NOW, KEEP, NOW, adds, fates=[fate])
        assert world.schedules.step(fires)
    gone = [(following.pending, Outcome(Ending.CANCELLED))]
    with units_of() as delete:
        world.schedules.delete(ScheduleChange(following, None, NOW, KEEP, NOW, closes=gone))
    with units_of() as lock:
        world.locks.take("every-minute", "a", NOW, NOW + MINUTE)
        world.locks.let_go("every-minute", "a")
    # Within a transaction a write is two units: the row and the task; of a firing also what became of it.
    assert (create.units, step.units, delete.units, lock.units) == (4.0, 6.0, 6.0, 2.0)


def armed(name):
    said = Definition("echo", "cron(0 18 ? * FRI *)", "America/Mexico_City")
    schedule = Schedule(name, 1, said, anchor=NOW, created_at=NOW, changed_at=NOW)
    return replace(schedule, pending=schedule.link(NOW + MINUTE, NOW, 8))


def created(schedule):
    adds = schedule.task(schedule.pending, NOW, 30 * DAY)
    return ScheduleChange(None, schedule, NOW, KEEP, NOW, adds)


def test_a_slot_costs_two_units_and_so_does_each_small_write_of_its_block(
    ministack_world, units_of
):
    bank = bank_of(ministack_world)
    with units_of() as one:
        bank.pay("ana", "w22")
    with units_of() as four, bank.once("w23") as tx:
        for who in ("ana", "bob", "cleo", "dora"):
            bank.add(tx, who)
    assert (one.units, four.units) == (4, 10)
