"""For tests, yours among them: in-memory stores, slots and tables, a settable clock, a run made by hand."""

from minutero.testing.clock import SettableClock
from minutero.testing.job_run import job_run
from minutero.testing.memory import Memory
from minutero.testing.memory_slots import MemorySlots, MemoryTable

__all__ = ["Memory", "MemorySlots", "MemoryTable", "SettableClock", "job_run"]
