"""The Schedules table in memory, and the locks of schedules whose runs must not overlap."""

from collections.abc import Sequence
from dataclasses import replace

from minutero.domain.exchanged import Changed, ScheduleChange
from minutero.domain.schedule import Fate, Link, Schedule, partition_of, pointer_to
from minutero.domain.task import State, run_id_of
from minutero.testing.memory_ledger import MemoryRunLedger
from minutero.testing.memory_tasks import MemoryTaskStore

PAGE = 100
MOST_FATES = 500


class MemoryScheduleStore:
    """`ScheduleStore` over dicts, together with the tasks and runs its changes touch."""

    def __init__(self, tasks: MemoryTaskStore, ledger: MemoryRunLedger) -> None:
        self._tasks = tasks
        self._ledger = ledger
        self.schedules: dict[str, Schedule] = {}
        self.noted: dict[str, dict[int, Fate]] = {}

    def get(self, name: str) -> Schedule | None:
        return self.schedules.get(name)

    def page(
        self, partition: int, after: str | None = None
    ) -> tuple[Sequence[Schedule], str | None]:
        names = sorted(
            name
            for name in self.schedules
            if partition_of(name) == partition and (after is None or name > after)
        )
        found = [self.schedules[name] for name in names[:PAGE]]
        without = [replace(one, definition=replace(one.definition, payload=None)) for one in found]
        return without, names[PAGE - 1] if len(names) > PAGE else None

    def fates(self, name: str, first: int, last: int) -> Sequence[Fate]:
        noted = sorted(self.noted.get(name, {}).values(), key=lambda fate: fate.first)
        return [fate for fate in noted if fate.last >= first and fate.first <= last][:MOST_FATES]

    def create(self, change: ScheduleChange) -> bool:
        made = change.after
        if made is None or (known := self.schedules.get(made.name)) == made:
            return True
        if known is not None:
            return False
        self._commit(change)
        return True

    def step(self, change: ScheduleChange) -> bool:
        if not self._is_as_read(change):
            return False
        self._commit(change)
        return True

    def replace(self, change: ScheduleChange) -> Changed:
        return self._change(change)

    def delete(self, change: ScheduleChange) -> Changed:
        return self._change(change)

    def _change(self, change: ScheduleChange) -> Changed:
        if not self._is_as_read(change):
            return Changed.STALE
        if not all(self._may_close(link, change.given_up) for link, _ in change.closes):
            return Changed.STARTED
        self._commit(change)
        return Changed.DONE

    def _is_as_read(self, change: ScheduleChange) -> bool:
        read = change.before
        stored = None if read is None else self.schedules.get(read.name)
        if read is None or stored is None:
            return False
        as_read = (read.created_at, read.version, read.pending)
        return (stored.created_at, stored.version, stored.pending) == as_read

    def _may_close(self, link: Link, given_up: int) -> bool:
        record = self._ledger.get(run_id_of(link.task_id, 0))
        there = self._tasks.get(pointer_to(link).place)
        return there is not None and (record is None or record.may_start(given_up))

    def _commit(self, change: ScheduleChange) -> None:
        name = (change.after or change.before or _nobody()).name
        for link, outcome in change.closes:
            run_id = run_id_of(link.task_id, 0)
            times = change.at, change.keep_until, change.given_up
            self._ledger.end_unowned(run_id, outcome, *times)
            self._tasks.set_state(pointer_to(link).place, State.CANCELLED)
        if change.made_up_for is not None:
            self._tasks.set_occurrence(change.made_up_for)
        if change.adds is not None:
            self._tasks.put(change.adds)
        noted = self.noted.setdefault(name, {})
        for time in change.forgets:
            noted.pop(time, None)
        for fate in change.fates:
            noted[fate.first] = fate
        if change.after is None:
            del self.schedules[name]
        else:
            self.schedules[name] = change.after


def _nobody() -> Schedule:
    raise ValueError("a change is of a schedule")


class MemoryOverlapLocks:
    """`OverlapLocks` over a dict: schedule -> (run id, until)."""

    def __init__(self) -> None:
        self.held: dict[str, tuple[str, int]] = {}

    def take(self, schedule: str, run_id: str, now: int, until: int) -> bool:
        holder, end = self.held.get(schedule, ("", 0))
        if holder not in ("", run_id) and end >= now:
            return False
        self.held[schedule] = run_id, until
        return True

    def let_go(self, schedule: str, run_id: str) -> None:
        if self.held.get(schedule, ("", 0))[0] == run_id:
            del self.held[schedule]
