"""Slots: a job's own writes and the slot in one transaction, in memory and over the tables."""

import threading
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest
import slot_rules
from bank import bank_of
from botocore.exceptions import ClientError, ReadTimeoutError

from minutero.aws.slots import DynamoSlots
from minutero.errors import ConditionFailed, InvalidInput, Unavailable
from minutero.testing import SettableClock
from minutero.transaction import SlotsOfRun


@pytest.fixture
def bank(world):
    return bank_of(world)


@pytest.mark.parametrize("rule", slot_rules.RULES, ids=lambda rule: rule.__name__)
def test_of_slots_holds_that(bank, rule):
    rule(bank)


def test_rollback_releases_slot(bank):
    """The story that started it: a summary that failed must not leave the week marked as closed."""
    slot_rules.a_rollback_releases_the_slot(bank)


@pytest.mark.parametrize("kind", ["memory", "moto"])
@pytest.mark.parametrize(
    "update", ["FROB coins :n", "ADD coins", "SET coins", "ADD coins :n extra"]
)
def test_an_expression_that_makes_no_sense_is_refused(request, kind, update):
    """Not asked of MiniStack, which passes over what it cannot read."""
    bank = bank_of(request.getfixturevalue(f"{kind}_world"))
    slot_rules.refused(
        bank,
        "refused_writes",
        lambda tx: tx.update(bank.wallets, {"id": "bob"}, update, values={":n": 1}),
    )


RUNS = 20


@pytest.mark.stack
def test_of_twenty_threads_on_one_slot_one_commits(ministack_world):
    bank = bank_of(ministack_world)
    together = threading.Barrier(RUNS)

    def attempt(number):
        together.wait()
        return bank.pay("ana", task_id=f"t{number}")

    with ThreadPoolExecutor(RUNS) as threads:
        applied = list(threads.map(attempt, range(RUNS)))
    assert sorted(applied) == [False] * (RUNS - 1) + [True]
    assert bank.coins("ana") == 10


def test_the_row_tells_who_took_the_slot(aws_world):
    bank = bank_of(aws_world)
    bank.pay("ana", task_id="the-first")
    bank.pay("ana", task_id="the-second", job="refund", keep_days=90)
    first, second = (
        bank.client.get_item(
            TableName=aws_world.tables.names.runs, Key={"id": {"S": f"slot#{job}#w22"}}
        )["Item"]
        for job in ("pay", "refund")
    )
    assert first["task_id"] == {"S": "the-first"}
    assert first["taken_at"] == {"N": str(bank.clock.now())}
    assert "expiration" not in first
    assert second["expiration"] == {"N": str(bank.clock.now() // 1000 + 90 * 86_400)}


# --- what DynamoDB may answer


def cancelled(*codes, message="cancelled"):
    reasons = [{"Code": code, "Message": f"about {code}"} for code in codes]
    answer = {
        "Error": {"Code": "TransactionCanceledException", "Message": message},
        "CancellationReasons": reasons,
    }
    return ClientError(answer, "TransactWriteItems")


def error(code, message="no"):
    return ClientError({"Error": {"Code": code, "Message": message}}, "TransactWriteItems")


@pytest.fixture
def commit():
    """Commits one write against these answers; what came of it, and the requests."""

    def play(*answers, row=None):
        client = Mock()
        client.transact_write_items.side_effect = answers
        client.get_item.return_value = {"Item": row} if row else {}
        slots = DynamoSlots(client, "runs", SettableClock(0))
        run = SlotsOfRun(slots, "pay", "t1", SettableClock(0))
        with run.once("w22", None) as tx:
            tx.update("wallets", {"id": "ana"}, "ADD coins :n", values={":n": 1})
        return tx.applied, [call.kwargs for call in client.transact_write_items.mock_calls]

    return play


@pytest.mark.parametrize(
    "passing",
    [
        cancelled("None", "TransactionConflict"),
        cancelled("TransactionConflict", "None"),
        cancelled("ThrottlingError", "None"),
        cancelled("None", "ProvisionedThroughputExceeded"),
        error("TransactionInProgressException"),
    ],
    ids=str,
)
def test_what_passes_is_asked_again_with_the_same_token(commit, passing):
    applied, requests = commit(passing, passing, {})
    assert applied is True
    assert len(requests) == 3
    assert requests[0] == requests[1] == requests[2]
    assert requests[0]["ClientRequestToken"]


def test_each_block_has_a_token_of_its_own(commit):
    tokens = {commit({})[1][0]["ClientRequestToken"] for _ in range(20)}
    assert len(tokens) == 20


def test_the_slot_is_looked_at_before_the_jobs_own_condition(commit):
    both = cancelled("ConditionalCheckFailed", "ConditionalCheckFailed")
    assert commit(both)[0] is False


def test_a_taken_slot_is_a_no_op_whatever_else_went_wrong(commit):
    assert commit(cancelled("ConditionalCheckFailed", "ValidationError"))[0] is False
    assert commit(cancelled("ConditionalCheckFailed", "TransactionConflict"))[0] is False


OWN = cancelled("None", "ConditionalCheckFailed")


def test_ones_own_condition_is_told_apart(commit):
    with pytest.raises(ConditionFailed):
        commit(OWN)


def test_a_slot_that_is_just_being_taken_is_a_no_op_though_only_a_write_is_told_of(commit):
    assert commit(OWN, row={"owner": {"S": "another"}})[0] is False
    over = {"owner": {"S": "another"}, "expiration": {"N": "-1"}}
    with pytest.raises(ConditionFailed):
        commit(OWN, row=over)
    kept = {"owner": {"S": "another"}, "expiration": {"N": "1"}}
    assert commit(OWN, row=kept)[0] is False


@pytest.mark.parametrize(
    "unknown",
    [
        error("InternalServerError"),
        error("ThrottlingException"),
        ReadTimeoutError(endpoint_url="https://dynamodb"),
        cancelled("TransactionConflict", "SomethingNew"),
    ],
    ids=str,
)
def test_an_effect_that_is_not_known_is_unavailable(commit, unknown):
    with pytest.raises(Unavailable):
        commit(unknown)


@pytest.mark.parametrize(
    "never",
    [
        error("ValidationException", "Item size has exceeded the maximum allowed size"),
        error("SerializationException"),
        cancelled("None", "ValidationError"),
    ],
    ids=str,
)
def test_what_can_never_be_written_is_invalid(commit, never):
    with pytest.raises(InvalidInput, match="never takes these writes") as told:
        commit(never)
    assert told.value.code == "refused_writes"


def test_a_conflict_that_stays_is_unavailable(commit):
    with pytest.raises(Unavailable):
        commit(*[cancelled("None", "TransactionConflict")] * 6)
