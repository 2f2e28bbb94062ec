"""For tests, yours among them: a deployment in memory, its stores, slots and tables, a settable clock, a run
made by hand.

With pytest the deployment is the fixture `minutero_app`: docs/testing.md.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from minutero.testing.app import MinuteroApp
    from minutero.testing.attempts import Attempt
    from minutero.testing.clock import SettableClock
    from minutero.testing.crashes import CrashPoint
    from minutero.testing.events import sqs_event
    from minutero.testing.memory import Memory
    from minutero.testing.memory_slots import MemorySlots, MemoryTable
    from minutero.testing.run_by_hand import job_run

__all__ = [
    "Attempt",
    "CrashPoint",
    "Memory",
    "MemorySlots",
    "MemoryTable",
    "MinuteroApp",
    "SettableClock",
    "job_run",
    "sqs_event",
]

_MODULES = {
    "Attempt": "attempts",
    "CrashPoint": "crashes",
    "Memory": "memory",
    "MemorySlots": "memory_slots",
    "MemoryTable": "memory_slots",
    "MinuteroApp": "app",
    "SettableClock": "clock",
    "job_run": "run_by_hand",
    "sqs_event": "events",
}


def __getattr__(name: str) -> object:
    """Each comes on first use: pytest imports this package at its start, for tests that use none of it."""
    if name not in _MODULES:
        raise AttributeError(f"module 'minutero.testing' has no attribute {name!r}")
    return getattr(import_module(f"minutero.testing.{_MODULES[name]}"), name)
