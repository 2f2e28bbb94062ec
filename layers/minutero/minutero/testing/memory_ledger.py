"""The run ledger in memory, and the idempotent call over any ledger."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import replace

from minutero.domain.exchanged import Failed, Finished, InProgress, Overtaken, RunResult
from minutero.domain.run import Attempt, Ending, Outcome, RunRecord, short
from minutero.ports import Clock, RunLedger


class MemoryRunLedger:
    """`RunLedger` over a dict. `keep_until` holds each record's end of retention, in seconds."""

    def __init__(self) -> None:
        self.records: dict[str, RunRecord] = {}
        self.keep_until: dict[str, int] = {}

    def living(self, run_id: str, now: int) -> RunRecord | None:
        """The record, unless its retention has passed (DynamoDB deletes it some time after)."""
        if self.keep_until.get(run_id, 0) * 1000 < now:
            return None
        return self.records.get(run_id)

    def start(self, run_id: str, owner: str, now: int, until: int, keep_until: int) -> RunRecord:
        known = self.living(run_id, now) or RunRecord(run_id, attempts=0, in_progress_until=0)
        if known.owner == owner or not known.may_start(now):
            return known
        # Written out, here and in `finish`: `replace` takes three times as long, and a task starts and ends.
        started = RunRecord(
            run_id,
            known.attempts + 1,
            until,
            owner=owner,
            started_at=now if known.started_at is None else known.started_at,
            failures=known.failures,
            starts=(*known.starts, now) if now not in known.starts else known.starts,
        )
        self.records[run_id] = started
        self.keep_until[run_id] = keep_until
        return started

    def close(self, run_id: str, outcome: Outcome, now: int, keep_until: int) -> RunRecord:
        return self.end_unowned(run_id, outcome, now, keep_until, given_up=now)

    def end_unowned(
        self,
        run_id: str,
        outcome: Outcome,
        now: int,
        keep_until: int,
        given_up: int,
        token: str = "",
    ) -> RunRecord:
        """Part of every transition that takes the lock a start takes; the record as it then is."""
        known = self.living(run_id, now) or RunRecord(run_id, attempts=0, in_progress_until=0)
        if not known.may_start(given_up):
            return known
        ended = replace(known, outcome=outcome, owner=token, in_progress_until=0, finished_at=now)
        self.records[run_id] = ended
        self.keep_until[run_id] = keep_until
        return ended

    def take_back(self, run_id: str, outcome: Outcome, token: str = "") -> RunRecord:
        """Part of a redrive and of a discard. Guard: the outcome is dead. The record as it then is."""
        known = self.records.get(run_id) or RunRecord(run_id, attempts=0, in_progress_until=0)
        if known.outcome is None or known.outcome.ending is not Ending.DEAD:
            return known
        self.records[run_id] = replace(known, outcome=outcome, owner=token)
        return self.records[run_id]

    def finish(self, run_id: str, owner: str, outcome: Outcome, now: int) -> bool:
        known = self.records.get(run_id)
        if known is None or known.owner != owner:
            return False
        if known.outcome is None:
            self.records[run_id] = RunRecord(
                run_id,
                known.attempts,
                known.in_progress_until,
                outcome,
                owner,
                known.started_at,
                finished_at=now,
                failures=known.failures,
                starts=known.starts,
            )
        return True

    def fail(self, run_id: str, owner: str, error: str, now: int) -> bool:
        known = self.records.get(run_id)
        if known is None or known.owner != owner or known.outcome is not None:
            return False
        failures = known.failures
        if known.in_progress_until != 0:
            failures = (*failures, Attempt(known.attempts, now, error))
        self.records[run_id] = replace(known, in_progress_until=0, failures=failures)
        return True

    def get(self, run_id: str) -> RunRecord | None:
        return self.records.get(run_id)

    def get_many(self, run_ids: Sequence[str]) -> dict[str, RunRecord]:
        return {run_id: self.records[run_id] for run_id in run_ids if run_id in self.records}

    def known(self, run_ids: Sequence[str]) -> frozenset[str]:
        return frozenset(run_ids) & self.records.keys()


class LedgerRunOnce:
    """`RunOnce` over any ledger, as the Powertools one does it, with nothing else around it."""

    def __init__(self, ledger: RunLedger, clock: Clock) -> None:
        self._ledger = ledger
        self._clock = clock

    def __call__(
        self, run_id: str, until: int, keep_until: int, body: Callable[[int], Outcome], /
    ) -> RunResult:
        owner = secrets.token_hex(8)
        record = self._ledger.start(run_id, owner, self._clock.now(), until, keep_until)
        if record.outcome is not None:
            return Finished(record.outcome, fresh=False)
        if record.owner != owner:
            return InProgress(record.in_progress_until)
        try:
            outcome = body(record.attempts)
        except Exception as error:  # noqa: BLE001 - whatever a job raises is a failed attempt
            known = self._ledger.fail(run_id, owner, short(error), self._clock.now())
            return Failed(record.attempts, error) if known else Overtaken()
        if not self._ledger.finish(run_id, owner, outcome, self._clock.now()):
            return Overtaken()
        return Finished(outcome, fresh=True)
