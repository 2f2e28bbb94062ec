"""Values within an item, by path: `scores.ana`, `lines[2]`."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

Path = Sequence[str | int]


class _Missing:
    """What lies at a path where nothing lies; None is a value."""


MISSING = _Missing()


def kind_of(value: Any) -> str:  # noqa: PLR0911 - one a type
    """DynamoDB's name of a value's type, "" for nothing. Python would compare True with 1."""
    match value:
        case bool():
            return "BOOL"
        case None:
            return "NULL"
        case str():
            return "S"
        case int() | Decimal():
            return "N"
        case bytes():
            return "B"
        case dict():
            return "M"
        case list():
            return "L"
        case set():
            return f"{kind_of(next(iter(value)))}S"
    return ""


def look(item: Any, path: Path) -> Any:
    """The value there, or MISSING."""
    for step in path:
        try:
            item = item[step]
        except (KeyError, IndexError, TypeError):
            return MISSING
    return item


def store(item: dict[str, Any], path: Path, value: Any) -> None:
    """Sets it. What the path leads through must be there. Copies it, since others may have it too."""
    holder = _copied_to(item, path)
    last = path[-1]
    if isinstance(last, int) and isinstance(holder, list):
        # As DynamoDB does it: past the end of a list means its end.
        holder[last : last + 1] = [value]
    else:
        holder[last] = value


def remove(item: dict[str, Any], path: Path) -> None:
    """Takes it away, if it is there."""
    if look(item, path) is not MISSING:
        del _copied_to(item, path)[path[-1]]


def _copied_to(item: Any, path: Path) -> Any:
    for step in path[:-1]:
        item[step] = item[step].copy()
        item = item[step]
    return item
