"""What a process is given: a clock, a meter, threads."""

from collections.abc import Callable, Iterable
from typing import Protocol, TypeVar

from minutero.domain.metrics import Metric

Argument = TypeVar("Argument")
Answer = TypeVar("Answer")


class Clock(Protocol):
    """This process's clock."""

    def now(self) -> int:
        """Milliseconds since the epoch."""

    def sleep(self, ms: int) -> None:
        """Waits; only ever between two tries of the same call."""


class Meter(Protocol):
    """Counts and measures. Losing what it was told harms nothing, so it never raises."""

    def add(self, metric: Metric, value: float = 1) -> None:
        """So many more; of a metric that is a time, one more value in the metric's unit."""


class Parallel(Protocol):
    """Runs independent calls side by side, where the wiring allows it."""

    def __call__(
        self, call: Callable[[Argument], Answer], arguments: Iterable[Argument], /
    ) -> list[Answer]:
        """The answers in the order of the arguments."""
