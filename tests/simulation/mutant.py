"""A mutant: the code with one rule left out, and the seed that kills it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

from tests.simulation.killed_by import KILLED_BY
from tests.simulation.world import Weather

Breaks = Callable[[], AbstractContextManager[Any]]


@dataclass(frozen=True, slots=True)
class Mutant:
    """`breaks` patches the code; `seen_as` are the invariants of which one must break; `seed` is one in
    which it does. A rule that matters in rare weather alone names the `season` that has it."""

    name: str
    rule: str
    breaks: Breaks
    seen_as: tuple[str, ...]
    season: Callable[[Weather], Weather] = lambda usual: usual

    @property
    def seed(self) -> int:
        return KILLED_BY[self.name]


def patched(target: Any, name: str, replacement: Any) -> Breaks:
    """Breaks the code by putting something else in the place of one name."""
    return lambda: patch.object(target, name, replacement)
