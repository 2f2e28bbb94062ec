"""Broken chains: each leaves out one rule of schedules; the simulation must notice."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

from minutero.domain.exchanged import Changed, ScheduleChange
from minutero.domain.misfire import Step, next_step
from minutero.domain.occurrence import Trigger
from minutero.domain.schedule import Link, Schedule
from minutero.domain.task import Pointer
from minutero.service import fire, run_schedule
from minutero.service.claim_batch import ClaimBatch
from minutero.service.overlap import OneAtATime
from minutero.service.pass_on import PassOn
from minutero.service.revise_schedule import ReviseSchedule
from minutero.testing.memory import MemoryScheduleStore, MemoryTaskStore
from tests.simulation.mutant import Mutant, patched
from tests.simulation.seasons import slow_calls
from tests.simulation.world import Weather


def with_schedules(usual: Weather) -> Weather:
    """Each world has some."""
    return replace(usual, schedules=max(5, usual.schedules))


def wrong_clocks(usual: Weather) -> Weather:
    """Nobody's clock is right."""
    return replace(with_schedules(usual), true_clocks=False)


SEASONS = {
    "begun-closed": lambda usual: slow_calls(with_schedules(usual)),
    "judged-by-a-clock-behind": wrong_clocks,
}


def _claimed_before_firing(self: ClaimBatch, bucket: str, tasks: Sequence[Pointer]) -> None:
    self.claim_and_send(bucket, tasks)
    for link in self._fire([one for one in tasks if one.is_a_link], self._shards, self._time_is_up):
        if link not in tasks:
            self.claim_and_send(link.place.bucket, [link])


def _compares(*fields: str) -> Any:
    """A guard that looks at these fields alone."""

    def is_as_read(self: MemoryScheduleStore, change: ScheduleChange) -> bool:
        read = change.before
        stored = None if read is None else self.schedules.get(read.name)
        if read is None or stored is None:
            return False
        return all(getattr(read, field) == getattr(stored, field) for field in fields)

    return patched(MemoryScheduleStore, "_is_as_read", is_as_read)


def _reckoned_from_now(schedule: Schedule, nominal: int, now: int) -> Step:
    step = next_step(schedule, nominal, now)
    if not step.fires:
        return step
    return replace(step, next=schedule.times.next(max(nominal, now)))


def _always_fires(schedule: Schedule, nominal: int, now: int) -> Step:
    late = schedule.is_late(nominal, now)
    return Step(True, late or nominal <= schedule.catch_up_until, schedule.times.next(nominal))


def _never_catches_up(schedule: Schedule, nominal: int, now: int) -> Step:
    none = replace(schedule.definition.misfire, policy="skip")
    return next_step(
        replace(schedule, definition=replace(schedule.definition, misfire=none)), nominal, now
    )


def _pending_left(self: ReviseSchedule, current: Schedule, now: int) -> Any:
    closes, kept = _closable(self, current, now)
    return [link for link in closes if link is not current.pending], kept


def _fired_ahead_left(self: ReviseSchedule, current: Schedule, now: int) -> Any:
    closes, _ = _closable(self, current, now)
    return [link for link in closes if link is current.pending], current.fired


_closable = ReviseSchedule._closable


@contextmanager
def _first_put_apart() -> Iterator[None]:
    """The row and what it closes in one transaction, the first occurrence of the new version in another."""

    class InTwo:
        def __init__(self, schedules: Any, store: Any) -> None:
            self._schedules = schedules
            self._store = store

        def __getattr__(self, name: str) -> Any:
            return getattr(self._schedules, name)

        def replace(self, change: ScheduleChange) -> Changed:
            done = self._schedules.replace(replace(change, adds=None))
            if done is Changed.DONE and change.adds is not None:
                self._store.put(change.adds)
            return done

    revise = ReviseSchedule.__call__

    def in_two(self: ReviseSchedule, *args: Any) -> Any:
        return revise(replace(self, schedules=InTwo(self.schedules, self.store)), *args)

    with patch.object(ReviseSchedule, "__call__", in_two):
        yield


def _told_as_done(self: MemoryScheduleStore, change: ScheduleChange) -> Changed:
    _change(self, change)
    return Changed.DONE


_change = MemoryScheduleStore._change


def _closes_what_has_begun(self: MemoryScheduleStore, link: Link, given_up: int) -> bool:
    return True


