"""For tests, yours among them: in-memory stores, a settable clock."""

from minutero.testing.clock import SettableClock
from minutero.testing.memory import Memory

__all__ = ["Memory", "SettableClock"]
