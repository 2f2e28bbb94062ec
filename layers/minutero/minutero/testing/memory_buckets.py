"""The buckets of the Tasks table in memory."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence
from dataclasses import replace

from minutero.domain.buckets import CLAIM_PREFIX, claim_sort_key
from minutero.domain.exchanged import Page, Taken
from minutero.domain.task import OpenClaim, Place, Pointer, State, Task

PAGE = 500


class MemoryBuckets:
    """Per bucket the items by sort key, and the sort keys in order."""

    def __init__(self, page: int = PAGE) -> None:
        self._page = page
        self.buckets: dict[str, dict[str, Task | OpenClaim]] = {}
        self._order: dict[str, list[str]] = {}
        self._bucket_names: list[str] = []

    def get(self, place: Place) -> Task | None:
        item = self._find(place)
        return item if isinstance(item, Task) else None

    def page(self, bucket: str, after: str | None = None) -> Page:
        return self._read_page(bucket, after, is_scheduled)

    def page_claimed(self, bucket: str, claim_id: str, after: str | None = None) -> Page:
        return self._read_page(bucket, after, lambda task: is_claimed_under(task, claim_id))

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
        return self._read_page(bucket, CLAIM_PREFIX, is_scheduled).open_claims

    def open_claim(self, claim: OpenClaim) -> None:
        self._write(_place_of_claim(claim), claim)

    def close_claim(self, claim: OpenClaim) -> None:
        self._delete(_place_of_claim(claim))

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


def is_scheduled(task: Task) -> bool:
    """May be claimed."""
    return task.state is State.SCHEDULED


def _is_waiting(item: Task | OpenClaim) -> bool:
    return isinstance(item, OpenClaim) or is_scheduled(item)


def _is_listed(task: Task, job: str) -> bool:
    return task.state is not State.MOVED and job in ("", task.job)


def is_claimed_under(task: Task, claim_id: str) -> bool:
    """That very claim took it."""
    return task.state is State.CLAIMED and task.claim_id == claim_id


def _place_of_claim(claim: OpenClaim) -> Place:
    return Place(claim.bucket, claim_sort_key(claim.opened_at, claim.claim_id))
