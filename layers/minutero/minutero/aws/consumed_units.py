"""Counts the units DynamoDB says each request consumed."""

from functools import partial
from typing import TYPE_CHECKING, Any

from minutero.domain.metrics import Metric
from minutero.ports import Meter

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

UNITS = {
    "GetItem": Metric.READ_UNITS,
    "BatchGetItem": Metric.READ_UNITS,
    "Query": Metric.READ_UNITS,
    "PutItem": Metric.WRITE_UNITS,
    "UpdateItem": Metric.WRITE_UNITS,
    "DeleteItem": Metric.WRITE_UNITS,
    "BatchWriteItem": Metric.WRITE_UNITS,
    "BatchExecuteStatement": Metric.WRITE_UNITS,
    "TransactWriteItems": Metric.WRITE_UNITS,
}
"""Every request this package makes; its statements are updates."""


def count_units(client: "DynamoDBClient", meter: Meter) -> None:
    """Has every request of the client ask for what it consumes, and adds up what the answers say.

    What a request consumed that failed, or whose condition did not hold, is in no answer:
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_ConsumedCapacity.html
    """
    events = client.meta.events
    for operation, metric in UNITS.items():
        events.register(f"before-parameter-build.dynamodb.{operation}", _ask)
        events.register(f"after-call.dynamodb.{operation}", partial(_count, meter, metric))


def _ask(params: dict[str, Any], **_: Any) -> None:
    params["ReturnConsumedCapacity"] = "TOTAL"


def _count(meter: Meter, metric: Metric, parsed: dict[str, Any], **_: Any) -> None:
    """One table has one entry; requests that may touch several have a list of them."""
    told = parsed.get("ConsumedCapacity")
    if told:
        tables = told if isinstance(told, list) else [told]
        meter.add(metric, sum(one.get("CapacityUnits", 0) for one in tables))
