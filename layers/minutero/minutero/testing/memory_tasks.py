"""The Tasks table in memory."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from minutero.domain.exchanged import Claim
from minutero.domain.task import KeyRecord, Place, Pointer, State, Task
from minutero.testing.memory_buckets import is_claimed_under, is_scheduled
from minutero.testing.memory_closed_runs import MemoryClosedRuns


class MemoryTaskStore(MemoryClosedRuns):
    """`TaskStore` over dicts."""

    # --- tasks

    def put(self, task: Task) -> None:
        if self._find(task.place) is None:
            self._write(task.place, task)

    def put_many(self, tasks: Sequence[Task]) -> list[bool]:
        for task in tasks:
            self._write(task.place, task)
        return [True] * len(tasks)

    def put_keyed(self, task: Task, key: KeyRecord, now: int) -> KeyRecord | None:
        holder = self.get_key(key.tenant, key.key, now)
        if holder is not None:
            return None if holder.task_id == task.task_id else holder
        self.keys[key.tenant, key.key] = key
        self._write(task.place, task)
        return None

    def put_many_keyed(
        self, pairs: Sequence[tuple[Task, KeyRecord]], now: int
    ) -> list[KeyRecord | None]:
        return [self.put_keyed(task, key, now) for task, key in pairs]

    def get_key(self, tenant: str, key: str, now: int) -> KeyRecord | None:
        holder = self.keys.get((tenant, key))
        return holder if holder is not None and holder.keep_until * 1000 >= now else None

    def get_many(self, pointers: Sequence[Pointer]) -> dict[Place, Task]:
        places = [pointer.place for pointer in pointers]
        return {place: task for place in places if (task := self.get(place)) is not None}

    def mark_sent(self, place: Place, claim_id: str, at: int) -> bool:
        return self._claim_one(place, claim_id, at, is_scheduled) is Claim.WON

    # --- claims

    def claim(
        self, places: Sequence[Place], claim_id: str, at: int, taken_from: str | None = None
    ) -> list[Claim]:
        def may_take(task: Task) -> bool:
            return is_scheduled(task) if taken_from is None else is_claimed_under(task, taken_from)

        return [self._claim_one(place, claim_id, at, may_take) for place in places]

    def _claim_one(
        self, place: Place, claim_id: str, at: int, may_take: Callable[[Task], bool]
    ) -> Claim:
        task = self.get(place)
        if task is None:
            return Claim.LOST
        if is_claimed_under(task, claim_id):
            return Claim.WON
        if not may_take(task):
            return Claim.LOST
        self._write(place, task.claimed(claim_id, at))
        return Claim.WON

    # --- what a change of a schedule does to tasks

    def set_state(self, place: Place, state: State) -> None:
        stored = self.get(place)
        if stored is not None:
            self._write(place, replace(stored, state=state))

    def set_occurrence(self, pointer: Pointer) -> None:
        stored = self.get(pointer.place)
        if stored is not None:
            self._write(pointer.place, replace(stored, occurrence=pointer.occurrence))
