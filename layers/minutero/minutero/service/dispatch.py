"""One tick over some shards: first what is due now, then the backlog, oldest first."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from minutero.domain.buckets import bucket_name, minute_of, minutes
from minutero.domain.exchanged import Growth
from minutero.domain.instants import MINUTE
from minutero.domain.task import is_late_minute
from minutero.domain.timing import Timing
from minutero.errors import Unavailable
from minutero.ports import Clock, CursorStore, Parallel, TaskQueue, TaskStore
from minutero.service.claim_batch import ClaimBatch, Tally
from minutero.service.fire import FireOccurrences
from minutero.service.settle import is_settled
from minutero.service.shards import first_watermark

logger = logging.getLogger(__name__)

SAVE_EVERY = 60 * MINUTE
"""How far the watermark gets in a long catch-up before it is saved on the way."""


@dataclass(slots=True)
class ShardReport:
    """What one tick did in one shard. `lag_ms`: how far the watermark is behind where it could be, None
    when it could not be read."""

    shard: int
    tally: Tally = field(default_factory=Tally)
    pages_read: int = 0
    lag_ms: int | None = None
    skipped: str = ""


@dataclass(frozen=True, slots=True)
class Dispatcher:
    """What a dispatcher works with; `owner` names it in leases."""

    store: TaskStore
    queue: TaskQueue
    cursors: CursorStore
    clock: Clock
    timing: Timing
    parallel: Parallel
    fire: FireOccurrences
    owner: str

    def tick(
        self,
        shards: Sequence[int],
        growth: Sequence[Growth],
        deadline: int,
        latest: int | None = None,
    ) -> list[ShardReport]:
        """One report a shard. No new batch is begun after `deadline`, and nothing is settled as if it were
        later than `latest`, whatever the clock says (milliseconds; None: the clock is right).

        [now - look-back, now + look-ahead] of all shards comes first, then their backlogs, each with its
        share of the time that is left: an outage is caught up without starving what is due now, in
        whatever shard. A shard that cannot be served is reported and left to the next tick: it keeps no
        other waiting, and what was begun in it lies under an open claim.
        """
        visits = [Visit(self, shard, growth, latest) for shard in shards]
        for waiting, visit in zip(range(len(visits), 0, -1), visits, strict=True):
            visit.begin(self._share(deadline, waiting))
        for waiting, visit in zip(range(len(visits), 0, -1), visits, strict=True):
            visit.catch_up(self._share(deadline, waiting))
        return [visit.report for visit in visits]

    def _share(self, deadline: int, waiting: int) -> int:
        now = self.clock.now()
        return now + (deadline - now) // waiting


class Visit:
    """One dispatcher's work on one shard in one tick: `begin`, then `catch_up`."""

    def __init__(
        self, dispatcher: Dispatcher, shard: int, growth: Sequence[Growth], latest: int | None
    ) -> None:
        self._d = dispatcher
        self._latest = latest
        self._shard = shard
        self._growth = growth
        self._watermark = self._saved = 0
        self._deadline = 0
        self._leased = False
        self._may_go_on = False
        self._batch = ClaimBatch(dispatcher, growth[-1].shards, self._time_is_up)
        self.report = ShardReport(shard, self._batch.tally)

    def begin(self, deadline: int) -> None:
        """Serves what is due now, unless another dispatcher has the shard."""
        self._deadline = deadline
        with self._reported():
            cursor = self._d.cursors.get(self._shard) or self._d.cursors.begin(
                self._shard, first_watermark(self._shard, self._growth)
            )
            self._watermark = self._saved = cursor.watermark
            now = self._d.clock.now()
            if cursor.leased_to_another(self._d.owner, now):
                self.report.skipped = "leased to another dispatcher"
            else:
                self._may_go_on = self._due_now(now)

    def catch_up(self, deadline: int) -> None:
        """Serves the backlog, saves how far it has come and gives the shard back."""
        self._deadline = deadline
        now = self._d.clock.now()
        if self._may_go_on:
            with self._reported():
                self._backlog(now)
        settleable = minute_of(now - self._d.timing.settle_grace) - MINUTE
        if self._saved:
            self.report.lag_ms = max(0, settleable - self._watermark)
        if self._leased or self._watermark > self._saved:
            # Also after an error: the next tick may be another process's, and must not find the shard
            # leased to this one.
            with self._reported():
                self._save(lease_until=0)

    @contextmanager
    def _reported(self) -> Iterator[None]:
        try:
            yield
        except Unavailable as error:
            told = {"shard": self._shard, "owner": self._d.owner, "error": str(error)}
            logger.warning("a shard is left to the next tick", extra=told)
            self.report.skipped = f"unavailable: {error}"
            self._may_go_on = False

    def _due_now(self, now: int) -> bool:
        timing = self._d.timing
        return all(
            self._serve(minute) is not _STOP
            for minute in minutes(now - timing.look_back, now + timing.look_ahead)
        )

    def _backlog(self, now: int) -> None:
        """The watermark moves over settled buckets only, and over none behind one that is not; the
        buckets behind that one are served all the same."""
        timing = self._d.timing
        settled_by = now if self._latest is None else min(now, self._latest)
        contiguous = True
        for minute in minutes(self._watermark + MINUTE, now - timing.look_back - MINUTE):
            served = self._serve(minute)
            if served is _STOP or self._time_is_up():
                return
            contiguous = contiguous and is_late_minute(minute, settled_by, timing.settle_grace)
            contiguous = contiguous and is_settled(
                self._d.store, bucket_name(minute, self._shard), pass_was_clean=served is _CLEAN
            )
            if contiguous:
                self._watermark = minute
                if minute - self._saved >= SAVE_EVERY and not self._save(self._new_lease()):
                    return

    def _serve(self, minute: int) -> str:
        """One pass over a bucket: claims and sends what is scheduled, rescues what was left behind."""
        bucket = bucket_name(minute, self._shard)
        served = _CLEAN
        after: str | None = None
        while not self._time_is_up():
            page = self._d.store.page(bucket, after)
            self.report.pages_read += 1
            abandoned = [claim for claim in page.open_claims if self._batch.is_rescuable(claim)]
            if page.scheduled or page.unreadable or abandoned:
                if not self._lease():
                    return _STOP
                served = _DIRTY
            if page.scheduled:
                self._batch.serve(bucket, page.scheduled)
            if page.unreadable:
                self._batch.bury_unreadable(bucket, page.unreadable)
            for claim in abandoned:
                self._batch.rescue(claim)
            if page.next is None:
                return served
            after = page.next
        return _STOP

    def _lease(self) -> bool:
        """Taken with the first work found, so that an idle tick writes nothing for it."""
        if not self._leased:
            self._leased = self._d.cursors.lease(
                self._shard, self._d.owner, self._d.clock.now(), self._new_lease()
            )
            if not self._leased:
                self.report.skipped = "another dispatcher took the shard meanwhile"
        return self._leased

    def _new_lease(self) -> int:
        return self._d.clock.now() + self._d.timing.shard_lease

    def _save(self, lease_until: int) -> bool:
        now = self._d.clock.now()
        saved = self._d.cursors.advance(
            self._shard, self._d.owner, now, self._watermark, lease_until
        )
        if saved:
            self._saved, self._leased = self._watermark, lease_until > 0
        return saved

    def _time_is_up(self) -> bool:
        return self._d.clock.now() >= self._deadline


_CLEAN = "nothing scheduled, all read"
_DIRTY = "served"
_STOP = "no time left, or the shard lost"
