"""Spans of time as people write them: `90s`, `10m`, `1h30m`, `2d`."""

import re
from typing import Any

import typer

_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_MOST = 3653 * 86_400
"""Ten years: nothing is planned further ahead, or looked at further back."""

_UNITS = ((86_400, "d", 3_600, "h"), (3_600, "h", 60, "min"), (60, "min", 1, "s"))
"""Seconds of a unit and its name, and those of the unit below."""

_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])", re.ASCII)


def parse_duration(text: Any) -> float:
    """Text -> seconds, at most ten years; a bare number counts as seconds. Raises BadParameter."""
    text = str(text).strip()
    seconds = _seconds(text)
    if seconds > _MOST:
        raise typer.BadParameter(f"{text[:40]} is more than ten years")
    return seconds


def span(ms: int) -> str:
    """Milliseconds -> a span as people read it: `0.25 s`, `3 min 5 s`, `2 h 5 min`, `4 d 1 h`."""
    if abs(ms) < 60_000:  # noqa: PLR2004
        return f"{ms / 1000:.2f} s"
    seconds = ms // 1000
    for one, name, per, below in _UNITS:
        if seconds >= one:
            rest = seconds % one // per
            return f"{seconds // one} {name}" + (f" {rest} {below}" if rest else "")
    return f"{seconds} s"


def _seconds(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        return float(text)
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise typer.BadParameter(f"{text!r} is no span of time; write e.g. 90s, 10m, 1h30m or 2d")
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)
