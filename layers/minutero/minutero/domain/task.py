"""A task, the place it lies at, and the pointer a queue message carries."""

import base64
import hashlib
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import lru_cache
from typing import Any

from minutero.domain.buckets import bucket_name
from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.occurrence import Occurrence

NEAR = "near"
"""The claim id of a task its writer sent: no open claim has this name, so no rescue ever takes it."""

_VERSION = "1"
_RANDOM_BYTES = 11
_TASK_ID = re.compile(_VERSION + r"[A-Za-z0-9_-]{24}", re.ASCII)
"""Stricter than base64's decoder, which takes `+`, `/` and padding too: a task has one name."""
_SORT_KEY = re.compile(rf"\d+#({_TASK_ID.pattern})#(\d+)", re.ASCII)


class State(StrEnum):
    """What the task item itself says. What users see is derived, see `lifecycle.status_of`.

    `unknown` is what a newer version wrote; it is left alone, and never written here."""

    SCHEDULED = "scheduled"
    CLAIMED = "claimed"
    CANCELLED = "cancelled"
    MOVED = "moved"
    DEAD = "dead"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, value: object) -> "State | None":
        return cls.UNKNOWN if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Place:
    """Key of an item in the Tasks table. For a task: its bucket, and second, task id and run number."""

    bucket: str
    sk: str


def place_of(task_id: str, run_no: int, stored_for: int) -> Place:
    """The place of a run stored for an instant: max(run_at, the writer's now), in milliseconds."""
    second = stored_for // SECOND % 60
    shard = read_task_id(task_id)[1]
    return Place(bucket_name(stored_for, shard), f"{second:02d}#{task_id}#{run_no:04d}")


def read_sort_key(sk: str) -> tuple[str, int]:
    """Sort key of a task -> (task id, run number). Raises ValueError for anything else."""
    found = _SORT_KEY.fullmatch(sk)
    if found is None:
        raise ValueError(f"not the sort key of a task: {sk[:80]!r}")
    return found[1], int(found[2])


def new_task_id(stored_for: int, shards: int) -> str:
    """A fresh id: version, first second, shard and 88 random bits, so that one GetItem finds the task."""
    random = secrets.token_bytes(_RANDOM_BYTES)
    return task_id_from(stored_for, shard_of(random, shards), random)


