"""What holds of slots, whatever they lie in. Each rule plays on an empty bank and fails by an assertion."""

# ruff: noqa: PT012 - what raises is the end of a block, and a block has a body

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from bank import Bank

from minutero.domain.instants import DAY, SECOND
from minutero.domain.slot import MOST_WRITES, Slot, Write
from minutero.errors import ConditionFailed, InvalidInput, NothingDone

Rule = Callable[[Bank], None]
RULES: list[Rule] = []


def rule(function: Rule) -> Rule:
    RULES.append(function)
    return function


def refused(bank: Bank, code: str, body: Callable[[Any], None]) -> None:
    """A block is refused, writes nothing, and leaves its slot free."""
    with pytest.raises(InvalidInput) as told, bank.once("refused") as tx:
        bank.add(tx, "witness")
        body(tx)
    assert told.value.code == code
    assert bank.get("witness") is None
    assert bank.pay("after", "refused") is True


# --- once


@rule
def writes_and_slot_land_together_and_once(bank):
    assert bank.pay("ana") is True
    assert bank.coins("ana") == 10
    assert bank.pay("ana") is False
    assert bank.pay("ana", task_id="another") is False
    assert bank.coins("ana") == 10


@rule
def each_job_and_each_key_has_its_own_slot(bank):
    assert bank.pay("ana", "w22")
    assert bank.pay("ana", "w23")
    assert bank.pay("ana", "w22", job="refund")
    assert bank.coins("ana") == 30


@rule
def a_rollback_releases_the_slot(bank):
    with pytest.raises(ValueError, match="no such section"), bank.once("w22") as tx:
        bank.add(tx, "ana")
        raise ValueError("no such section")
    assert tx.applied is None
    assert bank.coins("ana") == 0
    assert bank.pay("ana") is True
    assert bank.coins("ana") == 10


@rule
def the_end_of_the_process_in_a_body_releases_the_slot(bank):
    with pytest.raises(SystemExit), bank.once("w22") as tx:
        bank.add(tx, "ana")
        raise SystemExit
    assert bank.pay("ana") is True


@rule
def an_own_condition_that_fails_writes_nothing_and_releases_the_slot(bank):
    bank.put(id="bob", coins=1, state="closed")
    with pytest.raises(ConditionFailed) as told, bank.once("w22") as tx:
        bank.add(tx, "ana")
        tx.check(
            bank.wallets,
            {"id": "bob"},
            condition="#state = :open",
            names={"#state": "state"},
            values={":open": "open"},
        )
    assert (told.value.number, told.value.found["state"]) == (2, "closed")
    assert f"write 2 (check in {bank.wallets}: {{'id': 'bob'}})" in str(told.value)
    assert "closed" not in str(told.value), "what lies there is other people's data"
    assert tx.applied is None
    assert bank.coins("ana") == 0
    assert bank.pay("ana") is True


@rule
def a_condition_on_an_item_that_is_not_there_tells_so(bank):
    with (
        pytest.raises(ConditionFailed, match="there is no such item") as told,
        bank.once("w22") as tx,
    ):
        bank.add(tx, "ana", condition="attribute_exists(id)")
    assert (told.value.number, told.value.found) == (1, None)


@rule
def a_slot_that_is_taken_is_a_no_op_whatever_the_conditions_say(bank):
    bank.put(id="board", open=True)

    def close():
        with bank.once("w22") as tx:
            bank.add(tx, "ana")
            tx.update(
                bank.wallets,
                {"id": "board"},
                "SET #open = :no",
                condition="#open = :yes",
                names={"#open": "open"},
                values={":yes": True, ":no": False},
            )
        return tx.applied

    assert (close(), close()) == (True, False)
    assert bank.coins("ana") == 10


@rule
def an_answer_that_was_lost_is_known_by_the_owner(bank):
    slot = Slot("pay", "w22", "o" * 32, "t1", bank.clock.now())
    key = {"id": {"S": "ana"}}
    update = {
        "TableName": bank.wallets,
        "Key": key,
        "UpdateExpression": "ADD coins :n",
        "ExpressionAttributeValues": {":n": {"N": "10"}},
    }
    writes = [Write("Update", update, key)]
    assert bank.slots.take(slot, writes) is True
    assert bank.slots.take(slot, writes) is True
    assert bank.coins("ana") == 10
    assert bank.pay("ana") is False


@rule
def a_slot_is_kept_for_the_days_it_was_asked_for(bank):
    assert bank.pay("ana", keep_days=30) is True
    bank.clock.advance(30 * DAY)
    assert bank.pay("ana", keep_days=30) is False
    bank.clock.advance(2 * SECOND)
    assert bank.pay("ana") is True
    bank.clock.advance(10_000 * DAY)
    assert bank.pay("ana") is False
    assert bank.coins("ana") == 20


# --- what is refused


@rule
def a_block_without_a_write_is_refused_and_leaves_its_slot_free(bank):
    bank.put(id="bob")
    with pytest.raises(NothingDone, match="'w22' wrote nothing"), bank.once("w22"):
        pass
    with pytest.raises(NothingDone), bank.once("w22") as tx:
        tx.check(bank.wallets, {"id": "bob"}, condition="attribute_exists(id)")
    assert bank.pay("ana") is True


