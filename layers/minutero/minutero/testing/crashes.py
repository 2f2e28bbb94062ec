"""Deaths of the worker's process, planned by a test."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum

from minutero.contained import contained
from minutero.domain.slot import Slot, Write
from minutero.testing.memory_slots import MemorySlots


class CrashPoint(StrEnum):
    """Where in an attempt the process dies."""

    STARTED = "started"
    """The attempt is counted, and the job not called."""
    COMMITTING = "committing"
    """At the end of a `run.once` block, before it is committed."""
    COMMITTED = "committed"
    """After the commit of a `run.once` block."""
    RETURNED = "returned"
    """The job has returned, and nobody has written that down."""


class Crashed(BaseException):
    """The process died here. No `except Exception` of a job holds it, as none would hold the real thing."""


class Crashes:
    """Those that are still to come."""

    def __init__(self) -> None:
        self._planned: list[CrashPoint] = []

    def plan(self, point: CrashPoint) -> None:
        """The next attempt that gets to this point dies there."""
        self._planned.append(point)

    def at(self, point: CrashPoint) -> None:
        """An attempt is at this point. Raises Crashed."""
        if point in self._planned:
            self._planned.remove(point)
            raise Crashed(point)


class CrashingSlots(MemorySlots):
    """Slots with a crash before and after each commit, where one is planned."""

    def __init__(self, crashes: Crashes) -> None:
        super().__init__()
        self._crashes = crashes

    def take(self, slot: Slot, writes: Sequence[Write]) -> bool:
        self._crashes.at(CrashPoint.COMMITTING)
        taken = super().take(slot, writes)
        self._crashes.at(CrashPoint.COMMITTED)
        return taken


@contextmanager
def contained_or_crashed() -> Iterator[None]:
    """Contains a job as the worker does, `sys.exit` too. What ends a test goes through: a crash, Ctrl-C,
    `pytest.fail`."""
    ends: BaseException | None = None
    with contained():
        try:
            yield
        except (Exception, SystemExit, GeneratorExit):
            raise
        except BaseException as error:  # noqa: BLE001 - raised again, outside of what would contain it
            ends = error
    if ends is not None:
        raise ends
