"""The slow second look at settled buckets: it repairs what should never happen, and counts it."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from minutero.domain.buckets import bucket_name, minutes
from minutero.domain.exchanged import Outgoing, Sent, Taken
from minutero.domain.instants import DAY, HOUR, MINUTE
from minutero.domain.task import Pointer
from minutero.domain.timing import Timing
from minutero.errors import Unavailable
from minutero.ports import Clock, CursorStore, Parallel, RunLedger, TaskQueue, TaskStore
from minutero.service.claim_batch import SEND_CHUNK, ClaimBatch, Tally, chunks
from minutero.service.fire import FireOccurrences

logger = logging.getLogger(__name__)

FIRST_LOOK = "hour"
LOOKS = {FIRST_LOOK: HOUR, "day": DAY}
"""Each settled bucket is looked at twice, that long after it; the first look also at what is claimed. A look
begins where its cursor stands; the first one of a new deployment where it can find anything at all: at the
shard's own begin."""

SENT_BY_THEN = 15 * MINUTE
"""A claim is sent within the life of its dispatcher, or of the one that rescues it, and a few minutes more
are harmless: a message sent again for nothing finds its run."""

RUNS_CHUNK = 100
"""The most BatchGetItem takes."""


@dataclass(slots=True)
class AuditReport:
    """What an audit found."""

    tally: Tally = field(default_factory=Tally)
    buckets: int = 0
    sent_again: int = 0
    rearmed: int = 0
    unavailable: list[str] = field(default_factory=list)

    @property
    def repairs(self) -> int:
        """Tasks and schedules that no tick and no message would have run any more; it should be 0."""
        return self.tally.claimed + self.sent_again + self.rearmed


@dataclass(frozen=True, slots=True)
class Auditor:
    """What an audit works with. `oldest_message(now)` tells when the oldest message of the tasks queue was
    sent, in milliseconds, or None when that is not known."""

    store: TaskStore
    ledger: RunLedger
    queue: TaskQueue
    cursors: CursorStore
    clock: Clock
    timing: Timing
    parallel: Parallel
    fire: FireOccurrences
    oldest_message: Callable[[int], int | None]

    def audit(self, shards: Sequence[int], deadline: int) -> AuditReport:
        """Looks at every bucket whose time has come, until `deadline` (milliseconds)."""
        report = AuditReport()
        batch = ClaimBatch(self, len(shards), lambda: self.clock.now() >= deadline)
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
            bucket = bucket_name(minute, shard)
            mended = self._repair(bucket, batch)
            if look == FIRST_LOOK:
                mended = self._send_lost(bucket, report) and mended
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
                ids = [pointer.task_id for pointer in page.scheduled]
                told = {"bucket": bucket, "task_ids": ids}
                logger.error("a settled bucket held scheduled tasks", extra=told)
                batch.serve(bucket, page.scheduled)
            batch.bury_unreadable(bucket, page.unreadable)
            for claim in page.open_claims:
                if batch.is_rescuable(claim):
                    batch.rescue(claim)
            repaired = repaired or bool(page.scheduled or page.open_claims)
            if page.next is None:
                return not (repaired and self.store.open_claims(bucket))
            after = page.next

    def _send_lost(self, bucket: str, report: AuditReport) -> bool:
        """Sends again what was claimed and sent, shows no run, and whose message is gone: every message
        still in the queue is younger than the claim. False when the queue did not take it all: the look
        waits before this bucket."""
        all_sent = True
        after: str | None = None
        while True:
            taken, after = self.store.page_taken(bucket, after)
            for chunk in chunks(taken, RUNS_CHUNK):
                lost = self._lost(chunk)
                sent = self._send_again(lost)
                report.sent_again += sent
                all_sent = all_sent and sent == len(lost)
            if after is None:
                return all_sent

    def _lost(self, taken: Sequence[Taken]) -> list[Pointer]:
        """Nothing, while it is not known how old the queue's oldest message is."""
        known = self.ledger.known([one.pointer.run_id for one in taken])
        unseen = [one for one in taken if one.pointer.run_id not in known]
        oldest = self.oldest_message(self.clock.now()) if unseen else None
        if oldest is None:
            return []
        return [one.pointer for one in unseen if one.claimed_at + SENT_BY_THEN < oldest]

    def _send_again(self, lost: Sequence[Pointer]) -> int:
        answers: list[Sent] = []
        for chunk in chunks(lost, SEND_CHUNK):
            ids = [pointer.task_id for pointer in chunk]
            logger.error("claimed tasks had lost their messages", extra={"task_ids": ids})
            answers += self.queue.send([Outgoing(pointer) for pointer in chunk])
        return sum(answer is Sent.SENT for answer in answers)
