"""The ports: what the services need of the world, one method a transition.

Rules for everything behind a port:

* One call is one atomic transition with one guard (a transaction where it touches two items).
* Losing a race is a return value. `errors.Unavailable` means: no answer, the effect is unknown, ask again;
  every method is written so that asking again does no harm.
* Reads are consistent unless they say otherwise. A page is no snapshot of its bucket.
* Time is an argument, in milliseconds.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, TypeVar

from minutero.domain.exchanged import (
    Changed,
    Claim,
    Cursor,
    DeadLetter,
    Growth,
    Move,
    Outgoing,
    Page,
    QueueDepth,
    RunResult,
    ScheduleChange,
    Sent,
    Taken,
)
from minutero.domain.metrics import Metric
from minutero.domain.run import Outcome, RunRecord
from minutero.domain.schedule import Fate, Schedule
from minutero.domain.slot import Slot, Write
from minutero.domain.task import KeyRecord, OpenClaim, Place, Pointer, Task

Argument = TypeVar("Argument")
Answer = TypeVar("Answer")


class Clock(Protocol):
    """This process's clock."""

    def now(self) -> int:
        """Milliseconds since the epoch."""

    def sleep(self, ms: int) -> None:
        """Waits; only ever between two tries of the same call."""


class Meter(Protocol):
    """Counts and measures. Losing what it was told harms nothing, so it never raises."""

    def add(self, metric: Metric, value: float = 1) -> None:
        """So many more; of a metric that is a time, one more value in the metric's unit."""


class Parallel(Protocol):
    """Runs independent calls side by side, where the wiring allows it."""

    def __call__(
        self, call: Callable[[Argument], Answer], arguments: Iterable[Argument], /
    ) -> list[Answer]:
        """The answers in the order of the arguments."""


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


class RunLedger(Protocol):
    """The Runs table: the lock after SQS. One record a run, one owner an attempt."""

    def start(self, run_id: str, owner: str, now: int, until: int, keep_until: int) -> RunRecord:
        """Starts an attempt and counts it. Guard: no record, or one whose attempt failed or ran out.

        The record as it now is when started (its `owner` is ours), else as it was: finished, or running
        under another owner. Finding one's own token there is one's own retry: started."""

    def finish(self, run_id: str, owner: str, outcome: Outcome, now: int) -> bool:
        """Ends a run. Guard: still ours (or ended by us before). False: overtaken, nothing written."""

    def fail(self, run_id: str, owner: str, error: str, now: int) -> bool:
        """Ends an attempt, keeping its error. Guard: still ours. False: overtaken, nothing written."""

    def close(self, run_id: str, outcome: Outcome, now: int, keep_until: int) -> RunRecord:
        """Ends a run that nobody is running. Guard: it may start. The record as it then is: ended (by this
        call or before), or running."""

    def get(self, run_id: str) -> RunRecord | None:
        """The record of a run."""

    def get_many(self, run_ids: Sequence[str]) -> dict[str, RunRecord]:
        """The records of up to 100 runs, no id twice, in one read; those without one are left out."""

    def known(self, run_ids: Sequence[str]) -> frozenset[str]:
        """Which of up to 100 runs have a record. Not consistent: a record may be a moment too new."""


class Slots(Protocol):
    """What jobs take together with their own writes. Slots lie beside the run records."""

    def take(self, slot: Slot, writes: Sequence[Write]) -> bool:
        """Takes a slot and makes the writes, in one transaction. Guard: nobody has taken it, or its time is
        over. False when somebody has: then nothing was written, whatever the writes' own conditions say.
        Finding the own owner there is one's own try: True.

        Raises ConditionFailed when the slot is free and a write's own condition failed, InvalidInput for
        writes that can never be made; the slot is free then."""


class ScheduleStore(Protocol):
    """The Schedules table. A change is one transaction over the schedule, its payload, the fates of its times
    and the tasks it adds and closes. Its guard holds it to the schedule as it was read: the version and the
    link that is pending."""

    def get(self, name: str) -> Schedule | None:
        """One schedule, with its payload; None where there is none, or none that can be read."""

    def page(
        self, partition: int, after: str | None = None
    ) -> tuple[Sequence[Schedule], str | None]:
        """One page of a partition (0 to 15), by name and without the payloads: those after the name `after`,
        and where the next page begins."""

    def fates(self, name: str, first: int, last: int) -> Sequence[Fate]:
        """What became of its times from `first` to `last`, both included, ascending; up to 500. The first may
        begin before `first`."""

    def create(self, change: ScheduleChange) -> bool:
        """Puts a schedule and its first task. Guard: there is none of that name. False when there is."""

    def step(self, change: ScheduleChange) -> bool:
        """The pending link fires or is left out, and the next is there. Guard: it is still the pending one.

        False when another has taken the step. Nothing of it is done by halves: a link that fired has its
        successor, and who fires twice finds another one pending."""

    def replace(self, change: ScheduleChange) -> Changed:
        """Another version: the links of the old one are closed, the first of the new one is there.

        Guard: the schedule is as it was read; each task that is closed may be ended at `given_up`."""

    def delete(self, change: ScheduleChange) -> Changed:
        """Takes a schedule away and closes its links. Guard: as for `replace`."""


class OverlapLocks(Protocol):
    """One lock a schedule, for those whose runs must not overlap."""

    def take(self, schedule: str, run_id: str, now: int, until: int) -> bool:
        """For a run, until then. Guard: free, run out, or this very run's. False: another run has it."""

    def let_go(self, schedule: str, run_id: str) -> None:
        """Guard: this very run's; else another has taken it since, and it stays."""


class CursorStore(Protocol):
    """The Cursors table: one row a shard."""

    def get(self, shard: int) -> Cursor | None:
        """The row of a shard, None before its first tick."""

    def begin(self, shard: int, watermark: int) -> Cursor:
        """Writes a shard's row, with its first watermark. Guard: there is none. The row as it is then."""

    def lease(self, shard: int, owner: str, now: int, until: int) -> bool:
        """Takes the shard. Guard: free, ours, or run out. False: another dispatcher has it."""

    def advance(self, shard: int, owner: str, now: int, watermark: int, until: int) -> bool:
        """Moves the watermark and keeps the lease until `until` (0: gives it back).

        Guard: not backwards, and the shard free, ours, or run out."""

    def audited(self, shard: int, look: str, minute: int) -> None:
        """Notes how far a look of the audit has come. No guard: looking twice is harmless."""


class SettingsStore(Protocol):
    """The settings items: what all functions of a deployment must agree on."""

    def growth(self) -> Sequence[Growth]:
        """The shard counts in force, oldest first; empty before the first use."""

    def grow(self, growth: Growth) -> None:
        """Adds a larger shard count. Guard: larger than the last; losing means another has added it."""

    def jobs(self) -> frozenset[str] | None:
        """Names of the deployed jobs as their worker announced them; None before the first time."""

    def announce_jobs(self, names: frozenset[str]) -> None:
        """Stores the names of the jobs this worker has."""

    def token_secret(self) -> bytes:
        """What the deployment signs page tokens with: 32 random bytes, made by the first who asks.

        Guard: there is none yet; losing means another has made it, and all have the same."""


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


class RunOnce(Protocol):
    """The idempotent call around a job: start in the ledger, body, finish or fail in the ledger."""

    def __call__(
        self, run_id: str, until: int, keep_until: int, body: Callable[[int], Outcome], /
    ) -> "RunResult":
        """Calls `body(attempt)` if the run may start. An exception of the body fails the attempt."""
