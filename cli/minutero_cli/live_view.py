"""Pictures that change in place, at a terminal that can do so."""

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.live import Live


def is_lively(console: Console) -> bool:
    """Tell whether a picture can change in place: not in a file, nor at a terminal without a cursor."""
    return console.is_terminal and not console.is_dumb_terminal


def show_live(pictures: Iterable[RenderableType], console: Console | None = None) -> None:
    """Show one picture after the other, each in the place of the one before. The last one stays."""
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        for picture in pictures:
            live.update(picture, refresh=True)
