"""Instants: integers of milliseconds since 1970-01-01T00:00Z, and their RFC 3339 text."""

import math
import re
from datetime import UTC, datetime, timedelta

from minutero.errors import InvalidInput

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt]((?:[01]\d|2[0-3]):\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:[0-5]\d)",
    re.ASCII,
)
_EXAMPLE = "send e.g. 2026-12-01T09:00:00Z or 2026-12-01T03:00:00-06:00"


def parse_instant(text: str, field: str = "run_at") -> int:
    """RFC 3339 text with `Z` or an offset -> milliseconds. A finer fraction is rounded up: never early.

    Raises InvalidInput (`invalid_<field>`) for anything else, leap seconds and missing zones included.
    """
    match = _RFC3339.fullmatch(text)
    if not match:
        raise InvalidInput(
            f"invalid_{field}", f"{field} is not an RFC 3339 time with a zone; {_EXAMPLE}", field
        )
    day, time, fraction, zone = match.groups()
    try:
        whole = datetime.fromisoformat(f"{day}T{time}{'+00:00' if zone in 'Zz' else zone}")
        seconds = (whole - _EPOCH) // timedelta(seconds=1)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"invalid_{field}", f"{field} is not a time that exists ({error}); {_EXAMPLE}", field
        ) from None
    nanoseconds = int((fraction or "0").ljust(9, "0"))
    return seconds * SECOND + math.ceil(nanoseconds / 1_000_000)


def from_datetime(moment: datetime, field: str = "run_at") -> int:
    """An aware datetime -> milliseconds, rounded up. Raises InvalidInput for a naive one."""
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InvalidInput(
            f"invalid_{field}", f"{field} has no time zone; pass datetime(..., tzinfo=UTC)", field
        )
    return -((_EPOCH - moment) // timedelta(milliseconds=1))


def format_instant(ms: int) -> str:
    """Milliseconds -> `2026-12-01T09:00:00Z`, with `.123` only where it is not a whole second."""
    text = (_EPOCH + timedelta(milliseconds=ms)).replace(tzinfo=None)
    return text.isoformat(timespec="milliseconds" if ms % SECOND else "seconds") + "Z"
