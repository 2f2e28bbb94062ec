"""How far a slow command has got: a spinner on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

Step = Callable[[str], AbstractContextManager[None]]


@contextmanager
def silent(text: str) -> Iterator[None]:
    """Show nothing: for tests and other callers that are no person."""
    del text
    yield


@contextmanager
def shown(text: str) -> Iterator[None]:
    """Show a step while it lasts, and how long it took."""
    began = time.monotonic()
    if not sys.stderr.isatty():
        print(f"{text} ...", file=sys.stderr, flush=True)
        yield
        print(f"{text}: {time.monotonic() - began:.1f} s", file=sys.stderr, flush=True)
        return
    from rich.console import Console  # noqa: PLC0415  # only a terminal pays for it

    console = Console(stderr=True)
    with console.status(text):
        yield
    console.print(f"[green]✓[/] {text} [dim]{time.monotonic() - began:.1f} s[/]")
