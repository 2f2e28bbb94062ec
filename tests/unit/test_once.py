"""`run.once`: what a block takes, what it refuses, and what becomes of the run around it."""

# ruff: noqa: PT012 - what raises is a block, and a block has a body

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from faults import is_down
from world import NOW

import minutero
from minutero.domain.instants import DAY
from minutero.domain.run import Ending
from minutero.errors import ConditionFailed, InvalidInput, MinuteroError, NothingDone
from minutero.testing import MemorySlots, MemoryTable, job_run


@pytest.fixture
def wallets():
    return MemoryTable("id")


@pytest.fixture
def slots(wallets):
    return MemorySlots(wallets=wallets)


@pytest.fixture
def run(slots):
    return job_run("pay", slots)


def pay(run, key="w22", who="ana"):
    with run.once(key) as tx:
        tx.update("wallets", {"id": who}, "ADD coins :ten", values={":ten": 10})
    return tx.applied


# --- the block


def test_a_block_tells_whether_it_was_applied(run, wallets):
    block = run.once("w22")
    assert block.applied is None
    with block as tx:
        assert tx is block
        tx.put("wallets", {"id": "ana"})
        assert tx.applied is None
        assert wallets.get("ana") is None, "nothing is written before the end"
    assert block.applied is True
    assert pay(run) is False


def test_the_body_runs_every_time(run):
    bodies = []
    for _ in range(3):
        with run.once("w22") as tx:
            bodies.append(1)
            tx.put("wallets", {"id": "ana"})
    assert len(bodies) == 3


def test_a_block_that_returns_commits(run, wallets):
    def job():
        with run.once("w22") as tx:
            tx.put("wallets", {"id": "ana"})
            return "done"

    assert job() == "done"
    assert wallets.get("ana")


def test_a_block_is_entered_once(run):
    block = run.once("w22")
    with block as tx:
        tx.put("wallets", {"id": "ana"})
    with pytest.raises(InvalidInput, match="entered once"), block:
        pass


def test_writes_belong_into_the_block(run):
    block = run.once("w22")
    with pytest.raises(InvalidInput, match="belong into the block"):
        block.put("wallets", {"id": "ana"})
    with run.once("w22") as tx:
        tx.put("wallets", {"id": "ana"})
    with pytest.raises(InvalidInput, match="belong into the block"):
        tx.put("wallets", {"id": "bob"})


def test_a_block_within_one_of_the_same_key_is_refused(run, wallets):
    """The outer one would find the slot taken by the inner one, and drop its own writes as done before."""
    with pytest.raises(InvalidInput, match="is open around this one"), run.once("w22") as tx:
        tx.put("wallets", {"id": "ana"})
        pay(run)
    assert wallets.items() == []
    assert pay(run) is True


def test_two_runs_may_have_a_block_of_one_key_open(slots):
    with job_run("pay", slots, task_id="t1").once("w22") as tx:
        tx.put("wallets", {"id": "ana"})
        assert pay(job_run("pay", slots, task_id="t2")) is True
    assert tx.applied is False


@pytest.mark.parametrize("key", ["", "x" * 257, "line\nbreak", 22, None])
def test_a_key_that_cannot_be_is_refused(run, key):
    with pytest.raises(InvalidInput) as refused:
        run.once(key)
    assert refused.value.code == "invalid_key"


@pytest.mark.parametrize("days", [0, 1, 29, 3651, 30.5, "30", True])
def test_days_that_cannot_be_are_refused(run, days):
    with pytest.raises(InvalidInput, match="leave it out to keep the slot for good") as refused:
        run.once("w22", keep_days=days)
    assert refused.value.code == "invalid_keep_days"


def test_a_slot_tells_who_took_it_and_until_when(slots):
    at = datetime.fromtimestamp(NOW / 1000, UTC)
    run = job_run("pay", slots, task_id="t7", scheduled_for=at)
    with run.once("w22", keep_days=30) as tx:
        tx.put("wallets", {"id": "ana"})
    pay(run, "for good")
    kept, for_good = slots.taken.values()
    assert (kept.slot_id, kept.task_id, kept.taken_at) == ("slot#pay#w22", "t7", NOW)
    assert kept.expires_at == (NOW + 30 * DAY) // 1000
    assert for_good.expires_at is None
    assert kept.owner != for_good.owner


def test_a_run_without_slots_says_where_to_get_some(run):
    with pytest.raises(MinuteroError, match=r"minutero\.testing\.job_run"):
        replace(run, _slots=None).once("w22")


