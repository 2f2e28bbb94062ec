"""Everything AWS would hold, in one process: the same ports, the same guards, no network.

Each call is atomic, as one request to DynamoDB or SQS is; nothing holds over two calls.
"""

from collections.abc import Callable, Iterable

from minutero.ports import Answer, Argument
from minutero.testing.memory_ledger import LedgerRunOnce, MemoryRunLedger
from minutero.testing.memory_queue import MemoryQueue
from minutero.testing.memory_schedules import MemoryOverlapLocks, MemoryScheduleStore
from minutero.testing.memory_settings import MemoryCursorStore, MemorySettingsStore
from minutero.testing.memory_slots import MemorySlots
from minutero.testing.memory_tasks import MemoryTaskStore

__all__ = [
    "LedgerRunOnce",
    "Memory",
    "MemoryCursorStore",
    "MemoryOverlapLocks",
    "MemoryQueue",
    "MemoryRunLedger",
    "MemoryScheduleStore",
    "MemorySettingsStore",
    "MemorySlots",
    "MemoryTaskStore",
    "one_by_one",
]


class Memory:
    """One deployment's stores and queues."""

    def __init__(self) -> None:
        self.ledger = MemoryRunLedger()
        self.tasks = MemoryTaskStore(self.ledger)
        self.schedules = MemoryScheduleStore(self.tasks, self.ledger)
        self.locks = MemoryOverlapLocks()
        self.slots = MemorySlots()
        self.cursors = MemoryCursorStore()
        self.settings = MemorySettingsStore()
        self.queue = MemoryQueue()


def one_by_one(call: Callable[[Argument], Answer], arguments: Iterable[Argument]) -> list[Answer]:
    """`Parallel` without threads."""
    return [call(argument) for argument in arguments]
