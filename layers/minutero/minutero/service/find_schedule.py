"""Find a schedule by its name."""

from minutero.domain.schedule import Schedule
from minutero.errors import NotFound
from minutero.ports import ScheduleStore


def find_schedule(schedules: ScheduleStore, name: str) -> Schedule:
    """One schedule, with its payload. Raises NotFound, Unavailable."""
    found = schedules.get(name)
    if found is None:
        raise NotFound(f"no schedule {name}; PUT /schedules/{name} makes one")
    return found
