"""The slow second look at settled buckets: it repairs what should never happen, and counts it."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field

from minutero.domain.buckets import bucket_name, minutes
from minutero.domain.instants import DAY, HOUR, MINUTE
from minutero.domain.timing import Timing
from minutero.errors import Unavailable
from minutero.ports import Clock, CursorStore, Parallel, TaskQueue, TaskStore
from minutero.service.claim_batch import ClaimBatch, Tally

logger = logging.getLogger(__name__)

LOOKS = {"hour": HOUR, "day": DAY}
"""Each settled bucket is looked at twice, that long after it. A look begins where its cursor stands; the
first one of a new deployment where it can find anything at all: at the shard's own begin."""


@dataclass(slots=True)
class AuditReport:
    """What an audit found: `tally.claimed` are repairs, and should be 0."""

    tally: Tally = field(default_factory=Tally)
    buckets: int = 0
    unavailable: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Auditor:
    """What an audit works with."""

    store: TaskStore
    queue: TaskQueue
    cursors: CursorStore
    clock: Clock
    timing: Timing
    parallel: Parallel

    def audit(self, shards: Sequence[int], deadline: int) -> AuditReport:
        """Looks at every bucket whose time has come, until `deadline` (milliseconds)."""
        report = AuditReport()
        batch = ClaimBatch(self, lambda: self.clock.now() >= deadline)
        report.tally = batch.tally
        for shard in shards:
            for look, age in LOOKS.items():
                try:
                    self._look(shard, look, age, deadline, batch, report)
                except Unavailable as error:
                    # The look's cursor stays where it is: the next audit looks again.
                    report.unavailable.append(f"shard {shard}: {error}")
        return report

    def _look(
        self, shard: int, look: str, age: int, deadline: int, batch: ClaimBatch, report: AuditReport
    ) -> None:
        cursor = self.cursors.get(shard)
        if cursor is None:
            return
        last = min(cursor.watermark, self.clock.now() - age)
        start = seen = cursor.audited.get(look, cursor.first_minute)
        for minute in minutes(start + MINUTE, last):
            if self.clock.now() >= deadline:
                break
            mended = self._repair(bucket_name(minute, shard), batch)
            report.buckets += 1
            if not mended:
                break
            seen = minute
        if seen > start:
            self.cursors.audited(shard, look, seen)

    def _repair(self, bucket: str, batch: ClaimBatch) -> bool:
        """False while a claim stays open: no tick comes here any more, so the claim is an audit's, and
        the look waits before this bucket until the claim is closed or can be rescued."""
        repaired = False
        after: str | None = None
        while True:
            page = self.store.page(bucket, after)
            if page.scheduled:
                logger.error(
                    "settled bucket %s held %d scheduled tasks", bucket, len(page.scheduled)
                )
                batch.claim_and_send(bucket, page.scheduled)
            batch.bury_unreadable(bucket, page.unreadable)
            for claim in page.open_claims:
                if batch.is_rescuable(claim):
                    batch.rescue(claim)
            repaired = repaired or bool(page.scheduled or page.open_claims)
            if page.next is None:
                return not (repaired and self.store.open_claims(bucket))
            after = page.next
