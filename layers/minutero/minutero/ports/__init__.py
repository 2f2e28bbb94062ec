"""The ports: what the services need of the world, one method a transition.

Rules for everything behind a port:

* One call is one atomic transition with one guard (a transaction where it touches two items).
* Losing a race is a return value. `errors.Unavailable` means: no answer, the effect is unknown, ask again;
  every method is written so that asking again does no harm.
* Reads are consistent unless they say otherwise. A page is no snapshot of its bucket.
* Time is an argument, in milliseconds.
"""

from minutero.ports.deployment import CursorStore, SettingsStore
from minutero.ports.process import Answer, Argument, Clock, Meter, Parallel
from minutero.ports.runs import OverlapLocks, RunLedger, RunOnce, Slots
from minutero.ports.schedules import ScheduleStore
from minutero.ports.tasks import Inbox, TaskQueue, TaskStore

__all__ = [
    "Answer",
    "Argument",
    "Clock",
    "CursorStore",
    "Inbox",
    "Meter",
    "OverlapLocks",
    "Parallel",
    "RunLedger",
    "RunOnce",
    "ScheduleStore",
    "SettingsStore",
    "Slots",
    "TaskQueue",
    "TaskStore",
]
