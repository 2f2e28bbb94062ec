"""The Python client's calls beside add and get: the same answers and errors as over HTTP."""

from datetime import UTC, datetime, timedelta

import boto3
import pytest

import minutero

BASE = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(hours=2)
NAIVE = datetime(2030, 1, 1)  # noqa: DTZ001  # what is to be refused


@pytest.fixture
def client(deployed):
    return minutero.Client.from_environment()


def test_many_tasks_are_answered_one_by_one_and_listed(client, http):
    wanted = [
        {"job": "echo", "payload": {"n": n}, "run_at": BASE + timedelta(seconds=n)}
        for n in range(3)
    ]
    results = client.add_tasks([*wanted, {"job": "ecko"}, {"job": "echo", "run_at": NAIVE}])
    assert [one["status"] for one in results] == [201, 201, 201, 400, 400]
    assert results[4]["error"]["field"] == "run_at"
    told = list(client.list_tasks(BASE, BASE + timedelta(minutes=1)))
    assert [task["task_id"] for task in told] == [one["task_id"] for one in results[:3]]
    assert told[0] == http("GET", f"/tasks/{results[0]['task_id']}")[1]


def test_keys_of_a_batch_have_the_rules_of_single_ones(client):
    first = client.add_task("echo", {"a": (1,), 2: "b"}, key="k", delay_seconds=3600)
    same = {"job": "echo", "payload": {2: "b", "a": [1]}, "key": "k", "delay_seconds": 3600}
    again, other = client.add_tasks([same, {**same, "delay_seconds": 3601}])
    assert (again["status"], again["task_id"]) == (200, first["task_id"])
    assert other["status"] == 409
    assert client.find_task("k")["task_id"] == first["task_id"]
    with pytest.raises(minutero.NotFound):
        client.find_task("k", tenant="acme")


def test_a_task_is_rescheduled_run_now_and_cancelled(client):
    task_id = client.add_task("echo", run_at=BASE)["task_id"]
    later = BASE + timedelta(hours=1)
    assert client.reschedule_task(task_id, run_at=later)["run_at"] == f"{later:%FT%TZ}"
    assert client.run_task(task_id)["run_at"] <= f"{datetime.now(UTC):%FT%T}Z"
    assert client.cancel_task(task_id)["status"] == "cancelled"
    with pytest.raises(minutero.Conflict):
        client.run_task(task_id)
    with pytest.raises(minutero.Conflict):
        client.redrive_task(task_id)


@pytest.mark.parametrize(
    "times",
    [{}, {"run_at": BASE, "delay_seconds": 1}, {"run_at": NAIVE}, {"run_at": 5}],
)
def test_a_reschedule_that_makes_no_sense_is_refused(client, times):
    task_id = client.add_task("echo", run_at=BASE)["task_id"]
    with pytest.raises(minutero.InvalidInput) as caught:
        client.reschedule_task(task_id, **times)
    assert caught.value.field == "run_at"


def test_a_list_that_makes_no_sense_is_refused_before_it_is_walked(client):
    for query in (
        {"start": BASE, "end": BASE},
        {"start": "x", "end": BASE},
        {"start": BASE, "end": BASE + timedelta(1), "status": "lost"},
    ):
        with pytest.raises(minutero.InvalidInput):
            client.list_tasks(**query)


def test_the_dead_are_listed_redriven_and_discarded(
    client, register, worker, batch, messages, dead_letter
):
    def fails(payload, run):
        raise minutero.PermanentFailure("no such wallet")

    register("fails", fails)
    ids = {client.add_task("fails")["task_id"] for _ in range(3)}
    worker(batch(messages()))
    dead_letter(batch(messages("dead-letters"), "sqs_dead_letters"))
    assert {one["task_id"] for one in client.list_dead(job="fails")} == ids
    one, *_ = ids
    assert client.get_dead(one)["task"]["status"] == "dead"
    assert client.discard_dead(one)["task_id"] == one
    assert client.redrive_dead(dry_run=True) == {"matched": 2, "redriven": 0, "failed": []}
    assert client.redrive_dead(job="fails") == {"matched": 2, "redriven": 2, "failed": []}
    assert list(client.list_dead()) == []


def test_a_task_is_added_in_a_transaction_of_the_callers_own_or_not_at_all(client, aws):
    dynamodb = boto3.client("dynamodb")
    mine = {"TableName": "Schedules", "Item": {"partition": {"S": "orders"}, "name": {"S": "17"}}}
    once = {**mine, "ConditionExpression": "attribute_not_exists(#p)"}
    once["ExpressionAttributeNames"] = {"#p": "partition"}
    reminder = client.task_item("echo", {"order": 17, "note": "x" * 3_000}, run_at=BASE)
    dynamodb.transact_write_items(TransactItems=[{"Put": once}, reminder])
    told = client.get_task(reminder.task_id)
    assert (told["status"], told["payload"]["order"]) == ("scheduled", 17)

    another = client.task_item("echo", run_at=BASE)
    with pytest.raises(dynamodb.exceptions.TransactionCanceledException):
        dynamodb.transact_write_items(TransactItems=[{"Put": once}, another])
    with pytest.raises(minutero.NotFound):
        client.get_task(another.task_id)
    with pytest.raises(minutero.UnknownJob):
        client.task_item("ecko")


def test_numbers_and_names_are_those_of_http(client, http):
    client.add_task("echo", run_at=BASE)
    told = client.stats(BASE, BASE + timedelta(minutes=1))
    assert told["backlog"]["counts"]["scheduled"] == 1
    assert told.keys() == http("GET", "/stats")[1].keys()
    assert {"aws.call", "echo", "http.post"} <= set(client.job_names())