def task_id_from(stored_for: int, shard: int, random: bytes) -> str:
    """The id made of these parts; `random` is 11 bytes."""
    packed = (stored_for // SECOND).to_bytes(5, "big") + shard.to_bytes(2, "big") + random
    return _VERSION + base64.urlsafe_b64encode(packed).decode()


def shard_of(what: bytes, shards: int) -> int:
    """A stable hash slice: the same bytes give the same shard in every process."""
    return int.from_bytes(hashlib.blake2b(what, digest_size=4).digest(), "big") % shards


@lru_cache(4_096)
def read_task_id(task_id: str) -> tuple[int, int]:
    """Task id -> (first second in milliseconds, shard). Raises ValueError for what is no task id."""
    if not _TASK_ID.fullmatch(task_id):
        raise ValueError(f"not a task id: {task_id[:80]!r}")
    packed = base64.urlsafe_b64decode(task_id[1:])
    return int.from_bytes(packed[:5], "big") * SECOND, int.from_bytes(packed[5:7], "big")


@lru_cache(4_096)
def first_place(task_id: str) -> Place:
    """Where the task was put when it was created, and where its forwarding address is after a move."""
    return place_of(task_id, 0, read_task_id(task_id)[0])


def run_id_of(task_id: str, run_no: int) -> str:
    """Id of a run, the idempotency key of the worker: the same over attempts and redeliveries."""
    return f"{task_id}.{run_no}"


@dataclass(frozen=True, slots=True)
class Pointer:
    """What a message carries: where the task lies and when it is due; never the payload.

    `large` says that the payload lies in an item of its own, so that one read can fetch both. `occurrence` is
    known where a bucket was read, and not in a message.
    """

    place: Place
    due: int
    tenant: str = ""
    large: bool = False
    occurrence: Occurrence | None = field(default=None, compare=False)

    @property
    def task_id(self) -> str:
        return read_sort_key(self.place.sk)[0]

    @property
    def run_id(self) -> str:
        return run_id_of(*read_sort_key(self.place.sk))

    @property
    def is_a_link(self) -> bool:
        """An occurrence of a schedule's chain."""
        return self.occurrence is not None and self.occurrence.is_a_link


@dataclass(frozen=True, slots=True)
class Task:
    """One stored piece of work. Times in milliseconds; `keep_until` in seconds, as DynamoDB's TTL wants.

    `moved_to` is the forwarding address, at the first place of a task that lies elsewhere now.
    `attempts_before` counts those of earlier runs of a task that its own worker moved. `occurrence` says
    of which schedule it is, None for a task of its own. `carried` are the attributes of a newer version, as
    they are stored: a move takes them along.
    """

    task_id: str
    run_no: int
    place: Place
    job: str
    run_at: int
    created_at: int
    keep_until: int
    payload: str | None = None
    large: bool = False
    state: State = State.SCHEDULED
    tenant: str = ""
    key: str = ""
    max_attempts: int = 5
    expires_after_seconds: int | None = None
    claim_id: str = ""
    claimed_at: int | None = None
    moved_to: Place | None = None
    attempts_before: int = 0
    occurrence: Occurrence | None = None
    carried: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @property
    def run_id(self) -> str:
        return run_id_of(self.task_id, self.run_no)

    @property
    def pointer(self) -> Pointer:
        return Pointer(self.place, self.run_at, self.tenant, self.large, self.occurrence)

    @property
    def expires_at(self) -> int | None:
        """The instant after which a first start is too late, or None."""
        if self.expires_after_seconds is None:
            return None
        return self.run_at + self.expires_after_seconds * SECOND

    def moved(self, run_at: int, now: int, retention: int, attempts_before: int = 0) -> "Task":
        """The same task under its next run number, at the place of max(`run_at`, now): nothing is ever
        put behind a watermark."""
        run_no = self.run_no + 1
        return replace(
            self,
            run_no=run_no,
            place=place_of(self.task_id, run_no, max(run_at, now)),
            run_at=run_at,
            keep_until=(max(run_at, now) + retention) // SECOND,
            state=State.SCHEDULED,
            claim_id="",
            claimed_at=None,
            moved_to=None,
            attempts_before=attempts_before,
        )

    def claimed(self, claim_id: str, at: int) -> "Task":
        """The same task as a claim leaves it. Written out, since `replace` takes five times as long."""
        return Task(
            task_id=self.task_id,
            run_no=self.run_no,
            place=self.place,
            job=self.job,
            run_at=self.run_at,
            created_at=self.created_at,
            keep_until=self.keep_until,
            payload=self.payload,
            large=self.large,
            state=State.CLAIMED,
            tenant=self.tenant,
            key=self.key,
            max_attempts=self.max_attempts,
            expires_after_seconds=self.expires_after_seconds,
            claim_id=claim_id,
            claimed_at=at,
            moved_to=self.moved_to,
            attempts_before=self.attempts_before,
            occurrence=self.occurrence,
        )


@dataclass(frozen=True, slots=True)
class OpenClaim:
    """A write-ahead note: this batch is being claimed and sent; `opened_at` starts its lease."""

    bucket: str
    claim_id: str
    opened_at: int


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What a client's key stands for: the task made with it and the hash of the body it came from."""

    tenant: str
    key: str
    task_id: str
    body_hash: str
    keep_until: int


def is_near(run_at: int, now: int, look_ahead: int) -> bool:
    """Due within the look-ahead: the writer sends it itself, since the tick may have passed its bucket.

    One minute more than the look-ahead is harmless and would be needless: a tick claims up to the end of
    the minute that holds now + look_ahead.
    """
    return run_at - now <= look_ahead


def delay_seconds(due: int, now: int) -> int:
    """`DelaySeconds` for a message due at `due`: rounded up, never early; 0 when past; at most SQS's 900.

    A task due later than that arrives early and is sent on by the worker's own check.
    """
    return min(900, max(0, -((now - due) // SECOND)))


def is_late_minute(minute: int, now: int, grace: int) -> bool:
    """True when the bucket of that minute is old enough to be settled: its end and the grace have passed."""
    return minute + MINUTE + grace <= now
