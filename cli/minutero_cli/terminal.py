"""Output that suits who reads it: a person at a terminal, or a script.

Values come from users: none is taken for rich's markup, and none reaches a terminal raw.
"""

import json
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.panel import Panel

    from minutero_cli.api_client import Answer

Facts = Iterable[tuple[str, str]]
"""What there is to say of one thing: names and values."""

Style = Callable[[str, str], str]
"""(name, value) -> rich's name of a style, or nothing."""


def no_style(_name: str, _value: str) -> str:
    """Leave a value as it is."""
    return ""


def at_terminal() -> bool:
    """Tell whether a person reads the output."""
    return sys.stdout.isatty()


def printable(text: str) -> str:
    r"""Text with its control characters, and what else cannot be seen, escaped: `\\x1b`, `\\u2028`."""
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() else _escaped(one) for one in text)


def print_json(answer: "Answer") -> None:
    """Print the API's JSON as it came. Raises ApiError when it is none."""
    if answer.body is not None:
        print(printable_json(answer.text))


def printable_json(text: str) -> str:
    """JSON text that says the same, with what cannot be seen escaped as JSON does."""
    if text.isprintable():
        return text
    # Raw line ends can only stand between tokens; all else that is not printable stands in strings.
    return "".join(
        one if one.isprintable() or one in "\n\r\t" else json.dumps(one)[1:-1] for one in text
    )


def print_error(message: str) -> None:
    """Print one line on stderr."""
    print(f"minutero: {printable(' '.join(message.split()))}", file=sys.stderr)


def show_facts(title: str, facts: Facts, style: Style = no_style) -> None:
    """Print a panel at a terminal, `name value` lines elsewhere."""
    if not at_terminal():
        lines = [(printable(name), value) for name, value in facts]
        width = max((len(name) for name, _ in lines), default=0)
        for name, value in lines:
            print(f"{name:{max(width, 13)}} {printable(value)}")
        return
    from rich.console import Console  # noqa: PLC0415  # only a terminal pays for it

    Console().print(panel(title, facts, style))


def panel(title: str, facts: Facts, style: Style = no_style) -> "Panel":
    """Draw what there is to say in a frame."""
    from rich.panel import Panel  # noqa: PLC0415  # only a terminal pays for it
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    for name, value in facts:
        grid.add_row(Text(printable(name)), Text(printable(value), style(name, value)))
    return Panel(grid, title=Text(printable(title)), title_align="left", expand=False)


def _escaped(one: str) -> str:
    return one.encode("unicode_escape").decode()
