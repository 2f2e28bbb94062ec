"""Times as people write them: an RFC 3339 time, or a span from now."""

import time
from typing import Any

import typer

from minutero.domain.instants import SECOND, parse_instant
from minutero.errors import InvalidInput
from minutero_cli.durations import parse_duration


def now() -> int:
    """Read this machine's clock, in milliseconds."""
    return time.time_ns() // 1_000_000


def checked_instant(text: Any) -> str:
    """Let an RFC 3339 time through as it is written. Raises typer.BadParameter for anything else."""
    _instant(str(text))
    return str(text)


def parse_time(text: Any) -> int:
    """RFC 3339 time, `now`, or a span from now (`-2h`, `+30m`) -> milliseconds.

    Raises typer.BadParameter.
    """
    text = str(text).strip()
    if text == "now":
        return now()
    if text.startswith(("+", "-")):
        ms = round(parse_duration(text[1:]) * SECOND)
        return now() + (ms if text.startswith("+") else -ms)
    return _instant(text, ", or a span from now such as -2h or +30m")


def _instant(text: str, otherwise: str = "") -> int:
    try:
        return parse_instant(text, repr(text[:40]))
    except InvalidInput as error:
        raise typer.BadParameter(error.message + otherwise) from None
