"""Dead letters as people read them."""

from collections.abc import Iterator, Sequence
from typing import Any

from minutero_cli.columns import Columns
from minutero_cli.task_view import rows, status_style
from minutero_cli.terminal import show_facts

NAMES = ("task", "died", "job", "tenant", "reason")
UNREADABLE = "(unreadable)"
"""Stands for the id of a row that could not be read: nobody knows its task."""


def letter_columns() -> Columns:
    """Give the columns of the list of dead letters."""
    return Columns(NAMES)


def letter_row(letter: dict[str, Any]) -> Sequence[str]:
    """Give a letter's cells, in the order of NAMES."""
    return (
        letter.get("task_id") or UNREADABLE,
        str(letter.get("died_at")),
        letter.get("job") or "",
        letter.get("tenant") or "",
        letter.get("reason") or "",
    )


def show_letter(letter: dict[str, Any]) -> None:
    """Print a dead letter with its task."""
    show_facts(str(letter.get("task_id")), _facts(letter), status_style)


def _facts(letter: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "died", str(letter.get("died_at"))
    yield "reason", str(letter.get("reason"))
    for name, value in rows(letter.get("task") or {}):
        if name != "error":  # the reason says it
            yield name, value