def test_the_exceptions_of_a_block_are_the_packages(run):
    assert minutero.NothingDone is NothingDone
    assert minutero.ConditionFailed is ConditionFailed
    assert issubclass(NothingDone, minutero.MinuteroError)


# --- the writes


@pytest.mark.parametrize(
    "write",
    [
        lambda tx: tx.put("wallets"),
        lambda tx: tx.update("wallets", {"id": "ana"}),
        lambda tx: tx.update("wallets", update="REMOVE coins"),
        lambda tx: tx.delete("wallets"),
        lambda tx: tx.check("wallets", {"id": "ana"}, condition=""),
        lambda tx: tx.check("wallets", condition="attribute_exists(id)"),
    ],
)
def test_a_write_that_lacks_a_part_is_refused(run, wallets, write):
    with pytest.raises(InvalidInput, match="is missing"), run.once("w22") as tx:
        tx.put("wallets", {"id": "witness"})
        write(tx)
    assert wallets.items() == []


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (float("nan"), "coins is nan"),
        (float("inf"), "coins is inf"),
        (object(), "coins is a object"),
        (datetime(2026, 1, 1, tzinfo=UTC), "coins is a datetime"),
        (set(), "coins is an empty set"),
        ({1, "a"}, "coins is an empty set or one of several types"),
        ({"of": [1, {"deep": object()}]}, r"coins\.of\[1\]\.deep is a object"),
    ],
)
def test_a_value_that_cannot_be_stored_is_refused_by_its_place(run, value, told):
    with pytest.raises(InvalidInput, match=told), run.once("w22") as tx:
        tx.put("wallets", {"id": "ana", "coins": value})


def test_a_refusal_names_both_writes_to_one_item(run):
    with (
        pytest.raises(InvalidInput, match=r"write 1 \(update in wallets: .*write 2 \(delete in"),
        run.once("w22") as tx,
    ):
        tx.update("wallets", {"id": "ana"}, "REMOVE coins")
        tx.delete("wallets", {"id": "ana"})


def test_the_refusal_of_too_many_writes_says_what_to_do(run):
    with pytest.raises(InvalidInput, match="make several blocks"), run.once("w22") as tx:
        for number in range(100):
            tx.put("wallets", {"id": f"w{number}"})


# --- the run around it


@pytest.fixture
def paying(world, wallets):
    world.memory.slots.tables["wallets"] = wallets
    world.job("echo", lambda payload, run: {"applied": pay(run)})
    return world


def ends(world, task):
    world.deliver(task)
    return world.record(task).outcome


def test_two_runs_of_one_slot_both_succeed_and_one_applies(paying, wallets):
    told = [ends(paying, paying.add()) for _ in range(2)]
    assert [outcome.result for outcome in told] == ['{"applied":true}', '{"applied":false}']
    assert wallets.get("ana")["coins"] == 10


def test_the_slot_of_a_run_is_its_jobs(paying):
    ends(paying, paying.add())
    assert list(paying.memory.slots.taken) == ["slot#echo#w22"]


def test_a_commit_that_is_unknown_fails_the_attempt(paying, wallets):
    paying.slots.next("take", is_down)
    task = paying.add()
    assert ends(paying, task) is None
    assert paying.record(task).failures[0].error == "Unavailable: down"
    assert ends(paying, task).ending is Ending.SUCCEEDED
    assert wallets.get("ana")["coins"] == 10


@pytest.mark.parametrize(
    ("body", "ending"),
    [
        (lambda run: run.skip("not today"), Ending.SKIPPED),
        (lambda run: fail_for_good(), Ending.DEAD),
    ],
)
def test_a_body_that_ends_its_run_leaves_the_slot_free(paying, wallets, body, ending):
    def job(payload, run):
        with run.once("w22") as tx:
            tx.put("wallets", {"id": "ana"})
            body(run)

    paying.job("echo", job)
    assert ends(paying, paying.add()).ending is ending
    assert (wallets.items(), paying.memory.slots.taken) == ([], {})


def fail_for_good():
    raise minutero.PermanentFailure("closed")


def test_a_block_that_does_nothing_fails_its_attempt(paying):
    def job(payload, run):
        with run.once("w22"):
            pass

    paying.job("echo", job)
    task = paying.add()
    assert ends(paying, task) is None
    assert paying.record(task).failures[0].error.startswith("NothingDone: the once block of 'w22'")
