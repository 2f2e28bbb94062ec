"""Bad input, at every door there is: an error that says what to send instead, and nothing is stored."""

import sys
from pathlib import Path

import pytest

import minutero

# The folders of tests are no packages; what they share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

from bad_values import NEXT, SOON, query


@pytest.fixture(autouse=True)
def announced(deployed):
    """The jobs are."""


@pytest.fixture
def task_id(http):
    """A task an hour ahead."""
    return http("POST", "/tasks", {"job": "echo", "delay_seconds": 3600})[1]["task_id"]


@pytest.fixture
def unchanged(aws, http, request):
    """Tells whether nothing has been stored or sent since the test began."""
    if "task_id" in request.fixturenames:
        request.getfixturevalue("task_id")
    http("GET", f"/tasks?{query(from_=SOON, to=NEXT)}")  # the first use writes the shard count

    def everything():
        tables = aws.dynamodb.list_tables()["TableNames"]
        rows = [aws.dynamodb.scan(TableName=table)["Items"] for table in tables]
        told = aws.sqs.get_queue_attributes(QueueUrl=aws.queues["tasks"], AttributeNames=["All"])
        depths = {k: v for k, v in told["Attributes"].items() if k.startswith("Approximate")}
        return rows, depths

    before = everything()
    return lambda: everything() == before


@pytest.fixture
def client():
    return minutero.Client.from_environment()


@pytest.fixture
def doors(http, client):
    """The doors a new task comes through: each gives (status, error) for its body."""

    def over_http(body):
        status, told = http("POST", "/tasks", body)
        return status, told.get("error")

    def in_a_batch(body):
        status, told = http("POST", "/tasks/batch", {"tasks": [body]})
        [entry] = told["results"]
        assert (status, "task_id" in entry) == (200, False)
        return entry["status"], entry["error"]

    def by_the_client(body):
        with pytest.raises(minutero.InvalidInput) as refused:
            client.add_task(**body)
        error = refused.value
        return 400, {"code": error.code, "message": error.message, "field": error.field}

    def by_the_clients_batch(body):
        [entry] = client.add_tasks([body])
        return entry["status"], entry["error"]

    def within_a_transaction(body):
        with pytest.raises(minutero.InvalidInput) as refused:
            client.task_item(**body)
        error = refused.value
        return 400, {"code": error.code, "message": error.message, "field": error.field}

    return {
        "POST /tasks": over_http,
        "POST /tasks/batch": in_a_batch,
        "add_task": by_the_client,
        "add_tasks": by_the_clients_batch,
        "task_item": within_a_transaction,
    }
