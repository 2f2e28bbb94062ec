"""The life of a task, told from what its item and the records of its runs keep."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from minutero.domain.run import Attempt, Ending, Outcome, RunRecord, Superseded
from minutero.domain.task import NEAR, State, Task


class Happened(StrEnum):
    """What happened to a task."""

    CREATED = "created"
    CLAIMED = "claimed"
    SENT = "sent"
    ATTEMPT = "attempt"
    MOVED = "moved"
    REDRIVEN = "redriven"
    SUCCEEDED = "succeeded"
    SKIPPED = "skipped"
    EXPIRED = "expired"
    DEAD = "dead"
    CANCELLED = "cancelled"
    DISCARDED = "discarded"


class Came(StrEnum):
    """What came of an attempt."""

    RUNNING = "running"
    FAILED = "failed"
    BROKEN_OFF = "broken off"
    """It was started and never told its end: its process was ended, or its answer got lost."""
    ENDED = "ended"
    """The run ended with it."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a task's life. Times in milliseconds, None where it is not known or has no meaning.

    `run_at` is the due time since then, of a creation and of a move; `early_ms` how long before it a claim
    came, negative when it was late. `error` is that of an attempt, or why a run ended as it did.
    """

    what: Happened
    at: int | None
    run_at: int | None = None
    claim_id: str = ""
    early_ms: int | None = None
    attempt: int | None = None
    came: Came | None = None
    ended_at: int | None = None
    error: str = ""


_ENDED = {
    Ending.SUCCEEDED: Happened.SUCCEEDED,
    Ending.SKIPPED: Happened.SKIPPED,
    Ending.EXPIRED: Happened.EXPIRED,
    Ending.DEAD: Happened.DEAD,
    Ending.DISCARDED: Happened.DEAD,
    Ending.CANCELLED: Happened.CANCELLED,
}
"""The endings that are events of their own; a run that was superseded is told as a move."""


def history_of(
    task: Task,
    run: RunRecord | None,
    now: int,
    earlier: Sequence[RunRecord] = (),
    *,
    sent: bool = False,
) -> list[Event]:
    """What happened to a task, in order. `earlier` are the records of the runs before this one, oldest first,
    as many as are known. `sent`: whether a claimed task's message is known to be in the queue.

    When the queue took a message is written down nowhere: it would be one more write a task. Only a near task
    is sent first and claimed after, both by its writer, so its claim has the time.
    """
    left = [one.superseded for one in earlier]
    dues = [one.due if one else None for one in left]
    # The first due time is known only where no earlier run is missing.
    whole = len(earlier) == task.run_no
    following = [*dues, task.run_at]
    told = [Event(Happened.CREATED, task.created_at, run_at=following[0] if whole else None)]
    for record, mark, due in zip(earlier, left, following[1:], strict=True):
        told += _superseded(record, mark, due, now)
    claimed_at = task.claimed_at if task.state is not State.SCHEDULED else None
    told += _taken(task.claim_id, claimed_at, task.run_at, sent=sent or _was_begun(run))
    told += _run(run, task.attempts_before, now)
    if run is None and task.state is State.DEAD:
        told.append(Event(Happened.DEAD, None))
    return told


def _superseded(
    record: RunRecord, left: Superseded | None, due: int | None, now: int
) -> Iterator[Event]:
    """A run that a move has closed; `left` is None where an older version moved the task."""
    if left is not None:
        yield from _taken(left.claim_id, left.claimed_at, left.due, sent=_was_begun(record))
    yield from _attempts(record, left.attempts_before if left else 0, now)
    if left is not None and left.redriven_at is not None:
        yield Event(Happened.DEAD, record.finished_at, error=left.reason)
        yield Event(Happened.REDRIVEN, left.redriven_at, run_at=due)
    else:
        yield Event(Happened.MOVED, record.finished_at, run_at=due)


def _taken(claim_id: str, at: int | None, due: int, *, sent: bool) -> Iterator[Event]:
    """How a run came into the queue."""
    if at is not None:
        yield Event(Happened.CLAIMED, at, claim_id=claim_id, early_ms=due - at)
    near = claim_id == NEAR and at is not None
    if sent or near:
        yield Event(Happened.SENT, at if near else None)


def _was_begun(run: RunRecord | None) -> bool:
    return run is not None and run.attempts > 0


def _run(run: RunRecord | None, attempts_before: int, now: int) -> Iterator[Event]:
    """The run a task has now."""
    if run is None:
        return
    yield from _attempts(run, attempts_before, now)
    outcome = run.outcome or Outcome(Ending.UNKNOWN)
    if outcome.ending in _ENDED:
        yield Event(_ENDED[outcome.ending], run.finished_at, error=outcome.reason)
    if outcome.ending is Ending.DISCARDED:
        # Its row goes and its record stays, with the time of the death.
        yield Event(Happened.DISCARDED, None)


def _attempts(run: RunRecord, attempts_before: int, now: int) -> Iterator[Event]:
    """The attempts of a run: those that told their failure, the last one, and between them what broke off."""
    failed = {failure.number: failure for failure in run.failures}
    starts = _starts(run)
    for number in range(1, run.attempts + 1):
        told = failed.get(number) or (_end(run) if number == run.attempts else None)
        running = number == run.attempts and run.is_running(now)
        broken = Came.RUNNING if running else Came.BROKEN_OFF
        yield Event(
            Happened.ATTEMPT,
            starts.get(number),
            attempt=attempts_before + number,
            came=broken if told is None else Came.FAILED if told.error else Came.ENDED,
            ended_at=told.at if told else None,
            error=told.error if told else "",
        )


def _end(run: RunRecord) -> Attempt | None:
    """The end of the last attempt, where the run ended with it: who closes a run from outside leaves no time
    in `in_progress_until`. The error is that of a death."""
    if run.outcome is None or run.finished_at is None or run.in_progress_until == 0:
        return None
    dead = run.outcome.reason if run.outcome.ending in (Ending.DEAD, Ending.DISCARDED) else ""
    died = run.superseded.reason if run.superseded else dead
    return Attempt(run.attempts, run.finished_at, died)


def _starts(run: RunRecord) -> dict[int, int]:
    """Start by attempt. Where an older version started some, the first and the last ones are known."""
    first = run.attempts - len(run.starts) + 1
    starts = {number: at for number, at in enumerate(run.starts, first) if number > 0}
    if run.started_at is not None:
        starts[1] = run.started_at
    return starts
