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
_FIRST = -62_135_596_800_000
_LAST = 253_402_300_799_999
"""The calendar's ends, the years 1 and 9999 in UTC."""

_RFC3339 = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt]((?:[01]\d|2[0-3]):\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:[0-5]\d)",
    re.ASCII,
)
_EXAMPLE = "send text such as 2026-12-01T09:00:00Z or 2026-12-01T03:00:00-06:00"
_NUMBER = re.compile(r"\d{9,19}(?:\.\d{1,9})?", re.ASCII)
_UNITS = {1: "seconds", 10**3: "milliseconds", 10**6: "microseconds", 10**9: "nanoseconds"}
_LIKELY = range(946_684_800, 4_102_444_800)
"""Seconds since 1970 of the years 2000 to 2099: a number among them was meant as a time."""


def parse_instant(text: object, field: str = "run_at") -> int:
    """RFC 3339 text with `Z` or an offset -> milliseconds. A finer fraction is rounded up: never early.

    What an offset puts outside the calendar in UTC is read as the calendar's end: far past or far ahead
    either way, and every instant read can be told. Raises InvalidInput (`invalid_<field>`) for anything
    else, leap seconds and missing zones included.
    """
    match = _RFC3339.fullmatch(text) if isinstance(text, str) else None
    if not match:
        raise no_instant(text, field)
    day, time, fraction, zone = match.groups()
    try:
        whole = datetime.fromisoformat(f"{day}T{time}{'+00:00' if zone in 'Zz' else zone}")
        seconds = (whole - _EPOCH) // timedelta(seconds=1)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(
            f"invalid_{field}", f"{field} is not a time that exists ({error}); {_EXAMPLE}", field
        ) from None
    nanoseconds = int((fraction or "0").ljust(9, "0"))
    return _within(seconds * SECOND + math.ceil(nanoseconds / 1_000_000))


def no_instant(value: object, field: str = "run_at") -> InvalidInput:
    """The refusal of what was sent as a time and is none. A number that looks like one is told as one."""
    meant = meant_as(value)
    if meant:
        unit, text = meant
        message = f"{field} looks like {unit} since 1970; send RFC 3339 text: {text}"
    else:
        message = f"{field} is not an RFC 3339 time with a zone; {_EXAMPLE}"
    return InvalidInput(f"invalid_{field}", message, field)


def meant_as(value: object) -> tuple[str, str] | None:
    """A number, or text of one, that is a likely time since 1970 -> (its unit, RFC 3339 text)."""
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = float(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    for unit, name in _UNITS.items():
        # Compared before anything is divided: an integer of JSON may be too long for a float.
        if _LIKELY.start * unit <= value < _LIKELY.stop * unit:
            return name, format_instant(math.ceil(value * SECOND / unit))
    return None


def from_datetime(moment: datetime, field: str = "run_at") -> int:
    """An aware datetime -> milliseconds, rounded up and within the calendar as `parse_instant` does.

    Raises InvalidInput for a naive one.
    """
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise InvalidInput(
            f"invalid_{field}", f"{field} has no time zone; pass datetime(..., tzinfo=UTC)", field
        )
    return _within(-((_EPOCH - moment) // timedelta(milliseconds=1)))


def to_datetime(ms: int) -> datetime:
    """Milliseconds -> an aware datetime in UTC."""
    return _EPOCH + timedelta(milliseconds=ms)


def format_instant(ms: int) -> str:
    """Milliseconds -> `2026-12-01T09:00:00Z`, with `.123` only where it is not a whole second."""
    text = to_datetime(ms).replace(tzinfo=None)
    return text.isoformat(timespec="milliseconds" if ms % SECOND else "seconds") + "Z"


def _within(ms: int) -> int:
    return min(max(ms, _FIRST), _LAST)
