"""Fire occurrences: before one is claimed, the next is there."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from minutero.domain.exchanged import ScheduleChange
from minutero.domain.instants import SECOND
from minutero.domain.metrics import SILENT, Metric
from minutero.domain.misfire import Step, next_step
from minutero.domain.run import Ending, Outcome
from minutero.domain.schedule import Fate, Link, Schedule
from minutero.domain.task import Pointer, Task, is_near
from minutero.domain.timing import Timing
from minutero.errors import Unavailable
from minutero.ports import Clock, Meter, Parallel, ScheduleStore

logger = logging.getLogger(__name__)

TRIES = 10
"""How often a schedule that changes meanwhile is read again."""

MISFIRE = "it was found later than its grace allows"


@dataclass(frozen=True, slots=True)
class FireOccurrences:
    """Takes the steps of schedules' chains, each in one transaction.

    The chain is the schedule's row: which link is pending. So of two that fire the same occurrence one finds
    another link pending, and neither a double tick nor a crash can break the chain or fork it.
    """

    schedules: ScheduleStore
    clock: Clock
    timing: Timing
    parallel: Parallel
    meter: Meter = SILENT

    def __call__(
        self, found: Sequence[Pointer], shards: int, time_is_up: Callable[[], bool]
    ) -> list[Pointer]:
        """What may be claimed of occurrences that are `scheduled`, and of those put after them that are near.

        Side by side, since each schedule waits for its own row alone.
        """
        ready = self.parallel(lambda one: self._fire(one, shards, time_is_up), found)
        return [pointer for some in ready for pointer in some]

    def pass_on(self, task: Task, shards: int) -> None:
        """Before somebody cancels or moves an occurrence that is pending, the next is there, and the schedule
        has done with this one. One that has fired is left as it is. Raises Unavailable.
        """
        pointer = task.pointer
        for _ in range(TRIES):
            schedule, now = self._schedule_of(pointer), self.clock.now()
            pending = schedule.pending if schedule else None
            if schedule is None or pending is None or not _is_link(pending, pointer):
                return
            step = Step(True, False, next(schedule.times_left(pending.nominal), None))
            taken = replace(pending, run_at=now)
            if self.schedules.step(self._change(schedule, taken, pointer, step, now, shards)):
                return
        raise Unavailable(f"the schedule of {task.task_id} changes again and again; try later")

    def _fire(self, pointer: Pointer, shards: int, time_is_up: Callable[[], bool]) -> list[Pointer]:
        """A schedule that cannot be served is left to the next tick; what of it has fired is not."""
        ready: list[Pointer] = []
        if time_is_up():
            return ready
        try:
            self._steps(pointer, shards, time_is_up, ready)
        except Unavailable as error:
            told = {"task_id": pointer.task_id, "error": str(error)}
            logger.warning("a schedule is left to the next tick", extra=told)
        return ready

    def _steps(
        self,
        pointer: Pointer,
        shards: int,
        time_is_up: Callable[[], bool],
        ready: list[Pointer],
    ) -> None:
        schedule = self._schedule_of(pointer)
        while True:
            if (
                schedule is None
                or schedule.pending is None
                or not _is_link(schedule.pending, pointer)
            ):
                # It has fired, and its claim was not made or not seen; or it was closed meanwhile, and then
                # its claim is lost.
                ready.append(pointer)
                return
            now = self.clock.now()
            step = next_step(schedule, schedule.pending.nominal, now)
            change = self._change(schedule, schedule.pending, pointer, step, now, shards)
            if self.schedules.step(change):
                if step.fires:
                    ready.append(pointer)
                self._count(schedule, step)
                if change.adds is None or not self._goes_on(change.adds, time_is_up):
                    return
                schedule, pointer = change.after, change.adds.pointer
            elif time_is_up():
                return
            else:
                schedule = self._schedule_of(pointer)

    def _schedule_of(self, pointer: Pointer) -> Schedule | None:
        return self.schedules.get(pointer.occurrence.schedule) if pointer.occurrence else None

    def _goes_on(self, task: Task, time_is_up: Callable[[], bool]) -> bool:
        """The next is near: its writer sends it, since the walk over its bucket may be past."""
        near = is_near(task.run_at, self.clock.now(), self.timing.look_ahead)
        return near and not time_is_up()

    def _change(
        self,
        schedule: Schedule,
        pending: Link,
        pointer: Pointer,
        step: Step,
        now: int,
        shards: int,
    ) -> ScheduleChange:
        keep_until = (now + self.timing.retention) // SECOND
        after = schedule.with_fired(pending, now) if step.fires else schedule
        after = replace(after, catch_up_until=max(step.catch_up_until, schedule.catch_up_until))
        link = None if step.next is None else after.link(step.next, now, shards)
        after = replace(after, pending=link)
        adds = None if link is None else after.task(link, now, self.timing.retention)
        if not step.fires:
            fate = Fate("misfire", pending.nominal, step.skipped_to, schedule.times)
            skipped = Outcome(Ending.SKIPPED, reason=MISFIRE)
            closes = [(pending, skipped)]
            return ScheduleChange(schedule, after, now, keep_until, now, adds, closes, fates=[fate])
        fate = Fate("fired", pending.nominal, pending.nominal, schedule.times, pending.task_id)
        made_up_for = None
        if step.is_catch_up and pointer.occurrence and not pointer.occurrence.is_catch_up:
            told = replace(pointer.occurrence, is_catch_up=True)
            made_up_for = replace(pointer, occurrence=told)
        return ScheduleChange(
            schedule, after, now, keep_until, now, adds, made_up_for=made_up_for, fates=[fate]
        )

    def _count(self, schedule: Schedule, step: Step) -> None:
        self.meter.add(Metric.FIRED if step.fires else Metric.MISFIRES)
        if step.is_catch_up:
            self.meter.add(Metric.CAUGHT_UP)
        if schedule.pending is not None and step.next is not None:
            gaps = schedule.times.gaps(schedule.pending.nominal, step.next)
            self.meter.add(Metric.GAPS, sum(1 for _ in gaps))


def _is_link(pending: Link, pointer: Pointer) -> bool:
    return pending.task_id == pointer.task_id