@rule
def as_many_writes_as_a_transaction_takes_are_made(bank):
    with bank.once("many") as tx:
        for number in range(MOST_WRITES):
            tx.put(bank.wallets, {"id": f"w{number}", "coins": number})
    assert tx.applied
    assert bank.coins(f"w{MOST_WRITES - 1}") == MOST_WRITES - 1


@rule
def one_write_more_is_refused_before_anything_is_written(bank):
    def body(tx):
        for number in range(MOST_WRITES):
            bank.add(tx, f"w{number}")

    refused(bank, "too_many_writes", body)


@rule
def a_refusal_that_the_body_catches_is_refused_at_the_end_again(bank):
    def body(tx):
        with suppress(InvalidInput):
            tx.put(bank.wallets, {"id": "bob", "since": object()})

    refused(bank, "invalid_value", body)


@rule
def two_writes_to_one_item_are_refused(bank):
    refused(bank, "two_writes_to_one_item", lambda tx: bank.add(tx, "witness", 5))
    bank.put(id="bob")


@rule
def a_put_of_an_item_that_is_checked_is_two_writes_to_it(bank):
    def body(tx):
        tx.check(bank.wallets, {"id": "bob"}, condition="attribute_exists(id)")
        tx.put(bank.wallets, {"id": "bob", "coins": 1})

    refused(bank, "two_writes_to_one_item", body)


@rule
def two_puts_of_one_item_are_refused_by_the_table(bank):
    def body(tx):
        tx.put(bank.wallets, {"id": "bob", "coins": 1})
        tx.put(bank.wallets, {"id": "bob", "coins": 2})

    refused(bank, "two_writes_to_one_item", body)


@rule
def coins_added_to_a_text_are_refused(bank):
    bank.put(id="bob", coins="many")
    refused(bank, "refused_writes", lambda tx: bank.add(tx, "bob"))


# --- the writes


@rule
def each_kind_of_write_does_what_it_says(bank):
    bank.put(id="old", coins=1)
    bank.put(id="checked", coins=7)
    with bank.once("kinds") as tx:
        tx.put(bank.wallets, {"id": "new", "tags": ["a", 1, None, True], "of": {"x": 1.5}})
        bank.add(tx, "counted", 3)
        tx.delete(bank.wallets, {"id": "old"}, condition="coins < :two", values={":two": 2})
        tx.check(bank.wallets, {"id": "checked"}, condition="coins = :n", values={":n": 7})
    assert bank.get("new") == {"id": "new", "tags": ["a", 1, None, True], "of": {"x": 1.5}}
    assert bank.coins("counted") == 3
    assert bank.get("old") is None
    assert bank.get("checked") == {"id": "checked", "coins": 7}


@rule
def models_are_written_by_instance_and_by_key(bank):
    wallet = bank.model()
    bank.put(id="bob", coins=5)
    bank.put(id="cleo", coins=5)
    bank.put(id="old")
    with bank.once("models") as tx:
        tx.put(wallet("ana", coins=1), condition=wallet.id.does_not_exist())
        tx.update(wallet("bob"), update=[wallet.coins.add(10)], condition=wallet.coins == 5)
        tx.update(wallet, "dora", [wallet.coins.add(2), wallet.level.set("new")])
        tx.check(wallet, "cleo", condition=wallet.coins > 4)
        tx.delete(wallet("old"))
    assert tx.applied
    assert [bank.coins(who) for who in ("ana", "bob", "cleo", "dora", "old")] == [1, 15, 5, 2, 0]
    with pytest.raises(ConditionFailed) as told, bank.once("again") as tx:
        tx.put(wallet("ana", coins=1), condition=wallet.id.does_not_exist())
    assert told.value.found["coins"] == 1


@rule
def a_model_with_a_version_is_written_as_it_was_read(bank):
    account = bank.versioned()
    bank.put(id="ana", coins=1, version=4)
    with bank.once("as read") as tx:
        tx.put(account("ana", coins=2, version=4))
    assert bank.get("ana") == {"id": "ana", "coins": 2, "version": 5}
    with pytest.raises(ConditionFailed) as told, bank.once("too old") as tx:
        tx.put(account("ana", coins=9, version=4))
    assert told.value.found["coins"] == 2


@rule
def a_model_and_its_tables_name_are_one_table(bank):
    wallet = bank.model()
    refused(bank, "two_writes_to_one_item", lambda tx: tx.put(wallet("witness")))


# --- blocks within blocks


@rule
def a_block_within_another_commits_for_itself(bank):
    with pytest.raises(ValueError, match="after"), bank.once("outer") as outer:
        bank.add(outer, "ana")
        assert bank.pay("bob", "inner") is True
        raise ValueError("after the inner one")
    assert (bank.coins("ana"), bank.coins("bob")) == (0, 10)
    assert bank.pay("ana", "outer") is True
