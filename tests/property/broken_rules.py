"""Rules taken out of the in-memory stores, one at a time: what the machine must notice."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from minutero.domain.run import Ending, Outcome, RunRecord
from minutero.domain.task import State
from minutero.service.execute import Execute
from minutero.testing.memory import MemoryTaskStore
from minutero.testing.memory_ledger import MemoryRunLedger


@dataclass(frozen=True)
class Broken:
    """One method of a store, and what stands in its place."""

    name: str
    owner: type
    method: str
    replacement: Callable


def cancel_by_the_item_alone(self, task, at, keep_until, given_up):
    self._write(task.place, replace(task, state=State.CANCELLED))
    return RunRecord(task.run_id, 0, 0, Outcome(Ending.CANCELLED))


def move_by_the_item_alone(self, move):
    self._carry_out(move)


def put_keyed_for_all_tenants(self, task, key, now, real=MemoryTaskStore.put_keyed):
    return real(self, task, replace(key, tenant=""), now)


def put_keyed_in_two_steps(self, task, key, now, real=MemoryTaskStore.put_keyed):
    self._write(task.place, task)
    return real(self, task, key, now)


def finish_deletes_the_record(self, run_id, owner, outcome, now):
    self.records.pop(run_id, None)
    return True


def fail_deletes_the_record(self, run_id, owner, error, now):
    self.records.pop(run_id, None)
    return True


def redrive_leaves_the_run_dead(self, move, real=MemoryTaskStore.move):
    return None if move.redrives else real(self, move)


def run_as_soon_as_it_comes(self, pointer, task, deadline, real=Execute.__call__):
    if task is not None:
        task, pointer = replace(task, run_at=0), replace(pointer, due=0)
    return real(self, pointer, task, deadline)


BROKEN = [
    Broken("a cancel by the item alone", MemoryTaskStore, "cancel", cancel_by_the_item_alone),
    Broken("a move by the item alone", MemoryTaskStore, "move", move_by_the_item_alone),
    Broken("one key for all tenants", MemoryTaskStore, "put_keyed", put_keyed_for_all_tenants),
    Broken("the key after the task", MemoryTaskStore, "put_keyed", put_keyed_in_two_steps),
    Broken("a finished record deleted", MemoryRunLedger, "finish", finish_deletes_the_record),
    Broken("a failed record deleted", MemoryRunLedger, "fail", fail_deletes_the_record),
    Broken("a redrive that moves nothing", MemoryTaskStore, "move", redrive_leaves_the_run_dead),
    Broken("no look at the clock", Execute, "__call__", run_as_soon_as_it_comes),
]
