"""Values of the domain as compact JSON text, for attributes of which no request asks a part.

A member that is what its class has by default is left out, since bytes are billed; what a newer version has
added is passed over.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value = TypeVar("Value", bound="DataclassInstance")

dump = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode


def encode(value: "DataclassInstance", *without: str) -> str:
    """A dataclass as text, some of its members left out."""
    defaults = {one.name: one.default for one in fields(value)}
    said = asdict(value).items()
    return dump({name: x for name, x in said if x != defaults[name] and name not in without})


def members(text: str) -> dict[str, Any]:
    """What `encode` wrote, of whatever version. Raises ValueError."""
    found = json.loads(text)
    if not isinstance(found, dict):
        raise ValueError(f"no JSON object: {text[:60]!r}")  # noqa: TRY004 - of the text, not of a caller
    return found


def made(kind: type[Value], said: Mapping[str, Any]) -> Value:
    """A dataclass of its members. Raises ValueError when one is missing."""
    known = {one.name: said[one.name] for one in fields(kind) if one.name in said}
    try:
        return kind(**known)
    except TypeError as error:
        raise ValueError(str(error)) from None
