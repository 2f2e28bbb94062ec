"""What the parts of the task store share."""

import hashlib
from collections.abc import Callable
from typing import TypeVar

from minutero.aws.failures import ask
from minutero.aws.tables import Tables
from minutero.ports import Clock

Answer = TypeVar("Answer")


class TasksTable:
    """Base of the parts of the task store. `clock` is only slept with, between two tries."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock

    def _ask(self, call: Callable[[], Answer]) -> Answer:
        return ask(call, self._clock)


def request_token(*parts: object) -> str:
    """A ClientRequestToken: a transaction asked for again with it within 10 minutes, because its answer got
    lost, succeeds without being applied twice. At most 36 characters:
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]
