"""Numbers as text: a table for a list of rows, a line for each other number."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Console
from rich.table import Table


def print_numbers(console: Console, numbers: Mapping[str, Any]) -> None:
    """Shows what a measurement returned."""
    lines = Table(box=None, show_header=False)
    for name, value in _flat(numbers):
        if isinstance(value, list):
            console.print(_table(name, value))
        else:
            lines.add_row(name, _text(value))
    console.print(lines)


def _flat(numbers: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Members within members, by dotted names."""
    for name, value in numbers.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _table(name: str, rows: list[Any]) -> Table:
    flat = [dict(_flat(row)) if isinstance(row, Mapping) else {"": row} for row in rows]
    columns = list(dict.fromkeys(column for row in flat for column in row))
    table = Table(
        *(column.replace("_", " ") for column in columns), title=name, title_justify="left"
    )
    for row in flat:
        table.add_row(*(_text(row.get(column, "")) for column in columns))
    return table


def _text(value: Any) -> str:
    return f"{value:,.3f}" if isinstance(value, float) else str(value)
