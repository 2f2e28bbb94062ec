"""List the tasks of a stretch of time, in due order, a page at a time."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from minutero.domain.buckets import bucket_name, minute_of, parse_bucket
from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.lifecycle import Status, status_of
from minutero.domain.task import Task
from minutero.ports import Clock, Parallel, RunLedger, TaskStore
from minutero.service.read_task import TaskView
from minutero.service.shards import Shards
from minutero.service.walk import TIME, Chunk, Position, Walk

RUNS = 100
"""Run records read in one request, as many as DynamoDB gives."""

LOOKS = 100
"""Tasks looked at in one query of one shard."""

PAGE_BYTES = 4_000_000
"""Of results, payloads and errors on one page: an answer of Lambda's may have 6 MB."""


@dataclass(frozen=True, slots=True)
class TaskQuery:
    """Tasks due in [`start`, `end`), in milliseconds, of one status and one job where these are given."""

    start: int
    end: int
    status: Status | None = None
    job: str = ""


@dataclass(frozen=True, slots=True)
class TaskPage:
    """Some tasks, and where the next page begins: None at the end. It may be empty and still go on."""

    tasks: Sequence[TaskView]
    following: Position | None


@dataclass(frozen=True, slots=True)
class ListTasks:
    """Reads buckets and run records, within the budget of one request."""

    store: TaskStore
    ledger: RunLedger
    shards: Shards
    clock: Clock
    parallel: Parallel

    def __call__(self, query: TaskQuery, limit: int, start: Position | None = None) -> TaskPage:
        """A page of at most `limit` tasks, in the order of the second they are due in, and within the page of
        the instant.

        Large payloads are left out, and of a task that its worker moved the failures of earlier runs.
        """
        found: list[TaskView] = []
        size = 0
        following = start
        for chunk in self._chunks(query, start):
            following = chunk.following
            for view in self._views(chunk.rows, query):
                found.append(view)
                size += _size(view)
                if len(found) == limit or size > PAGE_BYTES:
                    return _page(found, _behind(view.task, chunk))
        return _page(found, following)

    def seen(self, query: TaskQuery, time: int = TIME) -> Iterator[tuple[Iterator[TaskView], bool]]:
        """The tasks, some at a time and in the order of the second they are due in, each time with whether
        all are seen with them: the budget of a request may end before, or the `time`, in milliseconds."""
        for chunk in self._chunks(query, None, time):
            yield self._views(chunk.rows, query), chunk.following is None

    def _chunks(
        self, query: TaskQuery, start: Position | None, time: int = TIME
    ) -> Iterator[Chunk[Task]]:
        walk: Walk[Task] = Walk(
            lambda minute, shard, after: self.store.page_tasks(
                bucket_name(minute, shard), after, query.job, LOOKS
            ),
            lambda task: task.place.sk,
            self.shards.for_writing(self.clock.now()),
            self.parallel,
            self.clock,
            time,
        )
        minutes = range(minute_of(query.start), query.end, MINUTE)
        return walk.chunks(minutes, start or _first(query.start))

    def _views(self, tasks: Sequence[Task], query: TaskQuery) -> Iterator[TaskView]:
        due = [task for task in tasks if query.start <= task.run_at < query.end]
        for some in (due[at : at + RUNS] for at in range(0, len(due), RUNS)):
            runs = self.ledger.get_many([task.run_id for task in some])
            now = self.clock.now()
            for task in some:
                run = runs.get(task.run_id)
                view = TaskView(task, run, status_of(task, run, now), now)
                if query.status in (None, view.status):
                    yield view


def _page(found: Sequence[TaskView], following: Position | None) -> TaskPage:
    return TaskPage(sorted(found, key=lambda view: view.task.run_at), following)


def _behind(task: Task, chunk: Chunk[Task]) -> Position | None:
    """Behind the last task of a chunk the walk goes on where the chunk says."""
    if task is chunk.rows[-1]:
        return chunk.following
    return Position(parse_bucket(task.place.bucket)[0], task.place.sk)


def _first(start: int) -> Position:
    """Sort keys begin with the second, so what was due before it in its minute is passed over."""
    return Position(minute_of(start), f"{start // SECOND % 60:02d}")


def _size(view: TaskView) -> int:
    run, size = view.run, len(view.task.payload or "") + 1_000
    if run is not None:
        size += len((run.outcome and run.outcome.result) or "")
        size += sum(len(failure.error) + 200 for failure in run.failures)
    return size
