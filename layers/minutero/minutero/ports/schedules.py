"""Schedules."""

from collections.abc import Sequence
from typing import Protocol

from minutero.domain.exchanged import Changed, ScheduleChange
from minutero.domain.schedule import Fate, Schedule


class ScheduleStore(Protocol):
    """The Schedules table. A change is one transaction over the schedule, its payload, the fates of its times
    and the tasks it adds and closes. Its guard holds it to the schedule as it was read: the version and the
    link that is pending."""

    def get(self, name: str) -> Schedule | None:
        """One schedule, with its payload; None where there is none, or none that can be read."""

    def page(
        self, partition: int, after: str | None = None
    ) -> tuple[Sequence[Schedule], str | None]:
        """One page of a partition (0 to 15), by name and without the payloads: those after the name `after`,
        and where the next page begins."""

    def fates(self, name: str, first: int, last: int) -> Sequence[Fate]:
        """What became of its times from `first` to `last`, both included, ascending; up to 500. The first may
        begin before `first`."""

    def create(self, change: ScheduleChange) -> bool:
        """Puts a schedule and its first task. Guard: there is none of that name. False when there is."""

    def step(self, change: ScheduleChange) -> bool:
        """The pending link fires or is left out, and the next is there. Guard: it is still the pending one.

        False when another has taken the step. Nothing of it is done by halves: a link that fired has its
        successor, and who fires twice finds another one pending."""

    def replace(self, change: ScheduleChange) -> Changed:
        """Another version: the links of the old one are closed, the first of the new one is there.

        Guard: the schedule is as it was read; each task that is closed may be ended at `given_up`."""

    def delete(self, change: ScheduleChange) -> Changed:
        """Takes a schedule away and closes its links. Guard: as for `replace`."""
