"""Claim a batch, send it, close the claim: how a task gets from the store to the queue, and how a batch
whose dispatcher died gets there all the same."""

import logging
import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol, TypeVar

from minutero.domain.exchanged import Claim, DeadLetter, Outgoing, Sent
from minutero.domain.instants import SECOND
from minutero.domain.task import OpenClaim, Place, Pointer, delay_seconds
from minutero.domain.timing import Timing
from minutero.ports import Clock, Parallel, TaskQueue, TaskStore
from minutero.service.fire import FireOccurrences

logger = logging.getLogger(__name__)

Result = TypeVar("Result", Claim, Sent)
Item = TypeVar("Item")

CLAIM_CHUNK = 25
SEND_CHUNK = 10
"""The most BatchExecuteStatement and SendMessageBatch take."""

FIRST_PAUSE = 50
LONGEST_PAUSE = SECOND
LATENESSES = 1_000
UNSENDABLE = "the queue refused the message for good"


@dataclass(slots=True)
class Tally:
    """What a tick or an audit did, counted in tasks."""

    claimed: int = 0
    claims_lost: int = 0
    sent: int = 0
    rescued: int = 0
    buried: int = 0
    left_open: int = 0
    lateness_ms: list[int] = field(default_factory=list)

    def late(self, lateness_ms: Sequence[int]) -> None:
        """Of many only some are kept, roughly spread and the greatest among them: nothing in a tick grows
        with its bucket."""
        step = 1 + self.claimed // LATENESSES
        self.lateness_ms += sorted(lateness_ms, reverse=True)[::step]
        if len(self.lateness_ms) > 2 * LATENESSES:
            self.lateness_ms = sorted(self.lateness_ms, reverse=True)[::2]


class BatchPorts(Protocol):
    """What claiming needs; a dispatcher and an auditor both have it."""

    @property
    def store(self) -> TaskStore: ...
    @property
    def queue(self) -> TaskQueue: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def timing(self) -> Timing: ...
    @property
    def parallel(self) -> Parallel: ...
    @property
    def fire(self) -> FireOccurrences: ...


