"""Every request tells what it consumed, and it is counted."""

import json
from io import BytesIO
from pathlib import Path

import pytest
from botocore.awsrequest import AWSResponse

import minutero.aws
from minutero.aws import clients
from minutero.aws.consumed_units import UNITS, count_units
from minutero.aws.emf import EmfMeter
from minutero.domain.metrics import Metric


class Raw(BytesIO):
    def stream(self, **_):
        yield self.getvalue()


@pytest.fixture
def client(monkeypatch):
    """A counted client whose answers are ours: `.answer`, and `.asked`, the last request."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    client = clients.dynamodb("us-east-1", "http://127.0.0.1:9")
    client.answer, client.asked, client.status = {}, {}, 200

    def send(request, **_):
        client.asked = json.loads(request.body)
        body = Raw(json.dumps(client.answer).encode())
        return AWSResponse(request.url, client.status, {}, body)

    client.meta.events.register("before-send.dynamodb.*", send)
    client.meter = EmfMeter()
    count_units(client, client.meter)
    return client


def counted(client):
    return {metric: values[0] for metric, values in client.meter._values.items()}


ONE = {"TableName": "Tasks", "CapacityUnits": 1.5}


def test_reads_and_writes_are_counted_apart(client):
    client.answer = {"ConsumedCapacity": ONE}
    client.get_item(TableName="Tasks", Key={})
    client.put_item(TableName="Tasks", Item={})
    client.put_item(TableName="Tasks", Item={})
    assert counted(client) == {Metric.READ_UNITS: 1.5, Metric.WRITE_UNITS: 3}


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.transact_write_items(TransactItems=[]),
        lambda client: client.batch_execute_statement(Statements=[]),
        lambda client: client.batch_write_item(RequestItems={}),
    ],
)
def test_a_request_over_several_tables_or_statements_is_counted_whole(client, ask):
    client.answer = {"ConsumedCapacity": [ONE, ONE]}
    ask(client)
    assert client.asked["ReturnConsumedCapacity"] == "TOTAL"
    assert counted(client) == {Metric.WRITE_UNITS: 3}


def test_an_answer_without_capacity_and_an_error_count_nothing(client):
    client.get_item(TableName="Tasks", Key={})
    client.status, client.answer = 400, {"__type": "ConditionalCheckFailedException"}
    with pytest.raises(client.exceptions.ConditionalCheckFailedException):
        client.put_item(TableName="Tasks", Item={})
    assert counted(client) == {}


def test_every_request_this_package_makes_is_counted():
    """The names of the methods of the client, wherever they are called; PynamoDB's are its own."""
    names = {
        operation: "".join(f"_{c.lower()}" if c.isupper() else c for c in operation)[1:]
        for operation in (
            *UNITS,
            "Scan",
            "TransactGetItems",
            "ExecuteStatement",
            "ExecuteTransaction",
        )
    }
    sources = " ".join(path.read_text() for path in Path(minutero.aws.__file__).parent.glob("*.py"))
    called = {operation for operation, method in names.items() if f".{method}(" in sources}
    assert called <= set(UNITS)
    assert {"TransactWriteItems", "BatchExecuteStatement", "BatchGetItem"} <= called
