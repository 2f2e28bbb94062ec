"""Draws the pictures of the command's views that lie beside this file: `make pictures`.

Each is drawn by the command's own code from the answers below, as an SVG that needs nothing from elsewhere.
"""

import os
import re
import time
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console, RenderableType
from rich.terminal_theme import DIMMED_MONOKAI

from minutero_cli.demo import TASKS, Followed
from minutero_cli.demo_table import table
from minutero_cli.stats_view import stats_rows, stats_style
from minutero_cli.task_view import rows, status_style
from minutero_cli.terminal import panel
from minutero_cli.watch import Look
from minutero_cli.watch_picture import picture

HERE = Path(__file__).parent
WIDTH = 100
FETCHED = re.compile(r"\s*(<!--.*?-->|@font-face \{\{.*?\}\}(?=\n))", re.DOTALL)
"""Rich's own format fetches its font from a network; any monospace one will do."""

IDS = [f"1AGkrIQgA{name}ZTKjXRLx0jY" for name in ("BUZab2", "CUZab3", "DUZab4", "EUZab5")]


class Still(Followed):
    """A task of the demo under a clock that stands still."""

    def seconds_to_go(self) -> float:
        """Give what the picture shall show."""
        return 148.0


def at(clock: str) -> str:
    """Give the instant of a clock time."""
    return f"2026-12-01T{clock}Z"


def demo() -> RenderableType:
    """Draw what `make run` shows."""
    moments = [
        ("09:00:00.1", "09:00:00.2", "09:00:00.8", "09:00:00.9"),
        ("09:00:00.1", "09:00:00.3", "09:00:05.9", "09:00:06.0"),
        ("09:00:00.1", None, None, None),
    ]
    names = ("created_at", "claimed_at", "started_at", "finished_at")
    told = [
        {
            "status": "succeeded" if when[-1] else "scheduled",
            "run_at": at(due),
            "lateness_ms": late,
            "timeline": {
                name: clock and at(clock) for name, clock in zip(names, when, strict=True)
            },
        }
        for when, due, late in zip(
            moments, ("09:00:00.1", "09:00:05.1", "09:03:20.1"), (740, 810, None), strict=True
        )
    ]
    return table([Still(name, why, task) for (name, _, why), task in zip(TASKS, told, strict=True)])


def task() -> RenderableType:
    """Draw what `minutero tasks get` shows."""
    failed = {
        "came": "failed",
        "at": at("09:00:00.420"),
        "ended_at": at("09:00:00.670"),
        "error": "ConnectionError: the mail server does not answer",
    }
    history: list[dict[str, Any]] = [
        {"what": "created", "at": at("08:12:40.101"), "run_at": at("08:30:00")},
        {"what": "moved", "at": at("08:20:11.870"), "run_at": at("09:00:00")},
        {
            "what": "claimed",
            "at": at("08:57:03.518"),
            "claim_id": "5e1f0a9bd3c47782",
            "early_ms": 176_482,
        },
        {"what": "sent", "at": None},
        {"what": "attempt", "attempt": 1, **failed},
        {
            "what": "attempt",
            "attempt": 2,
            "came": "ended",
            "at": at("09:00:03.013"),
            "ended_at": at("09:00:03.301"),
        },
        {"what": "succeeded", "at": at("09:00:03.301")},
    ]
    told = {
        "task_id": IDS[0],
        "job": "send_reminder",
        "status": "succeeded",
        "run_at": at("09:00:00"),
        "payload": {"email": "ana@example.com"},
        "attempts": 2,
        "max_attempts": 5,
        "key": "order-17-reminder",
        "result": {"sent": True},
        "lateness_ms": 420,
        "history": history,
    }
    return panel(IDS[0], rows(told), status_style)


def told_stats() -> dict[str, Any]:
    """Give an answer of `GET /stats`."""
    minutes = [
        {"at": at("08:55:00"), "counts": {"succeeded": 212}},
        {"at": at("08:57:00"), "counts": {"succeeded": 180, "dead": 4, "retrying": 12}},
        {"at": at("08:58:00"), "counts": {"succeeded": 96, "cancelled": 7}},
        {"at": at("09:00:00"), "counts": {"succeeded": 488, "running": 41, "claimed": 391}},
        {"at": at("09:01:00"), "counts": {"claimed": 130}},
        {"at": at("09:02:00"), "counts": {"claimed": 402}},
        {"at": at("09:04:00"), "counts": {"scheduled": 260}},
        {"at": at("09:05:00"), "counts": {"scheduled": 655, "cancelled": 3}},
    ]
    statuses = ("scheduled", "claimed", "running", "retrying", "succeeded", "skipped")
    statuses += ("expired", "dead", "cancelled")
    counts = {one: sum(minute["counts"].get(one, 0) for minute in minutes) for one in statuses}
    running = [
        {"task_id": IDS[n], "job": "send_reminder", "attempt": n, "started_at": at(started)}
        for n, started in ((1, "09:00:21.3"), (2, "09:00:27.0"))
    ]
    return {
        "now": at("09:00:28.4"),
        "shards": 8,
        "watermark": {"oldest": at("08:54:00"), "lag_seconds": 388},
        "queue": {"ready": 12, "delayed": 911, "in_flight": 50},
        "dead_letter_queue": {"ready": 0, "delayed": 0, "in_flight": 0},
        "backlog": {
            "from": at("08:55:00"),
            "to": at("09:06:00"),
            "complete": True,
            "counts": counts,
            "minutes": minutes,
        },
        "lateness_ms": {"samples": 1033, "p50": 610, "p90": 1080, "p99": 1790, "max": 2110},
        "overdue": {"from": at("08:54:00"), "to": at("09:00:28.4"), "complete": True},
        "running": running,
    }


def stats() -> RenderableType:
    """Draw what `minutero stats` shows."""
    return panel("stats", stats_rows(told_stats()), stats_style)


def watch() -> RenderableType:
    """Draw what `minutero watch` shows."""
    letters = [
        {"died_at": at(died), "task_id": IDS[n], "job": "send_reminder", "reason": reason}
        for n, (died, reason) in enumerate(
            (
                ("08:57:02.2", "PermanentFailure: there is nobody to remind"),
                ("08:57:40.9", "PermanentFailure: there is nobody to remind"),
            )
        )
    ]
    seen = Look("the API of stack 'minutero'", told_stats(), {"dead": letters, "next_token": None})
    return picture(seen, Console(width=WIDTH, height=40, force_terminal=True), 2.0)


PICTURES: dict[str, tuple[str, Callable[[], RenderableType]]] = {
    "demo": ("make run", demo),
    "task": ("minutero tasks get --key order-17-reminder", task),
    "stats": ("minutero stats", stats),
    "watch": ("minutero watch", watch),
}
"""The name of a picture, what is typed to see it, and what draws it."""


def svg(name: str) -> str:
    """Draw one picture."""
    title, draws = PICTURES[name]
    console = Console(width=WIDTH, record=True, file=StringIO(), force_terminal=True)
    console.print(draws())
    drawn = console.export_svg(
        title=title,
        theme=DIMMED_MONOKAI,
        code_format=FETCHED.sub("", CONSOLE_SVG_FORMAT),
        unique_id=name,
    )
    return "".join(f"{line.rstrip()}\n" for line in drawn.splitlines())


def main() -> None:
    """Draw them all anew."""
    # The views tell times of day by the clock on the wall.
    os.environ["TZ"] = "UTC"
    time.tzset()
    for name in PICTURES:
        (HERE / f"{name}.svg").write_text(svg(name), "utf-8")


if __name__ == "__main__":
    main()
