"""Read schedules as they are stored: one, or a page of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from minutero.domain.schedule import PARTITIONS, Schedule
from minutero.ports import Clock, ScheduleStore
from minutero.service.find_schedule import find_schedule
from minutero.service.walk import TIME, Position


@dataclass(frozen=True, slots=True)
class SchedulePage:
    """Some schedules, and where the next page begins: None at the end. It may be empty and still go on."""

    schedules: Sequence[Schedule]
    following: Position | None


@dataclass(frozen=True, slots=True)
class ReadSchedules:
    """Of a position in the list, `part` is the partition and `after` a name."""

    schedules: ScheduleStore
    clock: Clock

    def __call__(self, name: str) -> Schedule:
        """One schedule, with its payload. Raises NotFound, Unavailable."""
        return find_schedule(self.schedules, name)

    def page(self, limit: int, start: Position | None = None) -> SchedulePage:
        """At most `limit`, without their payloads: partition after partition, and by name within one.

        Raises Unavailable.
        """
        found: list[Schedule] = []
        at: Position | None = start or Position(0)
        until = self.clock.now() + TIME
        while at is not None and len(found) < limit and self.clock.now() < until:
            rows, after = self.schedules.page(at.part, at.after or None)
            taken = rows[: limit - len(found)]
            found += taken
            cut = len(taken) < len(rows)
            at = Position(at.part, taken[-1].name) if cut else _behind(at.part, after)
        return SchedulePage(found, at)


def _behind(partition: int, after: str | None) -> Position | None:
    if after is not None:
        return Position(partition, after)
    return Position(partition + 1) if partition + 1 < PARTITIONS else None
