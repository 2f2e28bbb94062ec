import json

import pytest

from minutero import PermanentFailure

pytestmark = pytest.mark.usefixtures("deployed")


def test_an_audit_of_a_new_deployment_repairs_nothing(auditor, dispatcher, event):
    dispatcher(event("eventbridge_tick"))
    told = auditor(event("eventbridge_audit"))
    assert told["tally"]["claimed"] == 0
    json.dumps(told)


def test_a_dead_task_is_listed_once_its_message_is_buried(
    worker, dead_letter, http, messages, batch, aws, register
):
    def die(payload, run):
        raise PermanentFailure("no such wallet")

    register("die", die)
    _, task = http("POST", "/tasks", {"job": "die", "tenant": "acme"})
    worker(batch(messages()))
    assert http("GET", f"/tasks/{task['task_id']}")[1]["status"] == "dead"
    (body,) = messages("dead-letters")
    for _ in range(2):
        assert dead_letter(batch([body], "sqs_dead_letters"))["batchItemFailures"] == []
    (row,) = dead_rows(aws)
    assert task["task_id"] in row["sk"]["S"]
    assert "no such wallet" in row["reason"]["S"]


def test_a_message_that_killed_its_workers_is_made_dead_and_listed(
    dead_letter, http, messages, batch, aws
):
    """SQS itself has moved it: nobody wrote a reason."""
    _, task = http("POST", "/tasks", {"job": "echo"})
    assert dead_letter(batch(messages(), "sqs_dead_letters"))["batchItemFailures"] == []
    assert http("GET", f"/tasks/{task['task_id']}")[1]["status"] == "dead"
    assert len(dead_rows(aws)) == 1


def test_a_dead_letter_of_a_task_that_has_succeeded_is_not_listed(
    worker, dead_letter, http, messages, batch, aws
):
    _, task = http("POST", "/tasks", {"job": "echo"})
    (body,) = messages()
    worker(batch([body]))
    assert dead_letter(batch([body], "sqs_dead_letters"))["batchItemFailures"] == []
    assert dead_rows(aws) == []
    assert http("GET", f"/tasks/{task['task_id']}")[1]["status"] == "succeeded"


@pytest.mark.parametrize("body", ["", "{}", "not json"])
def test_a_dead_letter_that_is_none_of_ours_is_dropped(dead_letter, batch, body):
    assert dead_letter(batch([body], "sqs_dead_letters"))["batchItemFailures"] == []


def dead_rows(aws):
    rows = aws.dynamodb.scan(TableName="Tasks")["Items"]
    return [row for row in rows if row["bucket"]["S"].startswith("dead#")]
