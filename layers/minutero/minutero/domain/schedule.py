"""A schedule: its definition, where its chain of occurrences has come to, and the next link."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from minutero.domain.instants import DAY, SECOND
from minutero.domain.new_task import INLINE_PAYLOAD_LIMIT
from minutero.domain.occurrence import Occurrence, Overlap, Trigger
from minutero.domain.task import Pointer, Task, first_place, shard_of, task_id_from
from minutero.domain.times import Times
from minutero.domain.timetable import OnGap, OnOverlap

MisfirePolicy = Literal["skip", "once", "all"]

DEFAULT_GRACE_SECONDS = 300
"""An occurrence this late still runs as if it were in time: a tick or two may fail without a misfire."""

DEFAULT_CATCH_UP = 100
MOST_CATCH_UP = 1_000
LONGEST_GRACE = 31 * DAY // SECOND
LONGEST_JITTER = DAY // SECOND


PARTITIONS = 16
"""Partitions the schedules lie in, so that they can be listed and audited by query."""


def partition_of(name: str) -> int:
    """The partition of a schedule, by a hash of its name."""
    return shard_of(name.encode(), PARTITIONS)


@dataclass(frozen=True, slots=True)
class Misfire:
    """What becomes of times that are found later than the grace: none runs, the latest, or the latest
    `max_catch_up`."""

    policy: MisfirePolicy = "once"
    grace_seconds: int = DEFAULT_GRACE_SECONDS
    max_catch_up: int = DEFAULT_CATCH_UP


@dataclass(frozen=True, slots=True)
class Definition:
    """What a schedule's owner says of it; `payload` is JSON text, start and end are milliseconds."""

    job: str
    expression: str
    timezone: str = "UTC"
    payload: str | None = None
    start_at: int | None = None
    end_at: int | None = None
    jitter_seconds: int = 0
    on_gap: OnGap = "skip"
    on_overlap: OnOverlap = "first"
    misfire: Misfire = field(default_factory=Misfire)
    overlap: Overlap = "allow"
    max_attempts: int = 5
    tenant: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """An occurrence of the chain: the time the rule names, when it is due, and its task."""

    nominal: int
    run_at: int
    task_id: str

    def is_ahead(self, now: int) -> bool:
        """It has not come yet; one that somebody cancels or moves is not before its time either."""
        return self.run_at > now or self.nominal > now


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule as it is stored. Times in milliseconds.

    `anchor` is what a rate counts from. `pending` is the link that is to fire next: None while paused, and
    when the rule has ended. `fired` are those that fired and are not due yet, and the last that was.
    Up to `catch_up_until`, times are made up for whatever the misfire policy says. `paused_since` is the
    first instant whose times a pause takes; None while enabled. `fired_at` is when a link fired last: links
    that had come by then may be forgotten, so that nobody whose clock is behind it may judge by that clock.
    """

    name: str
    version: int
    definition: Definition
    anchor: int
    created_at: int
    changed_at: int
    pending: Link | None = None
    fired: tuple[Link, ...] = ()
    catch_up_until: int = 0
    paused_since: int | None = None
    paused_reason: str = ""
    fired_at: int = 0

    @property
    def enabled(self) -> bool:
        return self.paused_since is None

    @property
    def times(self) -> Times:
        said = self.definition
        return Times(
            said.expression,
            said.timezone,
            self.anchor,
            said.start_at,
            said.end_at,
            said.on_gap,
            said.on_overlap,
        )

    def first_time(self, now: int, since: int) -> int | None:
        """The first time after `since` whose occurrence is still to come, maybe by its jitter alone."""
        earliest = max(since, now - self.definition.jitter_seconds * SECOND)
        return next((time for time in self.times_left(earliest) if self.due_at(time) > now), None)

    def times_left(self, after: int) -> Iterator[int]:
        """Its times after an instant, but for those whose occurrences have fired out of turn: somebody has
        cancelled or moved them, or they had begun when an edit closed the ones before."""
        fired = {link.nominal for link in self.fired}
        return (time for time in self.times.after(after) if time not in fired)

    def latest_left(self, first: int, last: int, most: int) -> Sequence[int]:
        """The latest `most` of those from `first` to `last`, both included, ascending."""
        fired = {link.nominal for link in self.fired}
        found = self.times.latest(first, last, most + len(fired))
        return [time for time in found if time not in fired][-most:]

    def due_at(self, nominal: int) -> int:
        """When the occurrence of a time is due: with the jitter, and always before the next time."""
        jitter = self.definition.jitter_seconds * SECOND
        if jitter == 0:
            return nominal
        following = self.times.next(nominal)
        bound = jitter if following is None else min(jitter, following - nominal - SECOND)
        seed = hashlib.blake2b(f"{self.name}#{nominal}".encode(), digest_size=8).digest()
        return nominal + int.from_bytes(seed, "big") % (max(0, bound) + 1)

    def link(self, nominal: int, now: int, shards: int) -> Link:
        """The link of a time. One that is past is due now.

        The id derives from schedule, version and time, its shard from the name: who makes the same link
        twice makes the same task.
        """
        run_at = max(self.due_at(nominal), now)
        made_of = f"{self.name}#{self.created_at}#{self.version}#{nominal}"
        random = hashlib.blake2b(made_of.encode(), digest_size=11).digest()
        task_id = task_id_from(run_at, shard_of(self.name.encode(), shards), random)
        return Link(nominal, run_at, task_id)

    def is_late(self, nominal: int, now: int) -> bool:
        """Later than its grace: a misfire."""
        return self.due_at(nominal) + self.definition.misfire.grace_seconds * SECOND < now

    def task(
        self, link: Link, now: int, retention: int, trigger: Trigger = Trigger.SCHEDULE
    ) -> Task:
        """The task of a link, as it is first stored."""
        said = self.definition
        payload = said.payload
        return Task(
            task_id=link.task_id,
            run_no=0,
            place=first_place(link.task_id),
            job=said.job,
            run_at=link.run_at,
            created_at=now,
            keep_until=(link.run_at + retention) // SECOND,
            payload=payload,
            large=payload is not None and len(payload.encode()) > INLINE_PAYLOAD_LIMIT,
            tenant=said.tenant,
            max_attempts=said.max_attempts,
            occurrence=self._occurrence(link.nominal, now, trigger),
        )

    def _occurrence(self, nominal: int, now: int, trigger: Trigger) -> Occurrence:
        catches_up = nominal <= self.catch_up_until or self.is_late(nominal, now)
        return Occurrence(
            self.name,
            self.version,
            nominal,
            trigger,
            is_catch_up=catches_up and trigger is Trigger.SCHEDULE,
            overlap=self.definition.overlap,
        )

    def with_fired(self, link: Link, now: int) -> "Schedule":
        """The same after that link has fired. Of those that have come, and that the chain has passed, the
        last is kept."""
        links = sorted((*self.fired, link), key=lambda one: one.nominal)
        ahead = [one for one in links if one.is_ahead(now) or one.nominal > link.nominal]
        last = [one for one in links if one not in ahead][-1:]
        return replace(self, fired=(*last, *ahead), fired_at=max(now, self.fired_at))

    def next_run_at(self, now: int) -> int | None:
        """The time that comes next, or one that is overdue; None while paused and after the end."""
        ahead = [link.nominal for link in self.fired if link.run_at > now]
        if self.pending is not None:
            ahead.append(self.pending.nominal)
        return min(ahead, default=None)

    def last_run_at(self, now: int) -> int | None:
        """The last time that fired and has come; None before the first."""
        return max(
            (link.nominal for link in self.fired if not link.is_ahead(now)),
            default=None,
        )


def pointer_to(link: Link) -> Pointer:
    """To the task of a link, as long as nobody has moved it."""
    return Pointer(first_place(link.task_id), link.run_at)


FateName = Literal["fired", "misfire", "paused", "changed", "lost"]
"""What became of a time: its occurrence fired, or it was left out, and why."""


@dataclass(frozen=True, slots=True)
class Fate:
    """What became of the times from `first` to `last`, both included; one that fired stands alone and names
    its task. `times` is what they are times of: by the time somebody asks, the schedule may have others.
    """

    name: FateName
    first: int
    last: int
    times: Times
    task_id: str = ""