class ClaimBatch:
    """Claims and sends batches of one bucket each, under open claims.

    Occurrences that come next lie in one of so many `shards`. `time_is_up` stops the repeating of unknown
    answers; what is left then stays under its open claim, and the tick that finds the claim older than its
    lease rescues it.
    """

    def __init__(self, ports: BatchPorts, shards: int, time_is_up: Callable[[], bool]) -> None:
        self._store = ports.store
        self._queue = ports.queue
        self._clock = ports.clock
        self._timing = ports.timing
        self._parallel = ports.parallel
        self._fire = ports.fire
        self._shards = shards
        self._time_is_up = time_is_up
        self.tally = Tally()

    def serve(self, bucket: str, tasks: Sequence[Pointer]) -> None:
        """Takes what is `scheduled` in a bucket: first the tasks of their own, which wait for nothing, then
        occurrences, each once its schedule has the next."""
        links = [task for task in tasks if task.is_a_link]
        alone = [task for task in tasks if not task.is_a_link] if links else tasks
        if alone:
            self.claim_and_send(bucket, alone)
        if links:
            ready: dict[str, list[Pointer]] = {}
            for link in self._fire(links, self._shards, self._time_is_up):
                ready.setdefault(link.place.bucket, []).append(link)
            for place, fired in ready.items():
                self.claim_and_send(place, fired)

    def claim_and_send(self, bucket: str, tasks: Sequence[Pointer]) -> None:
        """Takes what is `scheduled`."""
        claim = self._open(bucket, after=0)
        if self._take(claim, tasks, taken_from=None):
            self._store.close_claim(claim)

    def rescue(self, old: OpenClaim) -> None:
        """Takes over the batch of a claim whose lease has run out.

        The own claim is opened, with a later key, before the old one is deleted: a query of the open
        claims that runs meanwhile sees one of them. The old one is deleted only when nothing is left
        claimed under it; a task its owner had sent already is sent twice, and runs once.
        """
        claim = self._open(old.bucket, after=old.opened_at)
        logger.warning(
            "rescuing an open claim", extra={**_claim_fields(claim), "taken_from": old.claim_id}
        )
        taken = True
        for tasks in self._claimed_under(old):
            taken = self._take(claim, tasks, taken_from=old.claim_id) and taken
            self.tally.rescued += len(tasks)
        if not any(self._claimed_under(old)):
            self._store.close_claim(old)
        if taken:
            self._store.close_claim(claim)

    def is_rescuable(self, claim: OpenClaim) -> bool:
        """True when its lease has run out: its owner has been ended by its own time-out long before."""
        return claim.opened_at + self._timing.claim_lease < self._clock.now()

    def _open(self, bucket: str, after: int) -> OpenClaim:
        opened_at = max(self._clock.now(), after + 1)
        claim = OpenClaim(bucket, secrets.token_hex(8), opened_at)
        self._store.open_claim(claim)
        logger.info("claim opened", extra=_claim_fields(claim))
        return claim

    def _claimed_under(self, claim: OpenClaim) -> Iterator[Sequence[Pointer]]:
        after: str | None = None
        while True:
            page = self._store.page_claimed(claim.bucket, claim.claim_id, after)
            if page.scheduled:
                yield page.scheduled
            if page.next is None:
                return
            after = page.next

    def _take(self, claim: OpenClaim, tasks: Sequence[Pointer], taken_from: str | None) -> bool:
        """Claims, and sends what was won. True when every task is lost, sent or dead: then, and only then,
        the claim may be closed.

        Unknown answers are asked for again with the same claim id: what was taken by a call whose answer
        got lost shows that id, and is ours. What was won meanwhile does not wait for them.
        """
        at = self._clock.now()
        ask = partial(self._claim_chunk, claim_id=claim.claim_id, at=at, taken_from=taken_from)
        pending, unsent = list(tasks), list[Pointer]()
        for _ in self._tries():
            won, pending = self._claim(pending, ask)
            self.tally.late([at - task.due for task in won if at > task.due])
            unsent = self._send(unsent + won)
            if not pending and not unsent:
                return True
        self.tally.left_open += len(pending) + len(unsent)
        told = {**_claim_fields(claim), "unknown": len(pending), "unsent": len(unsent)}
        logger.warning("claim left open", extra=told)
        return False

    def _claim(
        self, tasks: Sequence[Pointer], ask: Callable[[Sequence[Pointer]], list[Claim]]
    ) -> tuple[list[Pointer], list[Pointer]]:
        """(won, unknown)."""
        results = self._results(ask, tasks, CLAIM_CHUNK)
        won = [task for task, answer in results if answer is Claim.WON]
        unknown = [task for task, answer in results if answer is Claim.UNKNOWN]
        self.tally.claimed += len(won)
        self.tally.claims_lost += len(results) - len(won) - len(unknown)
        return won, unknown

    def _send(self, tasks: Sequence[Pointer]) -> list[Pointer]:
        """What must be sent again. Every entry of every answer is read."""
        results = self._results(self._send_chunk, tasks, SEND_CHUNK)
        self.tally.sent += sum(answer is Sent.SENT for _, answer in results)
        for task in (task for task, answer in results if answer is Sent.REFUSED):
            self._bury(task, UNSENDABLE)
        return [task for task, answer in results if answer is Sent.FAILED]

    def _results(
        self, ask: Callable[[Sequence[Pointer]], list[Result]], tasks: Sequence[Pointer], size: int
    ) -> list[tuple[Pointer, Result]]:
        """What became of each task, asked in chunks side by side."""
        answers = self._parallel(ask, chunks(tasks, size)) if tasks else []
        return list(zip(tasks, (one for chunk in answers for one in chunk), strict=True))

    def _claim_chunk(
        self, chunk: Sequence[Pointer], claim_id: str, at: int, taken_from: str | None
    ) -> list[Claim]:
        return self._store.claim([task.place for task in chunk], claim_id, at, taken_from)

    def _send_chunk(self, chunk: Sequence[Pointer]) -> list[Sent]:
        now = self._clock.now()
        return self._queue.send([Outgoing(task, delay_seconds(task.due, now)) for task in chunk])

    def _bury(self, task: Pointer, reason: str) -> None:
        now = self._clock.now()
        stored = self._store.get(task.place)
        if stored is None:
            return
        keep_until = max(stored.keep_until, (now + self._timing.retention) // SECOND)
        letter = DeadLetter(
            task.run_id, task.place, stored.job, stored.tenant, reason, now, keep_until
        )
        self.tally.buried += self._store.bury(letter)

    def bury_unreadable(self, bucket: str, sort_keys: Sequence[str]) -> None:
        """Rows that make no sense are counted and made dead: never skipped, never in the way."""
        now = self._clock.now()
        keep_until = (now + self._timing.retention) // SECOND
        for sk in sort_keys:
            self._store.bury_unreadable(
                Place(bucket, sk), "the row cannot be read", now, keep_until
            )
            self.tally.buried += 1

    def _tries(self) -> Iterator[int]:
        """At least one try; then more, with growing pauses, while time is left."""
        pause = FIRST_PAUSE
        yield 0
        while not self._time_is_up():
            self._clock.sleep(pause)
            pause = min(LONGEST_PAUSE, pause * 2)
            yield pause


def _claim_fields(claim: OpenClaim) -> dict[str, str]:
    return {"claim_id": claim.claim_id, "bucket": claim.bucket}


def chunks(tasks: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Slices of at most `size`."""
    return [tasks[start : start + size] for start in range(0, len(tasks), size)]
