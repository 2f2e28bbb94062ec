"""The invariants of schedules, checked where a change takes place and at the end of a world."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import takewhile

from minutero.domain.exchanged import ScheduleChange
from minutero.domain.instants import SECOND
from minutero.domain.occurrence import Occurrence, Trigger
from minutero.domain.run import Ending
from minutero.domain.schedule import Fate, Schedule, pointer_to
from minutero.domain.task import State, run_id_of
from minutero.domain.timing import Timing
from minutero.domain.wall_clock import END
from minutero.jobs import Run
from minutero.testing.memory import MemoryScheduleStore, MemoryTaskStore
from tests.simulation.kernel import Kernel
from tests.simulation.watch import CLOCKS_DIFFER, Violation, Watch

Life = tuple[str, int]
"""A schedule from its creation to its end: its name and when it was made."""


@dataclass(slots=True)
class Known:
    """What is known of a link, from the change that put it; `caught_up` from the one that fired it, None of
    one that somebody cancels or moves: that was judged before."""

    life: Life
    nominal: int
    run_at: int
    due: int
    caught_up: bool | None = None


class ScheduleWatch:
    """Sees every change of a schedule, and every run of an occurrence."""

    def __init__(self, kernel: Kernel, watch: Watch, timing: Timing, *, true_clocks: bool) -> None:
        self._kernel = kernel
        self._watch = watch
        self._margin = timing.run_margin
        self._clocks_differ = 0 if true_clocks else CLOCKS_DIFFER
        self.versions: dict[Life, list[Schedule]] = {}
        self.links: dict[str, Known] = {}
        self._of_life: dict[Life, list[str]] = {}
        self._silenced: set[str] = set()
        self._ran: dict[tuple[Life, int], str] = {}
        self._open: dict[str, list[tuple[str, int]]] = {}

    # --- changes

    def changed(
        self, change: ScheduleChange, stored: Schedule | None, tasks: MemoryTaskStore
    ) -> None:
        """A change has been carried out, over the schedule that was stored then."""
        before, after = change.before, change.after
        if after is not None and change.adds is not None and after.pending is not None:
            life, link = life_of(after), after.pending
            due = after.due_at(link.nominal)
            self.links[link.task_id] = Known(life, link.nominal, link.run_at, due)
            self._of_life.setdefault(life, []).append(link.task_id)
        if before is not None and after is not None and before.version == after.version:
            self._stepped(change, before, after, stored)
        else:
            self._revised(change, stored)
        if after is not None:
            self._check_chain(after, tasks)

    def _revised(self, change: ScheduleChange, stored: Schedule | None) -> None:
        """Made, edited, paused, resumed or deleted."""
        after = change.after
        if after is not None:
            versions = self.versions.setdefault(life_of(after), [])
            if len(versions) != after.version - 1 or (stored is None) != (after.version == 1):
                raise Violation("forked", f"{after} is put over {stored}")
            versions.append(after)
        if stored is not None:
            self._silence(life_of(stored), change)

    def _silence(self, life: Life, change: ScheduleChange) -> None:
        """What was not due then and had not begun must not run any more."""
        since = max(change.at, self._kernel.now) + self._clocks_differ
        new = change.adds.task_id if change.adds else ""
        for task_id in self._of_life.get(life, ()):
            if task_id == new:
                continue
            begun = run_id_of(task_id, 0) in self._watch.running
            theirs = begun or task_id in self._watch.moved or task_id in self._watch.ended
            if not theirs and self.links[task_id].run_at > since:
                self._silenced.add(task_id)

    def _check_chain(self, after: Schedule, tasks: MemoryTaskStore) -> None:
        if after.enabled and after.pending is not None:
            task = tasks.get(pointer_to(after.pending).place)
            if task is None or task.state is not State.SCHEDULED:
                raise Violation("chain", f"the pending task of {after} is {task}")

    # --- steps

    def _stepped(
        self, change: ScheduleChange, before: Schedule, after: Schedule, stored: Schedule | None
    ) -> None:
        of_it = stored is not None and life_of(stored) == life_of(after)
        if not of_it or stored.version != after.version or before.pending is None:
            raise Violation("forked", f"a step of {before} over {stored}")
        pending, fires = before.pending, change.fates[0].name == "fired"
        late = before.due_at(pending.nominal) + _grace(before) < change.at
        made_up = pending.nominal <= before.catch_up_until
        known = self.links[pending.task_id]
        known.caught_up = fires and (made_up or late)
        taken = [link for link in after.fired if link.task_id == pending.task_id]
        if taken and taken[0].run_at != pending.run_at:
            # Somebody cancels or moves it: it is for them to say when it runs.
            known.caught_up = None
        elif self._clocks_differ and self._watch.occurrences[pending.task_id].is_catch_up and fires:
            # Late by the clock of who put it, whatever that of who fires it says.
            known.caught_up = True
        elif late and not made_up:
            self._check_misfire(change.fates[0], before, change.at)
        elif not fires:
            raise Violation("misfire", f"{pending} is left out, and not late, in {before}")
        if not fires and self._watch.ended.get(pending.task_id) is not Ending.SKIPPED:
            raise Violation(
                "misfire", f"{pending} is left out as {self._watch.ended.get(pending.task_id)}"
            )

    def _check_misfire(self, fate: Fate, before: Schedule, at: int) -> None:
        """Of the times owed, the policy says how many of the latest are made up for."""
        said = before.definition.misfire
        of_others = {link.nominal for link in before.fired}
        times = takewhile(at.__ge__, before.times.after(fate.first - 1))
        owed = [time for time in times if time not in of_others]
        if said.policy == "skip":
            kept = len(owed) - sum(before.due_at(time) + _grace(before) < at for time in owed)
        else:
            kept = min(len(owed), 1 if said.policy == "once" else said.max_catch_up)
        fires = fate.name == "fired" and len(owed) == kept
        left_out = fate.name == "misfire" and [*owed[: len(owed) - kept]][-1:] == [fate.last]
        if not (fires or left_out):
            raise Violation("misfire", f"{said.policy} makes {fate} of {owed} at {at}")

    # --- runs

    @contextmanager
    def running(self, run: Run) -> Iterator[None]:
        """A body of an occurrence, from its begin to its end, however it ends."""
        occurrence = self._watch.occurrences.get(run.task_id)
        if occurrence is None:
            raise Violation("told", f"{run.task_id} is no occurrence, and is told {run.trigger}")
        self._check_told(run, occurrence)
        if occurrence.overlap == "allow":
            yield
            return
        others = self._open.setdefault(occurrence.schedule, [])
        now = self._kernel.now
        for task_id, until in others:
            if task_id != run.task_id and now < until:
                raise Violation("overlap", f"{run.task_id} begins before {task_id} is over")
        until = now + int(run.remaining() * SECOND) + self._margin - CLOCKS_DIFFER
        one = run.task_id, until
        others.append(one)
        try:
            yield
        finally:
            others.remove(one)

    def _check_told(self, run: Run, occurrence: Occurrence) -> None:
        known = self.links.get(run.task_id)
        told = run.trigger, run.is_catch_up, run.scheduled_for
        if known is None:
            moment = datetime.fromtimestamp(occurrence.nominal / SECOND, UTC)
            if told != (Trigger.MANUAL, False, moment):
                raise Violation("told", f"{run.task_id} was run by hand, and is told {told}")
            return
        moment = datetime.fromtimestamp(known.nominal / SECOND, UTC)
        caught_up = run.is_catch_up if known.caught_up is None else known.caught_up
        if told != (Trigger.SCHEDULE, caught_up, moment):
            raise Violation("told", f"{run.task_id} is {known}, and is told {told}")
        if run.task_id in self._silenced:
            raise Violation("closed", f"{known} runs after its version was closed")
        if run.task_id not in self._watch.moved and self._kernel.own_now() < known.due:
            raise Violation("early", f"{known} runs before its time")
        if self._ran.setdefault((known.life, known.nominal), run.task_id) != run.task_id:
            raise Violation("doubled", f"{known} is run by a second task")

    # --- the end

    def confirmed(self, schedule: Schedule) -> None:
        """A client was told that it is so now."""
        versions = self.versions.get(life_of(schedule), ())
        if len(versions) < schedule.version:
            raise Violation("confirmed", f"{schedule} was told, and never was")

    def check_end(self, store: MemoryScheduleStore) -> None:
        """No chain has stopped, and each time of each version has one fate."""
        for schedule in store.schedules.values():
            pending = schedule.pending
            if pending is not None and pending.run_at <= self._kernel.now:
                raise Violation("chain", f"overdue: {schedule}")
            fates = [fate for _, fate in sorted(store.noted.get(schedule.name, {}).items())]
            fired = {fate.first: fate.task_id for fate in fates if fate.name == "fired"}
            left_out = [
                fate for fate in fates if fate.name != "fired" and fate.last > schedule.created_at
            ]
            for version, time in self._expected(schedule):
                names = {fate.name for fate in _covering(left_out, time, version)}
                # Where one clock goes back behind another, what was left out may be left out again.
                most = 2 if self._clocks_differ else 1
                if time not in fired and not 1 <= len(names) <= most:
                    raise Violation("fate", f"{time} of {version} has {names} of {fates}")
            for (life, nominal), task_id in self._ran.items():
                if life == life_of(schedule) and fired.get(nominal) != task_id:
                    raise Violation("fate", f"{task_id} ran for {nominal}, of {fates}")

    def _expected(self, last: Schedule) -> Iterator[tuple[Schedule, int]]:
        """The times that came, or were taken, while a version was the one; but those a pause still holds."""
        versions = self.versions[life_of(last)]
        for at, version in enumerate(versions):
            later = versions[at + 1 :]
            since, until = self._reach(version, later, last)
            earlier = bool(later) and until < later[0].changed_at
            for time in takewhile(until.__ge__, version.times.after(since)):
                held = last.paused_since is not None and time >= last.paused_since
                closed = earlier and version.due_at(time) > until
                if (
                    time > last.created_at
                    and not closed
                    and not (held and version.times == last.times)
                ):
                    yield version, time

    def _reach(
        self, version: Schedule, later: Sequence[Schedule], last: Schedule
    ) -> tuple[int, int]:
        """After which instant and up to which one a version has to account for its times. One that came
        later may be earlier by its client's clock."""
        closed = min((one.changed_at for one in later), default=END)
        if version.paused_since is not None:
            ends = later and (later[0].enabled or later[0].times != version.times)
            return version.paused_since - 1, closed if ends else 0
        begun = [
            link.nominal
            for link in version.fired
            if run_id_of(link.task_id, 0) in self._watch.running
        ]
        since = max([version.changed_at, *begun])
        if later:
            return since, closed
        if last.pending is None and version.definition.end_at is None:
            raise Violation("chain", f"it has ended, and its rule has not: {last}")
        return since, END if last.pending is None else last.pending.nominal - 1


def life_of(schedule: Schedule) -> Life:
    """Which schedule of that name it is."""
    return schedule.name, schedule.created_at


def _grace(schedule: Schedule) -> int:
    return schedule.definition.misfire.grace_seconds * SECOND


def _covering(fates: Sequence[Fate], time: int, version: Schedule) -> list[Fate]:
    return [
        fate
        for fate in fates
        if fate.first <= time <= fate.last
        and (fate.times == version.times or fate.times.next(time - 1) == time)
    ]
