"""Arguments of the Python client, as HTTP would carry them."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from minutero.domain.instants import format_instant, from_datetime, parse_instant
from minutero.service.entries import Api

PAGE = 500
"""Tasks read or added at a time."""

When = datetime | str
"""An aware datetime, or RFC 3339 text with `Z` or an offset."""


class Calls:
    """Base of the groups of calls."""

    _api: Api


def body_of(members: Mapping[str, Any]) -> dict[str, Any]:
    """Members of a body: datetimes as text, and what is None left out."""
    return {name: _carried(value) for name, value in members.items() if value is not None}


def _carried(value: Any) -> Any:
    if not isinstance(value, datetime):
        return value
    # One without a zone stays so, and is refused like any text without one.
    return value.isoformat() if value.utcoffset() is None else format_instant(from_datetime(value))


def instant_of(when: When, field: str) -> int:
    """Milliseconds. Raises InvalidInput."""
    return from_datetime(when, field) if isinstance(when, datetime) else parse_instant(when, field)
