"""The Tasks table in memory."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence
from dataclasses import replace

from minutero.domain.buckets import CLAIM_PREFIX, claim_sort_key, parse_bucket
from minutero.domain.exchanged import Claim, DeadLetter, Move, Page, Taken
from minutero.domain.instants import format_instant
from minutero.domain.run import Ending, Outcome, RunRecord
from minutero.domain.task import KeyRecord, OpenClaim, Place, Pointer, State, Task, first_place
from minutero.testing.memory_ledger import MemoryRunLedger

PAGE = 500


class MemoryTaskStore:
    """`TaskStore` over dicts: per bucket the items by sort key, and the sort keys in order."""

    def __init__(self, ledger: MemoryRunLedger, page: int = PAGE) -> None:
        self._ledger = ledger
        self._page = page
        self.buckets: dict[str, dict[str, Task | OpenClaim]] = {}
        self._order: dict[str, list[str]] = {}
        self._bucket_names: list[str] = []
        self.keys: dict[tuple[str, str], KeyRecord] = {}
        self.letters: dict[str, DeadLetter] = {}

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

    def get_key(self, tenant: str, key: str, now: int) -> KeyRecord | None:
        holder = self.keys.get((tenant, key))
        return holder if holder is not None and holder.keep_until * 1000 >= now else None

    def get(self, place: Place) -> Task | None:
        item = self._find(place)
        return item if isinstance(item, Task) else None

    def get_many(self, pointers: Sequence[Pointer]) -> dict[Place, Task]:
        places = [pointer.place for pointer in pointers]
        return {place: task for place in places if (task := self.get(place)) is not None}

    def mark_sent(self, place: Place, claim_id: str, at: int) -> bool:
        return self._claim_one(place, claim_id, at, _is_scheduled) is Claim.WON

    # --- buckets

    def page(self, bucket: str, after: str | None = None) -> Page:
        return self._read_page(bucket, after, _is_scheduled)

    def page_claimed(self, bucket: str, claim_id: str, after: str | None = None) -> Page:
        return self._read_page(bucket, after, lambda task: _is_claimed_under(task, claim_id))

    def page_taken(
        self, bucket: str, after: str | None = None
    ) -> tuple[Sequence[Taken], str | None]:
        items, following = self._items(bucket, after)
        claimed = (item for item in items if isinstance(item, Task) and item.state is State.CLAIMED)
        return [Taken(task.pointer, task.claimed_at or 0) for task in claimed], following

    def page_tasks(
        self, bucket: str, after: str, job: str, most: int
    ) -> tuple[Sequence[Task], str | None]:
        order = self._order.get(bucket, [])
        start, end = bisect_right(order, after), bisect_left(order, CLAIM_PREFIX)
        looked_at = order[start : start + most]
        items = [self.buckets[bucket][sk] for sk in looked_at]
        found = [item for item in items if isinstance(item, Task) and _is_listed(item, job)]
        tasks = [replace(task, payload=None) if task.large else task for task in found]
        return tasks, looked_at[-1] if start + most < end else None

    def first_waiting(self, bucket: str) -> str | None:
        """The first bucket from this one on that a tick has something to do in; no part of the port."""
        for name in self._bucket_names[bisect_left(self._bucket_names, bucket) :]:
            if any(_is_waiting(item) for item in self.buckets[name].values()):
                return name
        return None

    def open_claims(self, bucket: str) -> Sequence[OpenClaim]:
        return self._read_page(bucket, CLAIM_PREFIX, _is_scheduled).open_claims

    def open_claim(self, claim: OpenClaim) -> None:
        self._write(_place_of_claim(claim), claim)

    def close_claim(self, claim: OpenClaim) -> None:
        self._delete(_place_of_claim(claim))

    def claim(
        self, places: Sequence[Place], claim_id: str, at: int, taken_from: str | None = None
    ) -> list[Claim]:
        def may_take(task: Task) -> bool:
            return (
                _is_scheduled(task) if taken_from is None else _is_claimed_under(task, taken_from)
            )

        return [self._claim_one(place, claim_id, at, may_take) for place in places]

    # --- cancel and move

    def cancel(self, task: Task, at: int, keep_until: int, given_up: int) -> RunRecord:
        record = self._ledger.end_unowned(
            task.run_id, Outcome(Ending.CANCELLED), at, keep_until, given_up
        )
        stored = self.get(task.place)
        if stored is not None and record.outcome == Outcome(Ending.CANCELLED):
            self._write(stored.place, replace(stored, state=State.CANCELLED))
        return record

    def move(self, move: Move) -> RunRecord | None:
        superseded = Outcome(Ending.SUPERSEDED)
        if move.redrives is None:
            record = self._ledger.end_unowned(
                move.task.run_id,
                superseded,
                move.at,
                move.keep_until,
                move.given_up,
                move.token,
            )
        else:
            record = self._ledger.take_back(move.task.run_id, superseded, move.token)
        if record.owner != move.token:
            return record
        left = record.superseded or move.leaves
        self._ledger.records[record.run_id] = replace(record, superseded=left)
        if self.get(move.to.place) is None:
            self._carry_out(move)
        return None

    def _carry_out(self, move: Move) -> None:
        first = first_place(move.task.task_id)
        if move.task.place != first:
            self._delete(move.task.place)
        address = self.get(first)
        if address is not None:
            self._write(first, replace(address, state=State.MOVED, moved_to=move.to.place))
        self._write(move.to.place, move.to)
        holder = self.keys.get((move.task.tenant, move.task.key))
        if move.task.key and holder is not None:
            self.keys[move.task.tenant, move.task.key] = replace(
                holder, keep_until=move.to.keep_until
            )
        if move.redrives is not None:
            self.letters.pop(move.redrives.run_id, None)

    # --- dead letters

    def bury(self, letter: DeadLetter) -> bool:
        dead = Outcome(Ending.DEAD, reason=letter.reason)
        record = self._ledger.end_unowned(
            letter.run_id, dead, letter.died_at, letter.keep_until, given_up=letter.died_at
        )
        if record.outcome != dead:
            return False
        task = self.get(letter.place)
        if task is not None:
            self._write(task.place, replace(task, state=State.DEAD))
        self.letters[letter.run_id] = letter
        return True

    def bury_unreadable(self, place: Place, reason: str, at: int, keep_until: int) -> None:
        self._delete(place)
        self.letters[place.sk] = DeadLetter(place.sk, place, "", "", reason, at, keep_until)

    def list_dead(self, letter: DeadLetter) -> bool:
        record = self._ledger.get(letter.run_id)
        if record is None or record.outcome is None or record.outcome.ending is not Ending.DEAD:
            return False
        self.letters[letter.run_id] = letter
        return True

    def discard(self, letter: DeadLetter) -> bool:
        if letter.has_run:
            discarded = Outcome(Ending.DISCARDED, reason=letter.reason)
            record = self._ledger.take_back(letter.run_id, discarded)
            if record.outcome is None or record.outcome.ending is not Ending.DISCARDED:
                return False
        self.letters.pop(letter.run_id, None)
        return True

    def page_dead(
        self, day: str, shard: int, after: str | None = None
    ) -> tuple[Sequence[DeadLetter], str | None]:
        oldest_first = sorted(
            (f"{letter.died_at:014d}#{run_id}", letter)
            for run_id, letter in self.letters.items()
            if format_instant(letter.died_at)[:10] == day
            and parse_bucket(letter.place.bucket)[1] == shard
        )
        rest = [(key, letter) for key, letter in oldest_first if after is None or key > after]
        page = rest[: self._page]
        return [letter for _, letter in page], page[-1][0] if len(rest) > len(page) else None

    # --- what a change of a schedule does to tasks

    def set_state(self, place: Place, state: State) -> None:
        stored = self.get(place)
        if stored is not None:
            self._write(place, replace(stored, state=state))

    def set_occurrence(self, pointer: Pointer) -> None:
        stored = self.get(pointer.place)
        if stored is not None:
            self._write(pointer.place, replace(stored, occurrence=pointer.occurrence))

    # --- the parts

    def _find(self, place: Place) -> Task | OpenClaim | None:
        return self.buckets.get(place.bucket, {}).get(place.sk)

    def _write(self, place: Place, item: Task | OpenClaim) -> None:
        if place.bucket not in self.buckets:
            self.buckets[place.bucket] = {}
            insort(self._bucket_names, place.bucket)
        bucket = self.buckets[place.bucket]
        if place.sk not in bucket:
            insort(self._order.setdefault(place.bucket, []), place.sk)
        bucket[place.sk] = item

    def _delete(self, place: Place) -> None:
        if self.buckets.get(place.bucket, {}).pop(place.sk, None) is not None:
            self._order[place.bucket].remove(place.sk)

    def _claim_one(
        self, place: Place, claim_id: str, at: int, may_take: Callable[[Task], bool]
    ) -> Claim:
        task = self.get(place)
        if task is None:
            return Claim.LOST
        if _is_claimed_under(task, claim_id):
            return Claim.WON
        if not may_take(task):
            return Claim.LOST
        self._write(place, task.claimed(claim_id, at))
        return Claim.WON

    def _read_page(self, bucket: str, after: str | None, wanted: Callable[[Task], bool]) -> Page:
        items, following = self._items(bucket, after)
        tasks, claims = list[Pointer](), list[OpenClaim]()
        for item in items:
            if isinstance(item, OpenClaim):
                claims.append(item)
            elif wanted(item):
                tasks.append(item.pointer)
        return Page(tasks, claims, [], following)

    def _items(self, bucket: str, after: str | None) -> tuple[list[Task | OpenClaim], str | None]:
        order = self._order.get(bucket, [])
        start = 0 if after is None else bisect_right(order, after)
        sort_keys = order[start : start + self._page]
        more = len(order) > start + self._page
        return [self.buckets[bucket][sk] for sk in sort_keys], sort_keys[-1] if more else None


def _is_scheduled(task: Task) -> bool:
    return task.state is State.SCHEDULED


def _is_waiting(item: Task | OpenClaim) -> bool:
    return isinstance(item, OpenClaim) or _is_scheduled(item)


def _is_listed(task: Task, job: str) -> bool:
    return task.state is not State.MOVED and job in ("", task.job)


def _is_claimed_under(task: Task, claim_id: str) -> bool:
    return task.state is State.CLAIMED and task.claim_id == claim_id


def _place_of_claim(claim: OpenClaim) -> Place:
    return Place(claim.bucket, claim_sort_key(claim.opened_at, claim.claim_id))
