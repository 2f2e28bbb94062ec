"""The demo's live table."""

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from minutero_cli.task_view import clock_time, lateness, moments, status_style

if TYPE_CHECKING:
    from minutero_cli.demo import Followed

MOMENTS = ("claimed", "started", "finished")
"""All tasks of the demo are created at once: that needs no column, and all fit into a terminal of 80."""

GAP = (0, 1, 0, 0)
"""Beside a cell."""


def table(followed: "list[Followed]") -> RenderableType:
    """Show where each task is, when what happened to it, and how late it started."""
    shown = Table(
        title="Minutero: demo tasks",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=GAP,
        pad_edge=False,
        show_edge=False,
    )
    shown.add_column("task", style="bold")
    shown.add_column("status")
    shown.add_column("due")
    for name in MOMENTS:
        shown.add_column(name, style="dim")
    shown.add_column("lateness", justify="right")
    for one in followed:
        happened = dict(moments(one.task))
        shown.add_row(
            one.name,
            Text(one.task["status"], status_style("status", one.task["status"])),
            clock_time(one.task["run_at"]),
            *(clock_time(happened[name]) if name in happened else "" for name in MOMENTS),
            _progress(one),
        )
    return Group(shown, Text(_footer(followed), style="dim"))


def _progress(one: "Followed") -> Text:
    ms = one.task.get("lateness_ms")
    if ms is not None:
        # What the head of the column says already takes room.
        return Text(lateness(ms).removesuffix(" late"), style="green" if ms >= 0 else "bold red")
    to_go = one.seconds_to_go()
    return Text(f"in {to_go:.0f} s" if to_go > 0 else "due", style="dim")


def _footer(followed: "list[Followed]") -> str:
    waiting = next((one for one in followed if not one.is_over), None)
    if waiting is None:
        return "All tasks are done. Ctrl-C ends this view; the stack goes on running."
    return f"{waiting.name}: {waiting.why}. Ctrl-C ends this view; the stack goes on running."
