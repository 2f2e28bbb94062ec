"""Tasks as a list."""

from collections.abc import Sequence
from typing import Any

from minutero_cli.columns import Columns
from minutero_cli.task_view import lateness, status_style

NAMES = ("task", "status", "due", "job", "lateness", "attempts", "tenant", "key")


def task_columns() -> Columns:
    """Give the columns of a list of tasks."""
    return Columns(NAMES, _style)


def task_row(task: dict[str, Any]) -> Sequence[str]:
    """Give a task's cells, in the order of NAMES."""
    late = task.get("lateness_ms")
    return (
        str(task.get("task_id")),
        str(task.get("status")),
        str(task.get("run_at")),
        str(task.get("job")),
        "" if late is None else lateness(late),
        str(task.get("attempts") or 0),
        task.get("tenant") or "",
        task.get("key") or "",
    )


def _style(name: str, value: str) -> str:
    if name == "lateness":
        return "bold red" if value.endswith("EARLY") else "green"
    return status_style(name, value)
