"""Tasks, one at a time and by place: create, read, mark as sent."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from minutero.aws.batches import AttributeValues, batch_get, batch_put
from minutero.aws.failures import GuardFailed, Item
from minutero.aws.rows import (
    key_bucket,
    payload_attributes,
    payload_bucket,
    raw_item,
    read_task,
    task_attributes,
    to_key_record,
)
from minutero.aws.run_record import seconds_until
from minutero.aws.tables import KEY_SK, PAYLOAD_SK, TaskItem
from minutero.aws.tasks_table import Entry, TasksTable
from minutero.domain.instants import SECOND
from minutero.domain.task import KeyRecord, Place, Pointer, State, Task
from minutero.errors import Unavailable

NOTHING_THERE = "attribute_not_exists(#bucket)"
"""Create: a task never replaces one."""

KEY_IS_FREE = "attribute_not_exists(#bucket) OR expires_at < :seconds"
"""Create with a key: it was never used, or it has expired and TTL has not come round yet."""

STILL_SCHEDULED: Condition = TaskItem.state == str(State.SCHEDULED)
"""Mark as sent: a tick may have claimed it meanwhile, a user may have cancelled it."""


PUTS = 25
"""Of one BatchWriteItem."""

LARGE_PUTS = 20
"""The same for payloads: each has up to 256 KB, which botocore's ASCII makes three times as long, and a
request may have 16 MB."""


class StoredTasks(TasksTable):
    """The part of `TaskStore` that knows where a task lies."""

    def put(self, task: Task) -> None:
        """Create, unkeyed. One unit while the item is under 1 KB."""
        self._put_large_payload(task)
        request = self._putting(task_attributes(task), NOTHING_THERE)
        try:
            self._ask(lambda: self._tables.client.put_item(**request))
        except GuardFailed:
            # The id is fresh and random: what lies there is this very task, and its answer got lost.
            return

    def put_many(self, tasks: Sequence[Task]) -> list[bool]:
        """Create, unkeyed, 25 in a request. One unit each while the item is under 1 KB.

        The payloads first, as in `put`; a task without its payload is not written. A batch has no guard, so
        it is made once; what it leaves in doubt is put one by one, guarded.
        """
        lost = self._put_all([payload_attributes(task) for task in tasks if task.large], LARGE_PUTS)
        whole = [task for task in tasks if _payload_place(task.task_id) not in lost]
        left = self._put_all([task_attributes(task) for task in whole], PUTS)
        left = self._put_one_by_one([task for task in whole if task.place in left])
        stored = {task.place for task in whole} - left
        return [task.place in stored for task in tasks]

    def _put_one_by_one(self, tasks: Sequence[Task]) -> set[Place]:
        """Where those lie that are still not known to be written: from the first without an answer on."""
        for at, task in enumerate(tasks):
            try:
                self.put(task)
            except Unavailable:
                return {rest.place for rest in tasks[at:]}
        return set()

    def _put_all(self, rows: Sequence[Mapping[str, Any]], most: int) -> set[Place]:
        """Puts rows, at most so many a request; where those lie that are not known to be written."""
        table = self._tables.names.tasks
        unwritten: set[Place] = set()
        for start in range(0, len(rows), most):
            items = [raw_item(row) for row in rows[start : start + most]]
            left = batch_put(self._tables.once, table, items, self._clock)
            unwritten.update(_place_of(item) for item in left)
        return unwritten

    def entry(self, task: Task) -> Entry:
        """An entry of somebody else's TransactWriteItems that creates the task; its payload lies within."""
        return {"Put": self._putting(task_attributes(task), NOTHING_THERE)}

    def put_keyed(self, task: Task, key: KeyRecord, now: int) -> KeyRecord | None:
        """Create and register the key, in one transaction: four units for small ones."""
        return self.put_many_keyed([(task, key)], now)[0]

    def put_many_keyed(
        self, pairs: Sequence[tuple[Task, KeyRecord]], now: int
    ) -> list[KeyRecord | None]:
        """Create and register the keys, up to 25 in one transaction: four units each for small ones.

        A transaction that fails tells of every guard that did not hold, with what lies there: without
        those whose keys are taken it is made again. Source:
        https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_CancellationReason.html
        """
        for task, _ in pairs:
            self._put_large_payload(task)
        holders: dict[int, KeyRecord] = {}
        left = dict(enumerate(pairs))
        while left:
            try:
                self._transact(
                    [entry for pair in left.values() for entry in self._both(*pair, now)]
                )
                break
            except GuardFailed as failed:
                settled = _settled(left, failed.found)
            holders |= {at: holder for at, holder in settled.items() if holder is not None}
            left = {at: pair for at, pair in left.items() if at not in settled}
        for at in holders:
            self._drop_large_payload(pairs[at][0])
        return [holders.get(at) for at in range(len(pairs))]

    def _both(self, task: Task, key: KeyRecord, now: int) -> list[Entry]:
        registered = {
            "bucket": key_bucket(key.tenant, key.key),
            "sk": KEY_SK,
            "task_id": key.task_id,
            "body_hash": key.body_hash,
            "expires_at": key.keep_until,
        }
        seconds = {":seconds": {"N": str(seconds_until(now))}}
        free = {**self._putting(registered, KEY_IS_FREE), "ExpressionAttributeValues": seconds}
        return [{"Put": free}, self.entry(task)]

    def _putting(self, attributes: Mapping[str, Any], guard: str) -> dict[str, Any]:
        """A put for PutItem and for a transaction alike."""
        return {
            "TableName": self._tables.names.tasks,
            "Item": raw_item(attributes),
            "ConditionExpression": guard,
            "ExpressionAttributeNames": {"#bucket": "bucket"},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }

    def _drop_large_payload(self, task: Task) -> None:
        if not task.large:
            return
        item = self._tables.payload(bucket=payload_bucket(task.task_id), sk=PAYLOAD_SK)
        try:
            self._ask(item.delete)
        except Unavailable:
            # Nothing refers to it, and TTL removes it: the caller's answer does not depend on it.
            return

    def get_key(self, tenant: str, key: str, now: int) -> KeyRecord | None:
        """What a living key stands for."""
        rows = self._read([{"bucket": {"S": key_bucket(tenant, key)}, "sk": {"S": KEY_SK}}])
        record = to_key_record(tenant, key, rows[0]) if rows else None
        return record if record and record.keep_until * SECOND >= now else None

    def get(self, place: Place) -> Task | None:
        """One task with its payload. A task whose large payload has expired reads as without one."""
        rows = self._read([_key_at(place)])
        if not rows:
            return None
        task = read_task(rows[0])
        return _with_payload(task, self._payloads([task])) or task

    def get_many(self, pointers: Sequence[Pointer]) -> dict[Place, Task]:
        """Up to 50 tasks in one consistent read, large payloads included.

        One whose large payload is gone is left out like one that is gone itself: they expire together, and
        a job must not run without its payload.
        """
        keys = {pointer.place: _key_at(pointer.place) for pointer in pointers}
        large = {pointer.task_id for pointer in pointers if pointer.large}
        rows = self._read([*keys.values(), *map(_payload_key, sorted(large))])
        payloads = {_id_in(row): row["payload"]["S"] for row in rows if _is_payload(row)}
        tasks = [read_task(row) for row in rows if not _is_payload(row)]
        # Only for pointers that do not say "large" of a task that is.
        payloads |= self._payloads([task for task in tasks if task.task_id not in payloads])
        whole = (_with_payload(task, payloads) for task in tasks)
        return {task.place: task for task in whole if task is not None}

    def _payloads(self, tasks: Iterable[Task]) -> dict[str, str]:
        keys = [_payload_key(task_id) for task_id in sorted({t.task_id for t in tasks if t.large})]
        return {_id_in(row): row["payload"]["S"] for row in self._read(keys)} if keys else {}

    def _read(self, keys: Sequence[AttributeValues]) -> list[AttributeValues]:
        """One consistent BatchGetItem. Raises Unavailable when some stays unread."""
        table, options = self._tables.names.tasks, {"ConsistentRead": True}
        return batch_get(self._tables.client, table, keys, self._clock, options)

    def mark_sent(self, place: Place, claim_id: str, at: int) -> bool:
        """A near task its writer has sent. One unit."""
        item = self._tables.task(bucket=place.bucket, sk=place.sk)
        actions: list[Action] = [
            TaskItem.state.set(str(State.CLAIMED)),
            TaskItem.claim_id.set(claim_id),
            TaskItem.claimed_at.set(at),
        ]
        try:
            self._ask(lambda: item.update(actions=actions, condition=STILL_SCHEDULED))
        except GuardFailed:
            # Our own try, its answer lost, and a tick's claim look alike here, and to the caller too: the
            # task is sent either way.
            return False
        return True


