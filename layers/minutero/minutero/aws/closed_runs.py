"""Cancel and move: transactions that close a run, by the lock a start takes, and change its task."""

from collections.abc import Sequence
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from minutero.aws.failures import GuardFailed
from minutero.aws.rows import dead_letter_attributes, key_bucket, payload_bucket, task_attributes
from minutero.aws.run_record import closing, leaving, record_id, taking_back, to_run_record
from minutero.aws.stored_tasks import StoredTasks
from minutero.aws.tables import KEY_SK, PAYLOAD_SK, KeyItem, PayloadItem, TaskItem
from minutero.aws.tasks_table import Entry, delete, put, update
from minutero.domain.exchanged import Move
from minutero.domain.run import Ending, Outcome, RunRecord
from minutero.domain.task import Place, State, Task, first_place
from minutero.errors import Unavailable

STILL_THERE: Condition = TaskItem.bucket.exists()
"""Cancel, move: an update must not make a task of nothing. The run record alone decides the race."""

STILL_FREE: Condition = TaskItem.bucket.does_not_exist()
"""Move: the new run number is used once."""

PAYLOAD_STILL_THERE: Condition = PayloadItem.bucket.exists()
"""Move: a payload that is gone is not made anew, empty."""


def key_still_ours(task: Task) -> Condition:
    """Move: the key did not expire and go to another task."""
    ours: Condition = KeyItem.task_id == task.task_id
    return ours


class ClosedRuns(StoredTasks):
    """The part of `TaskStore` that ends runs from outside."""

    def cancel(self, task: Task, at: int, keep_until: int, given_up: int) -> RunRecord:
        """End a run as cancelled. Four units.

        A cancel after a cancel finds it done; asked again after a lost answer it is the same request.
        """
        cancelled: list[Action] = [TaskItem.state.set(str(State.CANCELLED))]
        outcome = Outcome(Ending.CANCELLED)
        runs = self._tables.names.runs
        entries: list[Entry] = [
            {"Update": closing(runs, task.run_id, outcome, at, keep_until, given_up)},
            update(self._at(task.place), cancelled, STILL_THERE),
        ]
        try:
            self._transact(entries)
        except GuardFailed as failed:
            return _in_the_way(failed, task)
        return self._record_of(task.run_id)

    def move(self, move: Move) -> RunRecord | None:
        """End a run as superseded and put its task elsewhere. Six units for a small task, and two for
        each of: a forwarding address that exists already, a large payload, a key, a dead letter.
        """
        entries = [
            self._supersede(move),
            self._put_elsewhere(move.to),
            *self._leave_address(move),
            *self._keep_longer(move),
        ]
        if move.redrives is not None:
            entries.append(
                delete(self._tables.dead_letter(**dead_letter_attributes(move.redrives)))
            )
        try:
            self._transact(entries)
        except GuardFailed as failed:
            record = _in_the_way(failed, move.task)
            # Our own token there: an earlier try moved it, and its answer got lost.
            return None if record.owner == move.token else record
        return None

    def _supersede(self, move: Move) -> Entry:
        table, run_id, outcome = (
            self._tables.names.runs,
            move.task.run_id,
            Outcome(Ending.SUPERSEDED),
        )
        if move.redrives is not None:
            closes = taking_back(table, run_id, outcome, move.token)
        else:
            times = move.at, move.keep_until, move.given_up
            closes = closing(table, run_id, outcome, *times, move.token)
        return {"Update": leaving(closes, move.leaves)}

    def _put_elsewhere(self, task: Task) -> Entry:
        entry = put(self._tables.task(**task_attributes(task)), STILL_FREE)
        entry["Put"]["Item"].update(task.carried)
        return entry

    def _leave_address(self, move: Move) -> Sequence[Entry]:
        """One forwarding address, at the first place, rewritten by every move."""
        first = first_place(move.task.task_id)
        address: list[Action] = [
            TaskItem.state.set(str(State.MOVED)),
            TaskItem.moved_bucket.set(move.to.place.bucket),
            TaskItem.moved_sk.set(move.to.place.sk),
            TaskItem.expires_at.set(move.to.keep_until),
        ]
        entry = update(self._at(first), address, STILL_THERE)
        return [entry] if move.task.place == first else [entry, delete(self._at(move.task.place))]

    def _keep_longer(self, move: Move) -> Sequence[Entry]:
        """Payload and key are kept as long as the task."""
        task, keep_until = move.task, move.to.keep_until
        entries: list[Entry] = []
        if task.large:
            payload = self._tables.payload(bucket=payload_bucket(task.task_id), sk=PAYLOAD_SK)
            kept: list[Action] = [PayloadItem.expires_at.set(keep_until)]
            entries.append(update(payload, kept, PAYLOAD_STILL_THERE))
        holder = self.get_key(task.tenant, task.key, move.at) if task.key else None
        if holder is not None and holder.task_id == task.task_id:
            key = self._tables.key(bucket=key_bucket(task.tenant, task.key), sk=KEY_SK)
            kept = [KeyItem.expires_at.set(keep_until)]
            entries.append(update(key, kept, key_still_ours(task)))
        return entries

    def _at(self, place: Place) -> TaskItem:
        return self._tables.task(bucket=place.bucket, sk=place.sk)

    def _record_of(self, run_id: str) -> RunRecord:
        request: Any = {
            "TableName": self._tables.names.runs,
            "Key": {"id": {"S": record_id(run_id)}},
            "ConsistentRead": True,
        }
        answer: Any = self._ask(lambda: self._tables.client.get_item(**request))
        return to_run_record(answer["Item"])


def _in_the_way(failed: GuardFailed, task: Task) -> RunRecord:
    if 0 in failed.found:
        return to_run_record(failed.found[0])
    raise Unavailable(f"task {task.task_id} changed or expired meanwhile; look again")
