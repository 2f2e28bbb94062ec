"""Broken protocols. Each leaves one rule of the design out; the simulation must notice."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from minutero.domain.buckets import bucket_name, minute_of
from minutero.domain.exchanged import Claim, DeadLetter, Finished, Move, Overtaken, Sent
from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.run import Ending, Outcome, RunRecord
from minutero.domain.task import OpenClaim, Place, State, Task, first_place, place_of
from minutero.service import add_task, claim_batch, dispatch, execute, send_near
from minutero.service.claim_batch import ClaimBatch
from minutero.service.execute import Execute, Verdict
from minutero.service.move import MoveTask
from minutero.testing.memory import LedgerRunOnce, MemoryRunLedger, MemoryTaskStore
from tests.simulation.mutant import Mutant, patched
from tests.simulation.seasons import (
    held_up,
    long_walks,
    many_deaths,
    rival_dispatchers,
    slow_calls,
)
from tests.simulation.stores import WatchedTasks


def _without_open_claim(self: ClaimBatch, bucket: str, after: int) -> OpenClaim:
    with patch.object(self, "_store", _Without(self._store, "open_claim")):
        return _open(self, bucket, after)


_open = ClaimBatch._open


class _Without:
    """A store one of whose calls does nothing."""

    def __init__(self, store: Any, method: str) -> None:
        self._store = store
        self._method = method

    def __getattr__(self, name: str) -> Any:
        return (lambda *_: None) if name == self._method else getattr(self._store, name)


def _closed_before_sending(self: ClaimBatch, bucket: str, tasks: Any) -> None:
    claim = self._open(bucket, after=0)
    at = self._clock.now()
    won, _ = self._claim(tasks, lambda chunk: self._claim_chunk(chunk, claim.claim_id, at, None))
    self._store.close_claim(claim)
    self._send(won)


def _closed_whatever_is_left(self: ClaimBatch, bucket: str, tasks: Any) -> None:
    claim = self._open(bucket, after=0)
    self._take(claim, tasks, taken_from=None)
    self._store.close_claim(claim)


def _rescued_blindly(self: ClaimBatch, old: OpenClaim) -> None:
    claim = self._open(old.bucket, after=old.opened_at)
    tasks = next(self._claimed_under(old), [])
    taken = self._take(claim, tasks, taken_from=old.claim_id)
    self._store.close_claim(old)
    if taken:
        self._store.close_claim(claim)


def _deleted_before_opening(self: ClaimBatch, old: OpenClaim) -> None:
    tasks = [task for page in self._claimed_under(old) for task in page]
    self._store.close_claim(old)
    claim = self._open(old.bucket, after=old.opened_at)
    if self._take(claim, tasks, taken_from=old.claim_id):
        self._store.close_claim(claim)


@contextmanager
def _claims_looked_at_first() -> Iterator[None]:
    seen: dict[str, bool] = {}
    serve = dispatch.Visit._serve

    def serve_after_a_look(self: dispatch.Visit, minute: int) -> str:
        bucket = bucket_name(minute, self._shard)
        seen[bucket] = bool(self._d.store.open_claims(bucket))
        return serve(self, minute)

    def is_settled(_store: Any, bucket: str, *, pass_was_clean: bool) -> bool:
        return pass_was_clean and not seen[bucket]

    with (
        patch.object(dispatch.Visit, "_serve", serve_after_a_look),
        patch.object(dispatch, "is_settled", is_settled),
        # Seen at once, not at the end of the visit, when the rival's claim may be closed.
        patch.object(dispatch, "SAVE_EVERY", MINUTE),
    ):
        yield


def _claims_not_looked_at(store: Any, bucket: str, *, pass_was_clean: bool) -> bool:
    return pass_was_clean


def _settled_at_once(minute: int, now: int, grace: int) -> bool:
    return minute <= now


def _unknown_is_loss(self: ClaimBatch, chunk: Any, **kwargs: Any) -> list[Claim]:
    return [
        Claim.LOST if one is Claim.UNKNOWN else one for one in _claim_chunk(self, chunk, **kwargs)
    ]


_claim_chunk = ClaimBatch._claim_chunk


def _own_claim_is_loss(
    self: MemoryTaskStore, place: Place, claim_id: str, at: int, may_take: Any
) -> Claim:
    task = self.get(place)
    if task is None or not may_take(task):
        return Claim.LOST
    self._write(place, task.claimed(claim_id, at))
    return Claim.WON


def _entries_unread(self: ClaimBatch, chunk: Any) -> list[Sent]:
    return [Sent.SENT for _ in _send_chunk(self, chunk)]


_send_chunk = ClaimBatch._send_chunk


def _starts_anything(self: RunRecord, now: int) -> bool:
    return self.in_progress_until < now


def _keyed_by_attempt(
    self: LedgerRunOnce, run_id: str, until: int, keep_until: int, body: Any, /
) -> Any:
    # What the watch knows a task by stays: the part before the last dot.
    try_again = f"{run_id}{secrets.token_hex(4)}"
    return _run_once(self, try_again, until, keep_until, body)


_run_once = LedgerRunOnce.__call__


def _unfenced_finish(
    self: MemoryRunLedger, run_id: str, owner: str, outcome: Outcome, now: int
) -> bool:
    self.records[run_id] = replace(self.records[run_id], outcome=outcome, finished_at=now)
    return True


def _overtaken_acknowledges(self: Execute, pointer: Any, task: Task, result: Any) -> Verdict:
    if isinstance(result, Overtaken):
        return Verdict.ENDED
    return _conclude(self, pointer, task, result)


_conclude = Execute._conclude


def _in_progress_is_acknowledged(self: Execute, pointer: Any, task: Task, result: Any) -> Verdict:
    if not isinstance(result, Finished | Overtaken) and hasattr(result, "until"):
        return Verdict.KNOWN
    return _conclude(self, pointer, task, result)


def _cancelled_by_the_item_alone(
    self: MemoryTaskStore, task: Task, at: int, keep_until: int, given_up: int
) -> RunRecord:
    cancelled = RunRecord(task.run_id, 0, 0, Outcome(Ending.CANCELLED))
    known = self._ledger.living(task.run_id, given_up)
    if known is not None:
        return known
    stored = self.get(task.place)
    if stored is not None:
        self._write(stored.place, replace(stored, state=State.CANCELLED))
        self._watch.ended[task.task_id] = Ending.CANCELLED
    return cancelled


def _moved_in_two_steps(
    self: MoveTask, task: Task, to: Task, token: str, now: int, redrives: Any
) -> Any:
    if redrives is not None:
        return _carry_out(self, task, to, token, now, redrives)
    keep_until = (now + self.timing.retention) // SECOND
    given_up = now - self.clock_margin
    record = self.ledger.close(task.run_id, Outcome(Ending.SUPERSEDED), given_up, keep_until)
    if record.outcome != Outcome(Ending.SUPERSEDED):
        return record
    return self.store.put_moved(Move(task, to, token, now, keep_until, now))


_carry_out = MoveTask._carry_out


def _clock_trusted(
    self: MoveTask, task: Task, to: Task, token: str, now: int, redrives: Any
) -> Any:
    keep_until = (now + self.timing.retention) // SECOND
    return self.store.move(Move(task, to, token, now, keep_until, now, redrives))


@contextmanager
def _two_steps() -> Iterator[None]:
    def put_moved(self: WatchedTasks, move: Move) -> None:
        self._carry_out(move)

    with (
        patch.object(MoveTask, "_carry_out", _moved_in_two_steps),
        patch.object(MemoryTaskStore, "put_moved", put_moved, create=True),
    ):
        yield


def _rounded_down(due: int, now: int) -> int:
    return min(900, max(0, (due - now) // SECOND))


@contextmanager
def _delay_rounded_down() -> Iterator[None]:
    with (
        patch.object(claim_batch, "delay_seconds", _rounded_down),
        patch.object(send_near, "delay_seconds", _rounded_down),
        patch.object(execute, "delay_seconds", _rounded_down),
    ):
        yield


@contextmanager
def _bucket_of_a_past_run_at() -> Iterator[None]:
    def due(self: add_task.NewTask, now: int) -> int:
        return self.run_at or now

    def moved(self: Task, run_at: int, now: int, retention: int, attempts_before: int = 0) -> Task:
        to = _moved(self, run_at, now, retention, attempts_before)
        return replace(to, place=place_of(self.task_id, to.run_no, run_at - 600 * SECOND))

    with patch.object(add_task.NewTask, "due", due), patch.object(Task, "moved", moved):
        yield


_moved = Task.moved


def _forwarding_written_once(self: WatchedTasks, move: Move) -> None:
    first = first_place(move.task.task_id)
    address = self.get(first)
    written_carry_out(self, move)
    if address is not None and address.moved_to is not None:
        self._write(first, address)


written_carry_out = WatchedTasks._carry_out


def _early_runs(self: Execute, pointer: Any, task: Task | None, deadline: int) -> Verdict:
    if task is None:
        return Verdict.ORPHAN
    return _execute(self, replace(pointer, due=0), replace(task, run_at=0), deadline)


_execute = Execute.__call__


def _dead_not_sent_again(self: Execute, pointer: Any, task: Task, result: Any) -> Verdict:
    if isinstance(result, Finished) and not result.fresh:
        return Verdict.KNOWN
    return _conclude(self, pointer, task, result)


def _walks_without_a_clock(self: dispatch.Visit, minute: int) -> str:
    # Its batches go on looking: they were given the look when the visit was made.
    with patch.object(self, "_time_is_up", lambda: False):
        return _serve(self, minute)


_serve = dispatch.Visit._serve


def _skips_the_backlog(self: dispatch.Visit, now: int) -> None:
    self._watermark = max(self._watermark, minute_of(now - self._d.timing.settle_grace) - MINUTE)


def _attempts_without_a_clock(self: Execute, task: Task, attempt: int, deadline: int) -> Outcome:
    return _attempt(self, task, attempt, max(deadline, self.clock.now() + 1))


_attempt = Execute._attempt


def _listed_whatever_it_is(self: MemoryTaskStore, letter: DeadLetter) -> bool:
    self.letters[letter.run_id] = letter
    return True


def _discarded_whatever_it_is(
    self: MemoryRunLedger, run_id: str, outcome: Outcome, token: str = ""
) -> RunRecord:
    if outcome.ending is not Ending.DISCARDED:
        return _take_back(self, run_id, outcome, token)
    self.records[run_id] = replace(self.records[run_id], outcome=outcome)
    return self.records[run_id]


_take_back = MemoryRunLedger.take_back


MUTANTS = (
    Mutant(
        "held-up-and-begun",
        "no body begins after its time is over",
        patched(Execute, "_attempt", _attempts_without_a_clock),
        ("doubled", "cancelled", "early", "lost", "fence"),
        season=held_up,
    ),
    Mutant(
        "listed-whatever-it-is",
        "only what is dead is listed",
        patched(MemoryTaskStore, "list_dead", _listed_whatever_it_is),
        ("dead", "lost"),
        season=slow_calls,
    ),
    Mutant(
        "discarded-whatever-it-is",
        "only what is dead is discarded",
        patched(MemoryRunLedger, "take_back", _discarded_whatever_it_is),
        ("dead",),
        season=slow_calls,
    ),
    Mutant(
        "open-claim-omitted",
        "a batch is noted before it is claimed",
        patched(ClaimBatch, "_open", _without_open_claim),
        ("lost", "watermark"),
    ),
    Mutant(
        "closed-before-sending",
        "a claim is closed when all of it is sent",
        patched(ClaimBatch, "claim_and_send", _closed_before_sending),
        ("lost",),
    ),
    Mutant(
        "closed-whatever-is-left",
        "what is unknown or unsent keeps its claim open",
        patched(ClaimBatch, "claim_and_send", _closed_whatever_is_left),
        ("lost",),
    ),
    Mutant(
        "rescued-blindly",
        "an old claim is deleted when nothing is claimed under it any more",
        patched(ClaimBatch, "rescue", _rescued_blindly),
        ("lost",),
    ),
    Mutant(
        "deleted-before-opening",
        "a rescuer opens its own claim before it deletes the old one",
        patched(ClaimBatch, "rescue", _deleted_before_opening),
        ("lost", "watermark"),
        season=many_deaths,
    ),
    Mutant(
        "settled-in-the-wrong-order",
        "the open claims are asked for after the pass",
        _claims_looked_at_first,
        ("watermark", "lost"),
        season=rival_dispatchers,
    ),
    Mutant(
        "settled-too-early",
        "no bucket is settled before the grace",
        patched(dispatch, "is_late_minute", _settled_at_once),
        ("watermark", "behind", "lost"),
    ),
    Mutant(
        "watermark-past-a-claim",
        "a bucket with an open claim is not settled",
        patched(dispatch, "is_settled", _claims_not_looked_at),
        ("watermark",),
    ),
    Mutant(
        "unknown-is-loss",
        "an unknown answer is asked for again",
        patched(ClaimBatch, "_claim_chunk", _unknown_is_loss),
        ("lost",),
    ),
    Mutant(
        "own-claim-is-loss",
        "the own claim id in the way means won",
        patched(MemoryTaskStore, "_claim_one", _own_claim_is_loss),
        ("lost",),
    ),
    Mutant(
        "entries-unread",
        "every entry of a send's answer is read",
        patched(ClaimBatch, "_send_chunk", _entries_unread),
        ("lost",),
    ),
    Mutant(
        "start-without-guard",
        "a run that is over does not start",
        patched(RunRecord, "may_start", _starts_anything),
        ("doubled", "cancelled", "early", "lost"),
    ),
    Mutant(
        "keyed-by-attempt",
        "a run's id is the same over attempts and redeliveries",
        patched(LedgerRunOnce, "__call__", _keyed_by_attempt),
        ("doubled", "cancelled", "early", "lost"),
    ),
    Mutant(
        "unfenced-finish",
        "only the attempt that has a run may end it",
        patched(MemoryRunLedger, "finish", _unfenced_finish),
        ("fence", "doubled"),
    ),
    Mutant(
        "overtaken-acknowledges",
        "an overtaken worker does not acknowledge",
        patched(Execute, "_conclude", _overtaken_acknowledges),
        ("lost",),
    ),
    Mutant(
        "in-progress-acknowledged",
        "a message whose run is in progress is sent again",
        patched(Execute, "_conclude", _in_progress_is_acknowledged),
        ("lost",),
    ),
    Mutant(
        "dead-not-sent-again",
        "who finds a run dead sends it to the dead letters again",
        patched(Execute, "_conclude", _dead_not_sent_again),
        ("lost",),
    ),
    Mutant(
        "cancelled-by-the-item-alone",
        "a cancel takes the lock a start takes",
        patched(MemoryTaskStore, "cancel", _cancelled_by_the_item_alone),
        ("cancelled", "doubled"),
    ),
    Mutant("moved-in-two-steps", "a move is one transaction", _two_steps, ("lost", "early")),
    Mutant(
        "clients-clock-trusted",
        "a client's fast clock does not give up a living attempt",
        patched(MoveTask, "_carry_out", _clock_trusted),
        ("fence", "early", "doubled"),
    ),
    Mutant("delay-rounded-down", "a delay is rounded up", _delay_rounded_down, ("early",)),
    Mutant(
        "worker-does-not-check",
        "a worker checks the time by its own clock",
        patched(Execute, "__call__", _early_runs),
        ("early",),
    ),
    Mutant(
        "bucket-of-a-past-run-at",
        "nothing is put behind the watermark",
        _bucket_of_a_past_run_at,
        ("behind",),
    ),
    Mutant(
        "forwarding-written-once",
        "every move rewrites the address at the first place",
        patched(WatchedTasks, "_carry_out", _forwarding_written_once),
        ("lost", "cancelled"),
    ),
    Mutant(
        "backlog-skipped",
        "the watermark moves over settled buckets only",
        patched(dispatch.Visit, "_backlog", _skips_the_backlog),
        ("lost", "watermark"),
    ),
    Mutant(
        "no-clock-before-pages",
        "a tick looks at its clock before every page",
        patched(dispatch.Visit, "_serve", _walks_without_a_clock),
        ("lost",),
        season=long_walks,
    ),
)
