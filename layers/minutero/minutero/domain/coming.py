"""The times of a schedule that are still to come."""

from collections.abc import Iterator

from minutero.domain.instants import SECOND
from minutero.domain.schedule import Schedule


def coming_times(schedule: Schedule, now: int) -> Iterator[int]:
    """The times, in milliseconds, whose occurrences come after an instant, maybe by their jitter alone.

    Those of the rule alone while it is paused, and none after its end.
    """
    armed = schedule.next_run_at(now)
    # A time that has come and whose jitter has not passed is among them if it is armed.
    jitter = schedule.definition.jitter_seconds * SECOND
    since = now if armed is None else max(armed - 1, now - jitter)
    return (time for time in schedule.times.after(since) if schedule.due_at(time) > now)
