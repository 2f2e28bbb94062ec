"""What goes through the ports, in and out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from minutero.domain.run import Outcome, Superseded
from minutero.domain.schedule import Fate, Link, Schedule
from minutero.domain.task import OpenClaim, Place, Pointer, Task


class Claim(StrEnum):
    """What became of the claim of one task."""

    WON = "won"
    LOST = "lost"
    UNKNOWN = "unknown"
    """Throttled, in conflict, or failed inside: ask again with the same claim id."""


class Sent(StrEnum):
    """What became of one message of a batch."""

    SENT = "sent"
    REFUSED = "refused"
    """The sender's fault: it will never be taken."""
    FAILED = "failed"
    """The queue's fault: ask again."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a bucket: what is `scheduled`, in due order, then the open claims.

    `unreadable` are the sort keys of rows that make no sense. `next` is where the next page begins, None
    at the end of the bucket.
    """

    scheduled: Sequence[Pointer]
    open_claims: Sequence[OpenClaim]
    unreadable: Sequence[str]
    next: str | None


@dataclass(frozen=True, slots=True)
class Taken:
    """A task that is claimed, and since when (milliseconds)."""

    pointer: Pointer
    claimed_at: int


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A dead run as listed: which, of what job, why and when."""

    run_id: str
    place: Place
    job: str
    tenant: str
    reason: str
    died_at: int
    keep_until: int

    @property
    def has_run(self) -> bool:
        """False for a row that could not be read: it is listed by its sort key, and no run died with it."""
        return self.run_id != self.place.sk


@dataclass(frozen=True, slots=True)
class Move:
    """A task as it lies now and as it shall lie. `token` marks the run record that the move closes.

    An attempt whose time ran out before `given_up` is given up, see `TaskStore.cancel`.
    `redrives` is the dead letter that a redrive takes back, None for a reschedule or a run-now.
    """

    task: Task
    to: Task
    token: str
    at: int
    keep_until: int
    given_up: int
    redrives: DeadLetter | None = None

    @property
    def leaves(self) -> Superseded:
        """What stays in the record of the run that the move closes."""
        task, letter = self.task, self.redrives
        left = Superseded(task.run_at, task.claim_id, task.claimed_at, task.attempts_before)
        if letter is None:
            return left
        return replace(left, redriven_at=self.at, reason=letter.reason)


class Changed(StrEnum):
    """What became of a change of a schedule."""

    DONE = "done"
    STALE = "stale"
    """The schedule is not any more as it was read: read it again."""
    STARTED = "started"
    """A task that was to be closed has started, ended or gone: look again which can be closed."""


@dataclass(frozen=True, slots=True)
class ScheduleChange:
    """A schedule as it was read and as it shall be, and all that goes with it, in one transaction.

    `adds` is the task of the link that is pending then. `closes` are links whose tasks must not run, and how
    their runs end; an attempt whose time ran out before `given_up` is given up, see `TaskStore.cancel`.
    `made_up_for` is the task of the link that was pending, if it is to be told that it is a catch-up: the
    pointer says so. `fates` are noted, those of the times `forgets` taken back. `at` and `given_up` in
    milliseconds, `keep_until` in seconds.
    """

    before: Schedule | None
    after: Schedule | None
    at: int
    keep_until: int
    given_up: int
    adds: Task | None = None
    closes: Sequence[tuple[Link, Outcome]] = ()
    made_up_for: Pointer | None = None
    fates: Sequence[Fate] = ()
    forgets: Sequence[int] = ()


@dataclass(frozen=True, slots=True)
class Growth:
    """From `since` on (milliseconds, margins included) tasks may lie in shards below `shards`."""

    shards: int
    since: int


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a shard is settled: every bucket up to the minute `watermark`, and who works on it.

    `first_minute` is the watermark it began with; `audited` names the last minute each look has seen.
    """

    shard: int
    watermark: int
    lease_owner: str = ""
    lease_until: int = 0
    first_minute: int = 0
    audited: Mapping[str, int] = field(default_factory=dict)

    def leased_to_another(self, owner: str, now: int) -> bool:
        return self.lease_owner not in ("", owner) and self.lease_until >= now


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to send: its pointer, `DelaySeconds`, and for the dead-letter queue the reason."""

    pointer: Pointer
    delay: int = 0
    reason: str = ""


class NewerMessage(Exception):
    """A message that a newer version has sent and only a newer one can read: it must be kept."""


@dataclass(frozen=True, slots=True)
class QueueDepth:
    """How many messages a queue holds, as SQS estimates: ready, held back by their delay, in hand."""

    ready: int
    delayed: int
    in_flight: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The run is over: by this call (`fresh`) or by an earlier one."""

    outcome: Outcome
    fresh: bool


@dataclass(frozen=True, slots=True)
class InProgress:
    """Another attempt has the run until then, in milliseconds."""

    until: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The attempt failed and the ledger knows."""

    attempt: int
    error: BaseException


@dataclass(frozen=True, slots=True)
class Overtaken:
    """The attempt ran out of time and another took the run: nothing was written, and nothing may be
    acknowledged."""


RunResult = Finished | InProgress | Failed | Overtaken
