"""The Schedules table: the rows of schedules, and the transactions that change them.

Each change is one transaction over the row, its payload, the fates of its times and the tasks it adds, marks
and closes. The row comes first in it, so that its guard has the first place in the answer.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from minutero.aws.batches import batch_get
from minutero.aws.compact import encode
from minutero.aws.failures import GuardFailed
from minutero.aws.fates import Fates
from minutero.aws.rows import task_attributes
from minutero.aws.run_record import closing
from minutero.aws.schedule_rows import (
    payload_hash,
    payload_partition,
    read_schedule,
    schedule_attributes,
    schedule_key,
    schedule_partition,
)
from minutero.aws.tables import PAYLOAD_SK, ScheduleItem, TaskItem
from minutero.aws.tasks_table import Entry, delete, put, update
from minutero.domain.exchanged import Changed, ScheduleChange
from minutero.domain.schedule import Schedule, pointer_to
from minutero.domain.task import Place, State, run_id_of
from minutero.errors import Unavailable

PAGE = 100
"""Rows of one page of a list."""

TRIES = 5
"""How often a row and a payload that do not belong together are read again."""

NO_SUCH_SCHEDULE: Condition = ScheduleItem.partition.does_not_exist()
"""Create: a name is one schedule's."""

ITS_TASK_IS_THERE: Condition = TaskItem.bucket.exists()
"""Step, replace, delete: an update must not make a task of nothing."""


def as_read(schedule: Schedule) -> Condition:
    """Step, replace, delete: it is still the version that was read, and the same link is pending. The time it
    was created tells it from one that was deleted and put again under its name."""
    guard: Condition = (
        (ScheduleItem.created_at == schedule.created_at)
        & (ScheduleItem.version == schedule.version)
        & (
            ScheduleItem.pending_task.does_not_exist()
            if schedule.pending is None
            else ScheduleItem.pending_task == schedule.pending.task_id
        )
    )
    return guard


