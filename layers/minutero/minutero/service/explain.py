"""Explain a schedule: the times it names, and what became of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import takewhile

from minutero.domain.lifecycle import Status, status_of
from minutero.domain.schedule import Fate, Schedule
from minutero.domain.task import Pointer, State, Task, first_place
from minutero.errors import NotFound
from minutero.ports import Clock, RunLedger, ScheduleStore, TaskStore
from minutero.service.claim_batch import chunks
from minutero.service.find_schedule import find_schedule
from minutero.service.read_task import ReadTask, TaskView

MOST = 500
"""Times told at once."""

TASKS_CHUNK = 50
RUNS_CHUNK = 100
"""The most that is read at once."""


class What(StrEnum):
    """What became of a time. Of one that fired its task says more."""

    RAN = "ran"
    CAUGHT_UP = "caught up"
    SKIPPED = "skipped"
    PENDING = "pending"
    MISSED = "missed"
    """It has come, and no tick has fired it yet: the next one will, or the misfire policy leaves it out."""


@dataclass(frozen=True, slots=True)
class Told:
    """One time, in milliseconds. `why` says which policy left it out, or how its run stands; `view` is its
    task, None where there is none (any more)."""

    time: int
    what: What
    why: str = ""
    view: TaskView | None = None

    @property
    def lateness_ms(self) -> int | None:
        """First start minus the time; None where nothing has started."""
        run = self.view.run if self.view else None
        return None if run is None or run.started_at is None else run.started_at - self.time


@dataclass(frozen=True, slots=True)
class Explained:
    """The times told, ascending; where there are more, they go on at `next`, in milliseconds."""

    schedule: Schedule
    times: Sequence[Told]
    next: int | None


LEFT_OUT = {
    "misfire": "misfire: it was found later than grace_seconds allow, and the misfire policy leaves it out",
    "paused": "paused",
    "changed": "changed: the schedule was edited before it fired",
    "lost": "lost: its occurrence was gone, and the audit has armed the schedule again",
}
GAP = "gap: the clock of the zone was put forward over it"
OF_STATUS = {
    Status.SCHEDULED: What.PENDING,
    Status.CLAIMED: What.PENDING,
    Status.SKIPPED: What.SKIPPED,
    Status.CANCELLED: What.SKIPPED,
    Status.EXPIRED: What.SKIPPED,
}
"""What the status of its task makes of a time that fired; every other means it ran."""


@dataclass(frozen=True, slots=True)
class ExplainSchedule:
    """Reads what was noted when times fired or were left out; what was not yet is reckoned from the rule."""

    schedules: ScheduleStore
    store: TaskStore
    ledger: RunLedger
    clock: Clock

    def __call__(self, name: str, first: int, last: int, most: int = MOST) -> Explained:
        """The times from `first` to `last`, both included, in milliseconds: at most `most` of them.

        Raises NotFound, Unavailable.
        """
        schedule = find_schedule(self.schedules, name)
        fates = self.schedules.fates(name, first, last)
        noted = _noted(fates, first, last, most)
        times = noted | _to_come(schedule, first, last, self.clock.now(), most, noted)
        told = sorted(times.values(), key=lambda one: one.time)
        # Behind the last fate that was read others may be noted.
        end = fates[-1].last if len(fates) >= MOST else last
        shown = [one for one in told if one.time <= end][:most]
        left = len(shown) < len(told) or end < last
        following = (shown[-1].time if shown else end) + 1 if left else None
        fired = {fate.first: fate.task_id for fate in fates if fate.name == "fired"}
        views = self._views([fired[one.time] for one in shown if one.time in fired])
        whole = [
            _ran(one, views.get(fired[one.time])) if one.time in fired else one for one in shown
        ]
        return Explained(schedule, whole, following)

    def _views(self, task_ids: Sequence[str]) -> Mapping[str, TaskView]:
        """The tasks of times that fired. One that somebody has moved is followed; one that is gone with its
        retention is left out."""
        tasks: list[Task] = []
        for some in chunks(task_ids, TASKS_CHUNK):
            tasks += self.store.get_many([Pointer(first_place(one), 0) for one in some]).values()
        views: dict[str, TaskView] = {}
        for chunk in chunks([task for task in tasks if task.state is not State.MOVED], RUNS_CHUNK):
            runs = self.ledger.get_many([task.run_id for task in chunk])
            now = self.clock.now()
            for task in chunk:
                run = runs.get(task.run_id)
                views[task.task_id] = TaskView(task, run, status_of(task, run, now), now)
        read = ReadTask(self.store, self.ledger, self.clock)
        for task in (task for task in tasks if task.state is State.MOVED):
            try:
                views[task.task_id] = read(task.task_id)
            except NotFound:
                continue
        return views


def _noted(fates: Sequence[Fate], first: int, last: int, most: int) -> dict[int, Told]:
    """What was noted, by time. What fired beats a stretch that was left out: a pause tells of all its times,
    and one of them may have fired by then."""
    told: dict[int, Told] = {}
    for fate in fates:
        if fate.name != "fired":
            times = fate.times.after(max(fate.first, first) - 1)
            for time in takewhile(min(fate.last, last).__ge__, times):
                told[time] = Told(time, What.SKIPPED, LEFT_OUT[fate.name])
                if len(told) > most:
                    break
    return told | {fate.first: Told(fate.first, What.RAN) for fate in fates if fate.name == "fired"}


def _to_come(
    schedule: Schedule, first: int, last: int, now: int, most: int, noted: Mapping[int, Told]
) -> dict[int, Told]:
    """What has not fired yet and what a clock leaves out, by the schedule as it is now."""
    told: dict[int, Told] = {}
    since = schedule.paused_since if schedule.pending is None else schedule.pending.nominal
    if since is not None:
        end = last if schedule.enabled else min(last, now)
        for time in takewhile(end.__ge__, schedule.times.after(max(since, first) - 1)):
            if not schedule.enabled:
                told[time] = Told(time, What.SKIPPED, LEFT_OUT["paused"])
            else:
                told[time] = Told(time, What.PENDING if time >= now else What.MISSED)
            if len(told) > most:
                break
    for gap in schedule.times.gaps(max(first, schedule.changed_at), last):
        if first <= gap.instant <= last and gap.instant not in told and gap.instant not in noted:
            told[gap.instant] = Told(gap.instant, What.SKIPPED, GAP)
    return told


def _ran(told: Told, view: TaskView | None) -> Told:
    if view is None:
        return Told(told.time, What.RAN, "its task is past its retention")
    what = OF_STATUS.get(view.status, What.RAN)
    of = view.task.occurrence
    if what is What.RAN and of is not None and of.is_catch_up:
        what = What.CAUGHT_UP
    outcome = view.run.outcome if view.run else None
    reason = outcome.reason if outcome else ""
    return Told(told.time, what, reason or str(view.status), view)
