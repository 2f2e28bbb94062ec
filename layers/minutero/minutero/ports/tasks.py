"""Tasks and their messages."""

from collections.abc import Sequence
from typing import Protocol

from minutero.domain.exchanged import (
    Claim,
    DeadLetter,
    Move,
    Outgoing,
    Page,
    QueueDepth,
    Sent,
    Taken,
)
from minutero.domain.run import RunRecord
from minutero.domain.task import KeyRecord, OpenClaim, Place, Pointer, Task


class TaskStore(Protocol):
    """The Tasks table. The guard of each transition is a named constant beside its implementation."""

    def put(self, task: Task) -> None:
        """Create, unkeyed. Guard: nothing lies at the place. The id is fresh and random, so finding
        something there means an answer was lost: it is ours, and all is well."""

    def put_many(self, tasks: Sequence[Task]) -> list[bool]:
        """Create any number, unkeyed, in batches that carry no guard: the ids are fresh and random, so
        nothing lies at their places. A batch is made once; what it leaves in doubt is created as by `put`.

        In the order of `tasks`: True when it is stored; False when no answer came: it may be stored or
        not."""

    def put_keyed(self, task: Task, key: KeyRecord, now: int) -> KeyRecord | None:
        """Create and register the key, together. Guard: the key is free (never used, or expired).

        None when stored; otherwise the record that holds the key, and nothing was written."""

    def put_many_keyed(
        self, pairs: Sequence[tuple[Task, KeyRecord]], now: int
    ) -> list[KeyRecord | None]:
        """The same for up to 25, no key twice. Guard: that of each, which spoils no other.

        In the order of `pairs`, as `put_keyed` tells it. When no answer came, each may be stored or not."""

    def get_key(self, tenant: str, key: str, now: int) -> KeyRecord | None:
        """What a living key stands for."""

    def get(self, place: Place) -> Task | None:
        """One task with its payload, wherever that lies."""

    def get_many(self, pointers: Sequence[Pointer]) -> dict[Place, Task]:
        """Up to 50 tasks with their payloads in one read; those that are not there are left out."""

    def page(self, bucket: str, after: str | None = None) -> Page:
        """One page of a bucket, from its begin or after the sort key `after`."""

    def page_claimed(self, bucket: str, claim_id: str, after: str | None = None) -> Page:
        """One page of the tasks of a bucket that are claimed under that very claim (as `scheduled`)."""

    def page_taken(
        self, bucket: str, after: str | None = None
    ) -> tuple[Sequence[Taken], str | None]:
        """One page of the tasks of a bucket that are claimed, whoever did it, and where the next begins."""

    def page_tasks(
        self, bucket: str, after: str, job: str, most: int
    ) -> tuple[Sequence[Task], str | None]:
        """One page of the tasks of a bucket, in whatever state, for people to read: those after the sort key
        `after` ("": all), of that job ("": any), at most `most` looked at; and where the next page begins.

        Neither addresses nor open claims; a large payload is left out (`large` says so)."""

    def open_claims(self, bucket: str) -> Sequence[OpenClaim]:
        """All open claims of a bucket, oldest first, in a query of its own."""

    def open_claim(self, claim: OpenClaim) -> None:
        """Writes the note that a batch is about to be claimed."""

    def close_claim(self, claim: OpenClaim) -> None:
        """Deletes the note: every task of the batch is lost, sent or dead. Deleting twice is harmless."""

    def claim(
        self, places: Sequence[Place], claim_id: str, at: int, taken_from: str | None = None
    ) -> list[Claim]:
        """Up to 25 tasks, each on its own. Guard: `scheduled`; in a rescue: claimed under `taken_from`.

        Finding the own claim id in the way is WON: an answer was lost."""

    def mark_sent(self, place: Place, claim_id: str, at: int) -> bool:
        """A near task its writer has sent. Guard: still `scheduled`; False when a tick came first."""

    def cancel(self, task: Task, at: int, keep_until: int, given_up: int) -> RunRecord:
        """Ends a run as cancelled and its task with it, in one transaction over both tables.

        Guard: the run may start at `given_up`; a start has the same guard, so the two meet at one lock.
        `given_up` is `at`, less what a client's clock may be ahead: an attempt whose time
        ran out before it is given up. The record as it then is: cancelled (by this call or before), or what
        stands in the way."""

    def move(self, move: Move) -> RunRecord | None:
        """Ends a run as superseded and puts its task at another place under the next run number, with the
        forwarding address at the first place; the place left is deleted unless it is the first. One
        transaction; the ends of retention of payload and key follow.

        Guard: the run may start at `given_up`; for a redrive: its outcome is dead, and its dead-letter row
        goes too.
        None when moved (finding the own token in the record is one's own retry: moved), else the record
        that stands in the way."""

    def bury(self, letter: DeadLetter) -> bool:
        """Death without a message: finished run record, task state and dead-letter row, together.

        Guard: the run may start. False when it may not: then a worker has it, or it is over."""

    def bury_unreadable(self, place: Place, reason: str, at: int, keep_until: int) -> None:
        """Takes a row that makes no sense out of the way and lists it as dead."""

    def list_dead(self, letter: DeadLetter) -> bool:
        """Lists a dead run. Guard: its outcome is dead; False when it was redriven or discarded."""

    def page_dead(
        self, day: str, shard: int, after: str | None = None
    ) -> tuple[Sequence[DeadLetter], str | None]:
        """One page of the runs that died on a UTC day (`2026-11-29`), oldest first: those after the sort key
        `after`, and where the next page begins."""

    def discard(self, letter: DeadLetter) -> bool:
        """Takes a dead run off the list for good: its outcome becomes `discarded`, its row goes, together.

        Guard: its outcome is dead. False when it was redriven; discarding twice is True."""


class TaskQueue(Protocol):
    """The tasks queue and its dead-letter queue."""

    def send(self, messages: Sequence[Outgoing]) -> list[Sent]:
        """Up to 10 messages in one request; what became of each."""

    def send_dead(self, message: Outgoing) -> None:
        """One message to the dead-letter queue."""

    def depth(self) -> QueueDepth:
        """How many messages are in the tasks queue, about."""

    def dead_depth(self) -> QueueDepth:
        """How many messages are in the dead-letter queue and not yet listed, about."""


class Inbox(Protocol):
    """The messages this process has in hand."""

    def acknowledge(self, receipts: Sequence[str]) -> None:
        """Deletes messages ahead of the end of the batch. What stays undeleted is delivered again, and
        found to have run."""