class DynamoScheduleStore(Fates):
    """`ScheduleStore`. Made of `tables.bind(...)` and a clock, which is only slept with between two tries."""

    def get(self, name: str) -> Schedule | None:
        """One schedule with its payload, in one consistent request: two units of reading for small ones."""
        keys = [_raw(schedule_key(name)), _raw(_payload_key(name))]
        table, options = self._tables.names.schedules, {"ConsistentRead": True}
        for _ in range(TRIES):
            found = batch_get(self._tables.client, table, keys, self._clock, options)
            items = {item["partition"]["S"]: item for item in found}
            row = items.get(keys[0]["partition"]["S"])
            if row is None:
                return None
            # A payload that the row does not speak of is another version's: an edit was read by halves.
            wanted = row.get("payload_hash", {}).get("S")
            payload = _text_of(items.get(payload_partition(name))) if wanted else None
            if payload_hash(payload) == wanted:
                return read_schedule(self._tables.schedule, row, payload)
        raise Unavailable(f"schedule {name} changes again and again; try later")

    def page(
        self, partition: int, after: str | None = None
    ) -> tuple[Sequence[Schedule], str | None]:
        """One page of a partition, by name. A row that cannot be read is told in the log and passed over."""
        request: dict[str, Any] = {
            "TableName": self._tables.names.schedules,
            "KeyConditionExpression": "#partition = :partition",
            "ExpressionAttributeNames": {"#partition": "partition"},
            "ExpressionAttributeValues": {":partition": {"S": schedule_partition(partition)}},
            "ConsistentRead": True,
            "Limit": PAGE,
        }
        if after is not None:
            start = {"partition": schedule_partition(partition), "name": after}
            request["ExclusiveStartKey"] = _raw(start)
        answer: Any = self._ask(lambda: self._tables.client.query(**request))
        found = [read_schedule(self._tables.schedule, row) for row in answer["Items"]]
        last = answer.get("LastEvaluatedKey")
        return [one for one in found if one is not None], last["name"]["S"] if last else None

    def create(self, change: ScheduleChange) -> bool:
        """Four units for a small schedule with a small task, two more for each started KB of a payload."""
        made = change.after
        if made is None:
            return True
        attributes = {k: v for k, v in schedule_attributes(made).items() if v is not None}
        row = self._tables.schedule(**schedule_key(made.name), **attributes)
        created = self._carry_out(change, put(row, NO_SUCH_SCHEDULE)) is Changed.DONE
        # What lies there may be this very schedule: an earlier try, whose answer got lost.
        return created or self.get(made.name) == made

    def step(self, change: ScheduleChange) -> bool:
        """Six units for a small schedule with a small task: the row, the fate, the task that is pending then.
        Asked again after a lost answer it finds that another link is pending: the step is taken."""
        return self.replace(change) is Changed.DONE

    def replace(self, change: ScheduleChange) -> Changed:
        """Four units more for each link that is closed: its run, its task."""
        before, after = change.before, change.after
        if before is None or after is None:
            return Changed.STALE
        row = self._tables.schedule(**schedule_key(before.name))
        return self._carry_out(change, update(row, _differences(before, after), as_read(before)))

    def delete(self, change: ScheduleChange) -> Changed:
        """The fates stay until they expire."""
        if change.before is None:
            return Changed.STALE
        row = self._tables.schedule(**schedule_key(change.before.name))
        return self._carry_out(change, delete(row, as_read(change.before)))

    def _carry_out(self, change: ScheduleChange, row: Entry) -> Changed:
        if change.adds is not None:
            self._put_large_payload(change.adds)
        entries = [row, *self._payload(change), *self._tasks(change), *self._noted(change)]
        try:
            self._transact(entries)
        except GuardFailed as failed:
            return Changed.STALE if 0 in failed.found else Changed.STARTED
        return Changed.DONE

    def _payload(self, change: ScheduleChange) -> Sequence[Entry]:
        """Of the schedule's own payload, if it is another one then."""
        before = change.before.definition.payload if change.before else None
        after = change.after.definition.payload if change.after else None
        if before == after:
            return ()
        key = _payload_key(_name(change))
        if after is None:
            return [delete(self._tables.schedule_payload(**key))]
        return [put(self._tables.schedule_payload(**key, payload=after))]

    def _tasks(self, change: ScheduleChange) -> Sequence[Entry]:
        """What is closed, marked and added. What is added needs no guard: its id is of this very change, and
        the row's guard lets that be made once."""
        entries: list[Entry] = []
        times = change.at, change.keep_until, change.given_up
        cancelled: list[Action] = [TaskItem.state.set(str(State.CANCELLED))]
        for link, outcome in change.closes:
            run_id = run_id_of(link.task_id, 0)
            entries.append({"Update": closing(self._tables.names.runs, run_id, outcome, *times)})
            task = self._task_at(pointer_to(link).place)
            entries.append(update(task, cancelled, ITS_TASK_IS_THERE))
        told = change.made_up_for
        if told is not None and told.occurrence is not None:
            marked: list[Action] = [TaskItem.occurrence.set(encode(told.occurrence))]
            entries.append(update(self._task_at(told.place), marked, ITS_TASK_IS_THERE))
        if change.adds is not None:
            entries.append(put(self._tables.task(**task_attributes(change.adds))))
        return entries

    def _task_at(self, place: Place) -> TaskItem:
        return self._tables.task(bucket=place.bucket, sk=place.sk)


def _differences(before: Schedule, after: Schedule) -> list[Action]:
    """Only what changes is written: attributes that a newer version has added stay, and members that it has
    added to a text nobody edits."""
    was = schedule_attributes(before)
    return [
        _path(name).remove() if value is None else _path(name).set(value)
        for name, value in schedule_attributes(after).items()
        if value != was[name]
    ]


def _text_of(item: Mapping[str, Any] | None) -> str | None:
    return item.get("payload", {}).get("S") if item else None


def _path(name: str) -> Any:
    return getattr(ScheduleItem, name)


def _name(change: ScheduleChange) -> str:
    known = change.after or change.before
    return known.name if known else ""


def _payload_key(name: str) -> dict[str, Any]:
    return {"partition": payload_partition(name), "name": PAYLOAD_SK}


def _raw(key: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    return {name: {"S": value} for name, value in key.items()}
