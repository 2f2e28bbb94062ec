"""Run a schedule now, besides its times: they stay as they are."""

from dataclasses import dataclass

from minutero.domain.metrics import SILENT, Metric
from minutero.domain.occurrence import Trigger
from minutero.domain.schedule import Link
from minutero.domain.task import Task, new_task_id
from minutero.domain.timing import Timing
from minutero.ports import Clock, Meter, ScheduleStore, TaskStore
from minutero.service.find_schedule import find_schedule
from minutero.service.send_near import SendNear
from minutero.service.shards import Shards


@dataclass(frozen=True, slots=True)
class RunScheduleNow:
    """A paused schedule too: who asks for it wants it."""

    schedules: ScheduleStore
    store: TaskStore
    send_near: SendNear
    shards: Shards
    clock: Clock
    timing: Timing
    meter: Meter = SILENT

    def __call__(self, name: str) -> Task:
        """A task due now, outside the chain. Raises NotFound, Unavailable."""
        schedule = find_schedule(self.schedules, name)
        now = self.clock.now()
        link = Link(now, now, new_task_id(now, self.shards.for_writing(now)))
        task = schedule.task(link, now, self.timing.retention, Trigger.MANUAL)
        self.store.put(task)
        self.meter.add(Metric.CREATED)
        return self.send_near(task)
