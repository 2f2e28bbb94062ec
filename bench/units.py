"""What DynamoDB and SQS bill, reckoned from the sizes of what is written, read and sent.

https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/CapacityUnitCalculations.html
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/read-write-operations.html
"""

import base64
from collections.abc import Iterable, Mapping
from typing import Any

Item = Mapping[str, Mapping[str, Any]]

WRITE_UNIT = 1024
READ_UNIT = 4096
SQS_REQUEST = 64 * 1024
IN_A_TRANSACTION = 2
INDEXING = 100
"""Bytes that storage adds to each item."""


def item_size(item: Item) -> int:
    """Bytes of an item: the names of its attributes and their values."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    match kind:
        case "S":
            return len(content.encode())
        case "N":
            return _number_size(content)
        case "B":
            return len(base64.b64decode(content) if isinstance(content, str) else content)
        case "L":
            return 3 + sum(1 + _value_size(one) for one in content)
        case "M":
            return 3 + sum(
                1 + len(name.encode()) + _value_size(one) for name, one in content.items()
            )
        case _:
            return 1


def _number_size(text: str) -> int:
    """A byte for two significant digits, and one more; the zeros at either end are no digits."""
    digits = text.lstrip("-").replace(".", "").strip("0")
    return (len(digits) + 1) // 2 + 1


def write_units(before: int, after: int) -> int:
    """Of one item, by the larger of its sizes; 0 where there is none. One that is refused costs as much."""
    return _started(max(before, after), WRITE_UNIT)


def read_units(sizes: Iterable[int], *, consistent: bool) -> float:
    """Of items read by their keys: each is rounded up for itself, and one that is not there costs a unit."""
    units = sum(_started(size, READ_UNIT) for size in sizes)
    return units if consistent else units / 2


def query_units(sizes: Iterable[int], *, consistent: bool) -> float:
    """Of a query: what it looked at is added up first, whatever a filter or a projection leaves of it."""
    units = _started(sum(sizes), READ_UNIT)
    return units if consistent else units / 2


def sqs_requests(texts: Iterable[str]) -> int:
    """What one request counts for, by the bodies it sends or receives."""
    return _started(sum(len(text.encode()) for text in texts), SQS_REQUEST)


def _started(size: int, unit: int) -> int:
    return max(1, -(-size // unit))