def _does_nothing(*_: Any) -> None:
    return None


def _takes_no_lock(self: OneAtATime, task: Any, deadline: int) -> bool:
    return True


def _judged_by_its_own_clock(self: ReviseSchedule, name: str) -> tuple[Schedule, int]:
    return _read(self, name)[0], self.clock.now()


_read = ReviseSchedule._read

_run_by_hand_as_a_link = SimpleNamespace(MANUAL=Trigger.SCHEDULE)

SCHEDULE_MUTANTS = tuple(
    Mutant(name, rule, breaks, seen_as, season=SEASONS.get(name, with_schedules))
    for name, rule, breaks, seen_as in (
        (
            "claimed-before-the-next-is-put",
            "the next occurrence is there before one is claimed",
            patched(ClaimBatch, "serve", _claimed_before_firing),
            ("chain", "lost", "fate", "misfire"),
        ),
        (
            "changed-whatever-the-version",
            "a change is of the version that was read",
            _compares("created_at", "pending"),
            ("forked",),
        ),
        (
            "stepped-whatever-is-pending",
            "a step is of the link that is pending",
            _compares("created_at", "version"),
            ("chain", "forked", "doubled", "fate", "closed", "lost"),
        ),
        (
            "changed-whatever-was-made-again",
            "a change is of the schedule that was read, not of another of its name",
            _compares("version", "paused_since"),
            ("forked", "chain", "fate", "doubled", "closed"),
        ),
        (
            "next-reckoned-from-now",
            "the next time is reckoned from the one before",
            patched(fire, "next_step", _reckoned_from_now),
            ("fate",),
        ),
        (
            "pending-left-by-a-change",
            "an edit, a pause and a delete close the pending occurrence",
            patched(ReviseSchedule, "_closable", _pending_left),
            ("closed", "doubled", "chain"),
        ),
        (
            "fired-ahead-left-by-a-change",
            "they close what has fired ahead",
            patched(ReviseSchedule, "_closable", _fired_ahead_left),
            ("closed", "doubled", "fate"),
        ),
        (
            "first-put-apart",
            "an edit puts the first occurrence in its own transaction",
            _first_put_apart,
            ("chain",),
        ),
        (
            "begun-closed",
            "what has begun is not closed",
            patched(MemoryScheduleStore, "_may_close", _closes_what_has_begun),
            ("doubled", "fence", "closed", "fate"),
        ),
        (
            "all-misfires-run",
            "of late times the policy says how many run",
            patched(fire, "next_step", _always_fires),
            ("misfire",),
        ),
        (
            "no-misfire-runs",
            "of late times the policy says how many run",
            patched(fire, "next_step", _never_catches_up),
            ("misfire",),
        ),
        (
            "catch-up-not-told",
            "a run is told that it is a catch-up",
            patched(MemoryTaskStore, "set_occurrence", _does_nothing),
            ("told",),
        ),
        (
            "conflict-taken-for-done",
            "a change that met another is made again",
            patched(MemoryScheduleStore, "_change", _told_as_done),
            ("confirmed", "closed"),
        ),
        (
            "not-passed-on",
            "before a pending occurrence is cancelled or moved, the next is there",
            patched(PassOn, "__call__", _does_nothing),
            ("chain", "fate"),
        ),
        (
            "fired-out-of-turn-fires-again",
            "what was cancelled, moved or begun out of turn does not fire again",
            patched(Schedule, "times_left", lambda self, after: self.times.after(after)),
            ("doubled", "lost"),
        ),
        (
            "judged-by-a-clock-behind",
            "a change is not judged by a clock behind that of the last step",
            patched(ReviseSchedule, "_read", _judged_by_its_own_clock),
            ("doubled", "fate", "closed"),
        ),
        (
            "run-by-hand-as-a-link",
            "a run by hand is outside the chain",
            patched(run_schedule, "Trigger", _run_by_hand_as_a_link),
            ("told",),
        ),
        (
            "lock-not-taken",
            "runs that must not overlap take a lock",
            patched(OneAtATime, "may_run", _takes_no_lock),
            ("overlap",),
        ),
        (
            "lock-never-let-go",
            "a run that has ended lets the lock go",
            patched(OneAtATime, "concluded", _does_nothing),
            ("locked",),
        ),
    )
)
