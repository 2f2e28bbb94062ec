"""The stores of schedules as the simulation uses them: they tell the watch each effect."""

from minutero.domain.exchanged import ScheduleChange
from minutero.testing.memory import MemoryOverlapLocks, MemoryScheduleStore
from tests.simulation.schedule_watch import ScheduleWatch
from tests.simulation.stores import WatchedLedger, WatchedTasks


class WatchedSchedules(MemoryScheduleStore):
    def __init__(self, tasks: WatchedTasks, ledger: WatchedLedger, watch: ScheduleWatch) -> None:
        super().__init__(tasks, ledger)
        self._watch = watch

    def _commit(self, change: ScheduleChange) -> None:
        of = change.before or change.after
        stored = None if of is None else self.schedules.get(of.name)
        super()._commit(change)
        self._watch.changed(change, stored, self._tasks)


class WatchedLocks(MemoryOverlapLocks):
    """`let_go_by`: the runs that have let a lock go."""

    def __init__(self) -> None:
        super().__init__()
        self.let_go_by: set[str] = set()

    def let_go(self, schedule: str, run_id: str) -> None:
        super().let_go(schedule, run_id)
        self.let_go_by.add(run_id)
