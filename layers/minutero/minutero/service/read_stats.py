"""The numbers of a deployment: how far behind it is, what waits where, and how punctual it was."""

from dataclasses import dataclass, replace

from minutero.domain.exchanged import QueueDepth
from minutero.ports import Clock, CursorStore, Parallel, TaskQueue
from minutero.service.backlog import Backlog, is_overdue
from minutero.service.list_tasks import ListTasks, TaskQuery
from minutero.service.read_task import TaskView
from minutero.service.shards import Shards
from minutero.service.walk import TIME


@dataclass(frozen=True, slots=True)
class Overdue:
    """The `oldest` task that was due in [`start`, `end`) and has not begun, None where there is none.
    `complete` is false where there were too many to look at them all: then there may be an older one."""

    start: int
    end: int
    complete: bool
    oldest: TaskView | None


@dataclass(frozen=True, slots=True)
class Stats:
    """`watermark`: every bucket of every shard up to this minute is settled; None while a shard was never
    served. `backlog` is of the tasks due in [`start`, `end`); `complete` says whether all were seen."""

    now: int
    shards: int
    watermark: int | None
    queue: QueueDepth
    dead_letter_queue: QueueDepth
    start: int
    end: int
    backlog: Backlog
    complete: bool
    overdue: Overdue


@dataclass(frozen=True, slots=True)
class ReadStats:
    """Reads cursors, queues and a stretch of the store; no row is written per task to be counted here."""

    cursors: CursorStore
    queue: TaskQueue
    list_tasks: ListTasks
    shards: Shards
    clock: Clock
    parallel: Parallel

    def __call__(self, start: int, end: int) -> Stats:
        """The numbers now, and what the tasks due in [`start`, `end`) come to."""
        now = self.clock.now()
        shards = self.shards.for_writing(now)
        cursors = self.parallel(self.cursors.get, range(shards))
        served = [cursor.watermark for cursor in cursors if cursor is not None]
        watermark = min(served) if len(served) == shards else None
        backlog, complete = Backlog(), False
        for views, complete in self.list_tasks.seen(TaskQuery(start, end)):  # noqa: B007 - the last one counts
            for view in views:
                backlog.add(view)
        return Stats(
            now,
            shards,
            watermark,
            self.queue.depth(),
            self.queue.dead_depth(),
            start,
            end,
            backlog,
            complete,
            self._overdue(
                Overdue(min(start, now), min(end, now), complete, backlog.oldest_overdue),
                watermark,
                max(0, now + TIME - self.clock.now()),
            ),
        )

    def _overdue(self, found: Overdue, watermark: int | None, time: int) -> Overdue:
        """What is not settled before the stretch is looked through as well, from the watermark up to the
        first that is found. What is settled was sent: it may be late in the queue alone. `time` is what the
        stretch has left of that of one request."""
        if watermark is None or watermark >= found.start:
            return found
        complete = False
        for views, complete in self.list_tasks.seen(TaskQuery(watermark, found.start), time):  # noqa: B007
            oldest = next(filter(is_overdue, views), None)
            if oldest is not None:
                return replace(found, start=watermark, complete=True, oldest=oldest)
        return replace(found, start=watermark, complete=complete and found.complete)
