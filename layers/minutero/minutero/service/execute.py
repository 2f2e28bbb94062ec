"""Run a task: what the worker does with one message."""

import json
import logging
import math
import secrets
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from minutero.domain.exchanged import Failed, Finished, InProgress, Move, Outgoing, RunResult, Sent
from minutero.domain.instants import SECOND
from minutero.domain.metrics import SILENT, Metric
from minutero.domain.occurrence import Trigger
from minutero.domain.retry import LONGEST_DELAY, backoff
from minutero.domain.run import Ending, Outcome, bounded, short, succeeded
from minutero.domain.task import Pointer, Task, delay_seconds
from minutero.domain.timing import Timing
from minutero.errors import PermanentFailure, RetryLater
from minutero.jobs import Job, JobRegistry, Run, Skipped
from minutero.ports import Clock, Meter, RunOnce, Slots, TaskQueue, TaskStore
from minutero.service import log_fields, overlap
from minutero.service.overlap import OneAtATime
from minutero.transaction import SlotsOfRun

logger = logging.getLogger(__name__)

ENDED = {
    Ending.SUCCEEDED: Metric.SUCCEEDED,
    Ending.SKIPPED: Metric.SKIPPED,
    Ending.EXPIRED: Metric.EXPIRED,
    Ending.DEAD: Metric.DEAD,
}
"""The endings a worker writes."""

ATTEMPTS_SPENT = "attempts spent; the last one was started and never told its end"


class Verdict(StrEnum):
    """What became of a message. All but KEPT are acknowledged."""

    ENDED = "ended"
    """The run ended here."""
    KNOWN = "known"
    """The run had ended before: a duplicate."""
    RESENT = "resent"
    """It comes again later: early, in progress, or to be retried."""
    ORPHAN = "orphan"
    """There is no such task any more."""
    KEPT = "kept"
    """Left to its visibility time-out, after which SQS delivers it again."""


