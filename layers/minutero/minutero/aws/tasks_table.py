"""What the stores that write tasks share: requests, and the entries of transactions."""

import secrets
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.models import Model

from minutero.aws.failures import ask
from minutero.aws.rows import payload_attributes
from minutero.aws.tables import Tables
from minutero.domain.task import Task
from minutero.ports import Clock

Answer = TypeVar("Answer")
Entry = dict[str, dict[str, Any]]
"""An entry of TransactWriteItems: `{"Put": {...}}`."""


class TasksTable:
    """Base of the stores that write tasks. `clock` is only slept with, between two tries."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._tables = tables
        self._clock = clock

    def _ask(self, call: Callable[[], Answer]) -> Answer:
        return ask(call, self._clock)

    def _put_large_payload(self, task: Task) -> None:
        """Written before its task: a crash in between leaves an orphan, which nothing refers to and TTL
        removes. The other way round it would leave a task that cannot run."""
        if not task.large:
            return
        self._ask(self._tables.payload(**payload_attributes(task)).save)

    def _transact(self, entries: Sequence[Entry]) -> None:
        """Write all entries or none. Raises GuardFailed, its indices those of `entries`.

        The token is this call's: a transaction asked for again with it, because its answer got lost,
        succeeds without being applied twice. One made of the contents would, within 10 minutes, also
        call a later transaction done that was never made. Source:
        https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html
        """
        request: Any = {"TransactItems": entries, "ClientRequestToken": secrets.token_hex(16)}
        self._ask(lambda: self._tables.client.transact_write_items(**request))


def put(item: Model, guard: Condition | None = None) -> Entry:
    """Entry that puts an item."""
    return {"Put": item.get_save_kwargs_from_instance(guard, _on_failure(guard))}


def update(item: Model, actions: Sequence[Action], guard: Condition) -> Entry:
    """Entry that changes an item; without a guard it would make one of nothing."""
    return {
        "Update": item.get_update_kwargs_from_instance(list(actions), guard, _on_failure(guard))
    }


def delete(item: Model, guard: Condition | None = None) -> Entry:
    """Entry that deletes an item, without a guard if it is there."""
    return {"Delete": item.get_delete_kwargs_from_instance(guard, _on_failure(guard))}


def check(item: Model, guard: Condition) -> Entry:
    """Entry that writes nothing and holds the transaction to a condition."""
    return {"ConditionCheck": item.get_delete_kwargs_from_instance(guard, _on_failure(guard))}


def _on_failure(guard: Condition | None) -> str | None:
    return None if guard is None else "ALL_OLD"
