"""Spans of time as people write them: `90s`, `10m`, `1h30m`, `2d`."""

import re
from typing import Any

import typer

_SECONDS = {"d": 86_400, "h": 3_600, "m": 60, "s": 1}
_MOST = 3653 * 86_400
"""Ten years: nothing is planned further ahead, or looked at further back."""

_PART = re.compile(r"(\d+(?:\.\d+)?)([dhms])", re.ASCII)


def parse_duration(text: Any) -> float:
    """Text -> seconds, at most ten years; a bare number counts as seconds. Raises BadParameter."""
    text = str(text).strip()
    seconds = _seconds(text)
    if seconds > _MOST:
        raise typer.BadParameter(f"{text[:40]} is more than ten years")
    return seconds


def _seconds(text: str) -> float:
    if re.fullmatch(r"\d+(\.\d+)?", text, re.ASCII):
        return float(text)
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise typer.BadParameter(f"{text!r} is no span of time; write e.g. 90s, 10m, 1h30m or 2d")
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)