@dataclass(frozen=True, slots=True)
class Execute:
    """Runs one message's task. `chance` gives numbers from 0 to 1, for the jitter of retries; `contained`
    surrounds the call of a job.

    Payloads are other people's data: they are logged with `log_payloads` alone.
    """

    store: TaskStore
    queue: TaskQueue
    run_once: RunOnce
    one_at_a_time: OneAtATime
    slots: Slots
    jobs: JobRegistry
    clock: Clock
    timing: Timing
    chance: Callable[[], float]
    meter: Meter = SILENT
    log_payloads: bool = False
    contained: Callable[[], AbstractContextManager[None]] = nullcontext

    def __call__(self, pointer: Pointer, task: Task | None, deadline: int) -> Verdict:
        """One delivery. `deadline`: when this process will be ended, in milliseconds.

        Raises Unavailable: the message must then be kept.
        """
        if task is None:
            # Moved away and run there, or past its retention: no promise is left to keep.
            logger.warning(
                "no such task any more, message dropped", extra=log_fields.of_pointer(pointer)
            )
            return Verdict.ORPHAN
        now = self.clock.now()
        due = max(task.run_at, pointer.due)
        if due > now:
            # By this worker's own clock: nothing starts early, whatever a queue or another clock did.
            return self._resend(pointer, due - now)
        may_run = self.one_at_a_time.may_run(task, deadline)
        if not may_run:
            self.meter.add(Metric.OVERLAPS)
            if self.one_at_a_time.waits(task):
                return self._resend(pointer, overlap.PAUSE)
        result = self.run(task, deadline, may_run=may_run)
        return self._conclude(pointer, task, result)

    def run(self, task: Task, deadline: int, *, may_run: bool = True) -> RunResult:
        """One attempt of a task's run, unless another has it or it is over; by whatever way the task came.

        Raises Unavailable.
        """
        return self.run_once(
            task.run_id,
            deadline + self.timing.run_margin,
            (self.clock.now() + self.timing.retention) // SECOND,
            lambda attempt: (
                self._attempt(task, attempt, deadline)
                if may_run
                else overlap.skipped(attempt + task.attempts_before)
            ),
        )

    def _attempt(self, task: Task, attempt: int, deadline: int) -> Outcome:
        """One attempt, inside the idempotent call. What is final is returned, a failure that may be tried
        again is raised."""
        now = self.clock.now()
        if now >= deadline:
            # It was held up since its start, and may be given up by now: another has the run then, and has
            # perhaps ended it. If none has, this attempt fails and is followed by one with time.
            raise TimeoutError("its time was over before it began")
        attempt += task.attempts_before
        if attempt > task.max_attempts:
            return Outcome(Ending.DEAD, reason=ATTEMPTS_SPENT)
        if attempt == 1 and task.expires_at is not None and now > task.expires_at:
            return Outcome(
                Ending.EXPIRED, reason=f"due {now - task.run_at} ms before its first start"
            )
        self._tell_start(task, attempt, now)
        try:
            return self._call(self.jobs.get(task.job), task, self._run(task, attempt, deadline))
        except Skipped as skipped:
            return Outcome(Ending.SKIPPED, reason=bounded(str(skipped)))
        except PermanentFailure as failure:
            return Outcome(Ending.DEAD, reason=short(failure))
        except Exception as error:
            if attempt < task.max_attempts:
                raise
            return Outcome(Ending.DEAD, reason=short(error))

    def _call(self, job: Job | None, task: Task, run: Run) -> Outcome:
        if job is None:
            # It may be there with the next deployment, so it is tried again like any failure.
            raise LookupError(f"no job named {task.job!r} is deployed")
        payload = None if task.payload is None else json.loads(task.payload)
        with self.contained():
            result = job.function(payload, run)
        if result is None and job.result_required:
            raise ValueError(f"job {job.name!r} returned nothing, and its result is required")
        return succeeded(result)

    def _tell_start(self, task: Task, attempt: int, now: int) -> None:
        self.meter.add(Metric.STARTED)
        if attempt == 1:
            self.meter.add(Metric.LATENESS_AT_START, max(0, now - task.run_at))
        if self.log_payloads:
            logger.info(
                "attempt %d starts",
                attempt,
                extra={**log_fields.of_task(task), "payload": task.payload},
            )

    def _run(self, task: Task, attempt: int, deadline: int) -> Run:
        of = task.occurrence
        return Run(
            task_id=task.task_id,
            key=task.task_id,
            attempt=attempt,
            run_at=_moment(task.run_at),
            scheduled_for=_moment(of.nominal if of else task.run_at),
            trigger=of.trigger if of else Trigger.TASK,
            is_catch_up=of is not None and of.is_catch_up,
            _remaining=lambda: max(0, deadline - self.clock.now()) / SECOND,
            _slots=SlotsOfRun(self.slots, task.job, task.task_id, self.clock),
        )

    def _conclude(self, pointer: Pointer, task: Task, result: RunResult) -> Verdict:
        pause = self._pause(result.attempt, result.error) if isinstance(result, Failed) else 0
        self.one_at_a_time.concluded(task, result, pause)
        match result:
            case Finished(outcome, fresh):
                self._tell_end(task, outcome, fresh=fresh)
                if outcome.ending is Ending.DEAD:
                    # Also when it was found dead: whoever ended it may have crashed before this line.
                    self.queue.send_dead(Outgoing(pointer, reason=outcome.reason))
                return Verdict.ENDED if fresh else Verdict.KNOWN
            case InProgress(until):
                # Never merely acknowledged: the attempt that has it may have crashed.
                # A millisecond more: at its very end an attempt still counts as running.
                return self._resend(pointer, until + 1 - self.clock.now())
            case Failed(attempt, error):
                self.meter.add(Metric.FAILED)
                told = {**log_fields.of_task(task), "error": short(error)}
                logger.info("attempt %d failed", attempt, extra=told)
                return self._retry(pointer, task, attempt, pause)
            case _:
                logger.warning("overtaken after its time-out", extra=log_fields.of_task(task))
                return Verdict.KEPT

    def _tell_end(self, task: Task, outcome: Outcome, *, fresh: bool) -> None:
        """Of an ending written here, not of one that was found. Results are never logged."""
        if not fresh:
            self.meter.add(Metric.DUPLICATES)
            return
        self.meter.add(ENDED[outcome.ending])
        if logger.isEnabledFor(logging.INFO):
            told = {**log_fields.of_task(task), "ending": outcome.ending, "reason": outcome.reason}
            logger.info("run ended", extra=told)

    def _pause(self, attempt: int, error: BaseException) -> int:
        if isinstance(error, RetryLater):
            return math.ceil(error.seconds * SECOND)
        return backoff(attempt, self.chance())

    def _retry(self, pointer: Pointer, task: Task, attempt: int, pause: int) -> Verdict:
        """Beyond SQS's longest delay the task is moved, its attempts carried over; the attempt's failure
        is in the ledger, so the move closes a run that nobody has."""
        if pause <= LONGEST_DELAY:
            return self._resend(pointer, pause)
        now = self.clock.now()
        to = task.moved(now + pause, now, self.timing.retention, task.attempts_before + attempt)
        keep_until = (now + self.timing.retention) // SECOND
        token = secrets.token_hex(8)
        blocking = self.store.move(Move(task, to, token, now, keep_until, given_up=now))
        return Verdict.RESENT if blocking is None else Verdict.KEPT

    def _resend(self, pointer: Pointer, pause: int) -> Verdict:
        """Sent again, due `pause` milliseconds from now, then acknowledged: receive counts stay honest and
        nothing sits in flight. A crash in between makes two messages of one, and the run record takes only
        one. A pause beyond SQS's 15 minutes takes several hops."""
        now = self.clock.now()
        later = replace(pointer, due=now + max(0, pause))
        sent = self.queue.send([Outgoing(later, delay_seconds(later.due, now))])
        return Verdict.RESENT if sent == [Sent.SENT] else Verdict.KEPT


def _moment(ms: int) -> datetime:
    return datetime.fromtimestamp(ms / SECOND, UTC)
