"""What the parts of the task store share: requests, and the entries of transactions."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model

from minutero.aws.failures import ask
from minutero.aws.tables import Tables
from minutero.ports import Clock

Answer = TypeVar("Answer")
Entry = dict[str, dict[str, Any]]
"""An entry of TransactWriteItems: `{"Put": {...}}`."""


class TasksTable:
    """Base of the parts of the task store. `clock` is only slept with, between two tries."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock

    def _ask(self, call: Callable[[], Answer]) -> Answer:
        return ask(call, self._clock)

    def _transact(self, entries: Sequence[Entry], *token: object) -> None:
        """Write all entries or none. Raises GuardFailed, its indices those of `entries`.

        `token` tells this request from all others.
        """
        request: Any = {
            "TransactItems": entries,
            "ClientRequestToken": request_token(*token),
        }
        self._ask(lambda: self._tables.client.transact_write_items(**request))


def put(item: Model, guard: Condition | None = None) -> Entry:
    """Entry that puts an item."""
    return {"Put": item.get_save_kwargs_from_instance(guard, _on_failure(guard))}


def update(item: Model, actions: Sequence[Action], guard: Condition) -> Entry:
    """Entry that changes an item; without a guard it would make one of nothing."""
    return {
        "Update": item.get_update_kwargs_from_instance(list(actions), guard, _on_failure(guard))
    }


def delete(item: Model) -> Entry:
    """Entry that deletes an item, if it is there."""
    return {"Delete": item.get_delete_kwargs_from_instance()}


def check(item: Model, guard: Condition) -> Entry:
    """Entry that writes nothing and holds the transaction to a condition."""
    return {"ConditionCheck": item.get_delete_kwargs_from_instance(guard, _on_failure(guard))}


def _on_failure(guard: Condition | None) -> str | None:
    return None if guard is None else "ALL_OLD"


def request_token(*parts: object) -> str:
    """ClientRequestToken of a transaction, from what tells it from all others.

    Asked for again with it within 10 minutes, because its answer got lost, a transaction succeeds
    without being applied twice; at most 36 characters. Source:
    https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
    """
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:36]
