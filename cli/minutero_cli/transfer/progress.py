"""How far an import or an export has got: a bar at a terminal, a line now and then elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

EVERY = 10.0
"""Seconds between two lines."""

Progress = Callable[[int, int], None]
"""(how much of the total, how many lines) are done so far -> shown on stderr."""


@contextmanager
def shown(title: str, total: int) -> Iterator[Progress]:
    """Show how far it is; `total` is in whatever unit the progress is told in."""
    if sys.stderr.isatty():
        with _bar(title, total) as progress:
            yield progress
    else:
        yield _lines(title, total)


def _lines(title: str, total: int) -> Progress:
    began = told = time.monotonic()
    is_told_whole = False

    def progress(done: int, lines: int) -> None:
        nonlocal told, is_told_whole
        now = time.monotonic()
        if is_told_whole or (now - told < EVERY and done < total):
            return
        told, is_told_whole = now, done >= total
        took = max(now - began, 0.001)
        left = took * (total - done) / done if done else None
        print(
            f"{title}: {done * 100 // total if total else 100}%, {lines:,} lines, {lines / took:,.0f}/s, "
            f"{_time(left)} left",
            file=sys.stderr,
            flush=True,
        )

    return progress


@contextmanager
def _bar(title: str, total: int) -> Iterator[Progress]:
    from rich.console import Console  # noqa: PLC0415  # only a terminal pays for it
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn  # noqa: PLC0415
    from rich.progress import Progress as Bars  # noqa: PLC0415

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[told]}"),
        TimeRemainingColumn(),
    )
    began = time.monotonic()
    # What the command itself prints goes where it says.
    with Bars(
        *columns, console=Console(stderr=True), redirect_stdout=False, redirect_stderr=False
    ) as bars:
        bar = bars.add_task(title, total=total, told="")

        def progress(done: int, lines: int) -> None:
            rate = lines / max(time.monotonic() - began, 0.001)
            bars.update(bar, completed=done, told=f"{lines:,} lines, {rate:,.0f}/s")

        yield progress


def _time(seconds: float | None) -> str:
    if seconds is None:
        return "?"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02}"
