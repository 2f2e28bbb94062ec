"""The numbers of a deployment: how far behind it is, and what waits where."""

from collections.abc import Mapping
from dataclasses import dataclass

from minutero.domain.exchanged import QueueDepth
from minutero.domain.lifecycle import Status
from minutero.ports import Clock, CursorStore, Parallel, TaskQueue
from minutero.service.list_tasks import ListTasks, TaskQuery
from minutero.service.shards import Shards


@dataclass(frozen=True, slots=True)
class Stats:
    """`watermark`: every bucket of every shard up to this minute is settled; None while a shard was never
    served. `counts` are of the tasks due in [`start`, `end`); `complete` says whether all were seen."""

    now: int
    shards: int
    watermark: int | None
    queue: QueueDepth
    dead_letter_queue: QueueDepth
    start: int
    end: int
    counts: Mapping[Status, int]
    complete: bool


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
        """The numbers now, and how many tasks due in [`start`, `end`) there are of each status."""
        now = self.clock.now()
        shards = self.shards.for_writing(now)
        cursors = self.parallel(self.cursors.get, range(shards))
        served = [cursor.watermark for cursor in cursors if cursor is not None]
        counts, complete = self.list_tasks.count(TaskQuery(start, end))
        return Stats(
            now,
            shards,
            min(served) if len(served) == shards else None,
            self.queue.depth(),
            self.queue.dead_depth(),
            start,
            end,
            counts,
            complete,
        )
