"""The minutes around now as bars: how many tasks are due in each, and what has become of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from rich.text import Text

MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a bar: the statuses in it, its colour, and its sign where there are no colours."""

    name: str
    statuses: Sequence[str]
    style: str
    sign: str
    ascii_sign: str


PARTS = (
    Part("dead", ("dead",), "red", "✖", "X"),
    Part("done", ("succeeded", "skipped", "expired", "cancelled"), "green", "█", "#"),
    Part("runs or is retried", ("running", "retrying"), "yellow", "▓", "+"),
    Part("claimed", ("claimed",), "cyan", "▒", "="),
    Part("scheduled", ("scheduled",), "blue", "░", "."),
)
"""From the left of a bar to its right."""


@dataclass(frozen=True, slots=True)
class Row:
    """A minute: when it begins, and how many tasks of each part are due in it."""

    at: datetime
    counts: Sequence[int]

    @property
    def total(self) -> int:
        """Count them all."""
        return sum(self.counts)


def rows(backlog: Mapping[str, Any]) -> list[Row]:
    """Give every minute of a backlog, those without tasks too."""
    told = {_instant(one["at"]): one["counts"] for one in backlog.get("minutes") or ()}
    at, end = _instant(backlog["from"]), _instant(backlog["to"])
    found = []
    while at < end:
        counts = told.get(at) or {}
        found.append(Row(at, [sum(counts.get(s, 0) for s in part.statuses) for part in PARTS]))
        at += MINUTE
    return found


def nearest(found: Sequence[Row], now: datetime, most: int) -> Sequence[Row]:
    """Give at most so many rows, those around now."""
    before = sum(row.at + MINUTE <= now for row in found)
    first = max(0, min(before - most // 2, len(found) - most))
    return found[first : first + most]


def lines(found: Sequence[Row], now: datetime, width: int, *, ascii_only: bool) -> Iterator[Text]:
    """Draw a line a minute, the one that is now with a mark; all to one scale."""
    largest = max((row.total for row in found), default=0)
    cells = max(8, min(60, width - 20))
    for row in found:
        is_now = row.at <= now < row.at + MINUTE
        mark = (">" if ascii_only else "▶") if is_now else " "
        line = Text()
        line.append(f"{mark} {row.at.astimezone():%H:%M} ", "bold" if is_now else "dim")
        for part, length in zip(PARTS, _lengths(row.counts, largest, cells), strict=True):
            line.append((part.ascii_sign if ascii_only else part.sign) * length, part.style)
        yield line.append(f" {row.total:,}" if row.total else "")


def legend(*, ascii_only: bool) -> Text:
    """Say what the signs and colours mean."""
    line = Text("  ")
    for part in PARTS:
        line.append(part.ascii_sign if ascii_only else part.sign, part.style)
        line.append(f" {part.name}   ", "dim")
    return line


def _lengths(counts: Sequence[int], largest: int, cells: int) -> list[int]:
    """Give the cells of each part: in proportion, one at least for what is there, and no more in all."""
    if not largest:
        return [0 for _ in counts]
    lengths = [max(1, count * cells // largest) if count else 0 for count in counts]
    for _ in range(max(0, sum(lengths) - cells)):
        lengths[lengths.index(max(lengths))] -= 1
    return lengths


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)