def _settled(
    pairs: Mapping[int, tuple[Task, KeyRecord]], found: Mapping[int, Item]
) -> dict[int, KeyRecord | None]:
    """Of a transaction of these pairs that failed, those that need not be made again: who holds the key,
    None where it is the task itself, since an earlier try had made it and its answer got lost."""
    settled: dict[int, KeyRecord | None] = {}
    for number, (at, (task, key)) in enumerate(pairs.items()):
        if 2 * number in found:
            holder = to_key_record(key.tenant, key.key, found[2 * number])
            settled[at] = None if holder.task_id == task.task_id else holder
        elif 2 * number + 1 in found:
            settled[at] = None
    return settled


def _with_payload(task: Task, payloads: dict[str, str]) -> Task | None:
    if not task.large:
        return task
    payload = payloads.get(task.task_id)
    return None if payload is None else replace(task, payload=payload)


def _key_at(place: Place) -> AttributeValues:
    return {"bucket": {"S": place.bucket}, "sk": {"S": place.sk}}


def _payload_place(task_id: str) -> Place:
    return Place(payload_bucket(task_id), PAYLOAD_SK)


def _payload_key(task_id: str) -> AttributeValues:
    return _key_at(_payload_place(task_id))


def _place_of(item: AttributeValues) -> Place:
    return Place(item["bucket"]["S"], item["sk"]["S"])


def _is_payload(row: AttributeValues) -> bool:
    return bool(row["sk"]["S"] == PAYLOAD_SK)


def _id_in(row: AttributeValues) -> str:
    return str(row["bucket"]["S"]).partition("#")[2]
