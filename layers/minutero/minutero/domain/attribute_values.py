"""Plain Python values as DynamoDB's API has them, and back: `17` <-> `{"N": "17"}`.

The types and their names: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_AttributeValue.html
"""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from minutero.errors import InvalidInput

AttributeValue = Mapping[str, Any]
Item = Mapping[str, AttributeValue]

_SETS: tuple[tuple[str, type | tuple[type, ...]], ...] = (
    ("SS", str),
    ("NS", (int, float, Decimal)),
    ("BS", (bytes, bytearray)),
)


def to_item(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """An item, a key, or the values of an expression. Raises InvalidInput for what cannot be stored."""
    return {name: to_attribute(value, name) for name, value in values.items()}


def to_attribute(value: Any, name: str) -> dict[str, Any]:  # noqa: PLR0911 - one a type
    """One value; `name` is where it stands, for the refusal."""
    match value:
        case None:
            return {"NULL": True}
        case bool():
            return {"BOOL": value}
        case str():
            return {"S": value}
        case int() | Decimal() | float():
            return {"N": _number(value, name)}
        case bytes() | bytearray():
            return {"B": bytes(value)}
        case Mapping():
            return {"M": {key: to_attribute(one, f"{name}.{key}") for key, one in value.items()}}
        case list() | tuple():
            return {"L": [to_attribute(one, f"{name}[{at}]") for at, one in enumerate(value)]}
        case set() | frozenset():
            return _set(value, name)
    raise _refused(name, f"is a {type(value).__name__}")


def _number(value: float | Decimal, name: str) -> str:
    if not math.isfinite(value):
        raise _refused(name, f"is {value}")
    # `repr` of a float is the shortest text that reads back as it; DynamoDB keeps 38 digits.
    return repr(value) if isinstance(value, float) else str(value)


def _set(value: set[Any] | frozenset[Any], name: str) -> dict[str, Any]:
    for kind, types in _SETS:
        if value and all(isinstance(one, types) and not isinstance(one, bool) for one in value):
            members = [_member(one, name) for one in value]
            return {kind: sorted(members)}
    raise _refused(name, "is an empty set or one of several types")


def _member(value: Any, name: str) -> str | bytes:
    return value if isinstance(value, str | bytes) else _number(value, name)


def _refused(name: str, what: str) -> InvalidInput:
    return InvalidInput(
        "invalid_value",
        f"{name} {what}; send text, finite numbers, bytes, booleans, None, lists, dicts or sets of one type",
        name,
    )


def from_item(item: Item) -> dict[str, Any]:
    """What `to_item` was given; numbers come as int where they are whole, else as Decimal."""
    return {name: from_attribute(value) for name, value in item.items()}


def from_attribute(value: AttributeValue) -> Any:  # noqa: PLR0911 - one a type
    """One value."""
    ((kind, held),) = value.items()
    match kind:
        case "N":
            return _from_number(held)
        case "NULL":
            return None
        case "M":
            return from_item(held)
        case "L":
            return [from_attribute(one) for one in held]
        case "NS":
            return {_from_number(one) for one in held}
        case "SS" | "BS":
            return set(held)
    return held


def _from_number(text: str) -> int | Decimal:
    number = Decimal(text)
    return int(number) if number == number.to_integral_value() else number
