"""The picture of docs/performance.md, an SVG of a few kilobytes, drawn from the rows of `measure`."""

from collections.abc import Mapping, Sequence
from typing import Any

WIDTH, HEIGHT = 640, 380
LEFT, RIGHT, TOP, BOTTOM = 70, 110, 46, 50
EARLIEST, LATEST = 780, -300
"""Seconds before the due second that are drawn; what is later lies on the lower edge."""

COLORS = ("#7f7f7f", "#d62728", "#ff7f0e", "#1f77b4", "#2ca02c", "#9467bd")
FONT = 'font-family="sans-serif" font-size="12"'


def picture(rows: Sequence[Mapping[str, Any]], title: str) -> str:
    """One line a shard count: how long before its second the hindmost task is sent, over the look-ahead."""
    minutes = sorted({row["look_ahead"] for row in rows})
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 22, title, "start"),
        *(_level(seconds) for seconds in range(LATEST, EARLIEST, 150)),
        *(_text(_x(one, minutes), HEIGHT - BOTTOM + 20, f"{one} min", "middle") for one in minutes),
        _text((LEFT + WIDTH - RIGHT) // 2, HEIGHT - 10, "look-ahead", "middle"),
    ]
    for color, shards in zip(COLORS, sorted({row["shards"] for row in rows}), strict=True):
        ahead = {row["look_ahead"]: row["sent_ahead"] for row in rows if row["shards"] == shards}
        points = [(_x(one, minutes), _y(ahead[one])) for one in minutes]
        line = " ".join(f"{x:.0f},{y:.0f}" for x, y in points)
        parts.append(f'<polyline points="{line}" fill="none" stroke="{color}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.0f}" cy="{y:.0f}" r="3" fill="{color}"/>' for x, y in points]
        parts.append(
            _text(WIDTH - RIGHT + 8, points[-1][1] + 4, f"{shards} shards", "start", color)
        )
    return "\n".join([*parts, "</svg>", ""])


def _x(minutes: int, all_minutes: Sequence[int]) -> float:
    first, last = all_minutes[0], all_minutes[-1]
    return LEFT + (WIDTH - LEFT - RIGHT) * (minutes - first) / (last - first)


def _y(seconds: float) -> float:
    shown = min(EARLIEST, max(LATEST, seconds))
    return TOP + (HEIGHT - TOP - BOTTOM) * (EARLIEST - shown) / (EARLIEST - LATEST)


def _level(seconds: int) -> str:
    name = f"{seconds} s" if seconds > LATEST else "later"
    width, color = (2, "#333333") if seconds == 0 else (1, "#dddddd")
    y = f"{_y(seconds):.0f}"
    ends = f'x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"'
    line = f'<line {ends} stroke="{color}" stroke-width="{width}"/>'
    return line + "\n" + _text(LEFT - 8, _y(seconds) + 4, name, "end")


def _text(x: float, y: float, text: str, anchor: str, color: str = "#333333") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" fill="{color}">{text}</text>'
