"""The list of the dead: see it, show one, run them again, take one off."""

from collections.abc import Sequence
from dataclasses import dataclass

from minutero.domain.exchanged import DeadLetter
from minutero.domain.instants import DAY, format_instant
from minutero.domain.run import Ending
from minutero.domain.task import read_sort_key
from minutero.domain.timing import Timing
from minutero.errors import Conflict, MinuteroError, NotFound
from minutero.ports import Clock, Parallel, TaskStore
from minutero.service.letters import ending_of, letter_of
from minutero.service.move import MoveTask
from minutero.service.read_task import ReadTask, TaskView
from minutero.service.shards import Shards
from minutero.service.walk import TIME, Position, Walk

REDRIVES = 8
"""Redrives begun at once; between them the clock is looked at. Few: on a busy machine each takes long."""


@dataclass(frozen=True, slots=True)
class DeadQuery:
    """Runs that died in [`start`, `end`), in milliseconds, of one job where it is given."""

    start: int
    end: int
    job: str = ""


@dataclass(frozen=True, slots=True)
class LetterPage:
    """Some letters, oldest first, and where the next page begins: None at the end. It may be empty and
    still go on."""

    letters: Sequence[DeadLetter]
    following: Position | None


@dataclass(frozen=True, slots=True)
class Redriven:
    """What became of a page of letters; `failed` are the runs that could not be redriven, and why."""

    letters: Sequence[DeadLetter]
    failed: Sequence[tuple[DeadLetter, MinuteroError]]
    following: Position | None


@dataclass(frozen=True, slots=True)
class DeadList:
    """Reads the rows that `dead_letter` wrote, day by day, within the budget of one request."""

    store: TaskStore
    read_task: ReadTask
    move: MoveTask
    shards: Shards
    clock: Clock
    timing: Timing
    parallel: Parallel

    def kept(self, end: int | None = None) -> tuple[int, int]:
        """When those on the list died, in milliseconds: from, and before. `end` is an earlier page's."""
        now = self.clock.now()
        return now - self.timing.retention - DAY, now + 1 if end is None else end

    def page(self, query: DeadQuery, limit: int, start: Position | None = None) -> LetterPage:
        """A page of at most `limit` letters."""
        days = range(query.start - query.start % DAY, query.end, DAY)
        walk: Walk[DeadLetter] = Walk(
            lambda day, shard, after: self.store.page_dead(
                format_instant(day)[:10], shard, after or None
            ),
            _sort_key,
            self.shards.for_writing(self.clock.now()),
            self.parallel,
            self.clock,
        )
        found: list[DeadLetter] = []
        following = start or Position(days.start)
        for chunk in walk.chunks(days, following):
            for letter in chunk.rows:
                if len(found) == limit:
                    return LetterPage(found, _behind(found[-1]))
                if query.start <= letter.died_at < query.end and query.job in ("", letter.job):
                    found.append(letter)
            if chunk.following is None:
                return LetterPage(found, None)
            following = chunk.following
            if len(found) == limit:
                break
        return LetterPage(found, following)

    def show(self, task_id: str) -> tuple[DeadLetter, TaskView]:
        """A dead task, listed already or about to be. Raises NotFound when it is not dead, or discarded."""
        view = self.read_task(task_id)
        if ending_of(view.run) is Ending.DISCARDED:
            raise NotFound(f"task {task_id} was discarded; it is dead, and off the list")
        if view.run is None or ending_of(view.run) is not Ending.DEAD:
            raise NotFound(f"task {task_id} is not among the dead; its status is {view.status}")
        return letter_of(view.task, view.run, self.timing), view

    def discard(self, task_id: str) -> tuple[DeadLetter, TaskView]:
        """Takes a dead task off the list; it stays dead and cannot be redriven any more.

        Raises NotFound as `show`, Conflict when it was redriven meanwhile, Unavailable.
        """
        letter, view = self.show(task_id)
        if not self.store.discard(letter):
            raise Conflict(f"task {task_id} was redriven meanwhile; look at it again")
        return letter, view

    def redrive(self, query: DeadQuery, limit: int, start: Position | None = None) -> Redriven:
        """Runs a page of the dead again, each with all its attempts, or as many as there is time for. One
        that fails spoils no other."""
        until = self.clock.now() + TIME
        page = self.page(query, limit, start)
        done: list[DeadLetter] = []
        failed: list[tuple[DeadLetter, MinuteroError]] = []
        for at in range(0, len(page.letters), REDRIVES):
            some = page.letters[at : at + REDRIVES]
            ends = self.parallel(self._redrive_one, some)
            done += some
            failed += [(one, end) for one, end in zip(some, ends, strict=True) if end is not None]
            if self.clock.now() >= until and len(done) < len(page.letters):
                return Redriven(done, failed, _behind(done[-1]))
        return Redriven(done, failed, page.following)

    def _redrive_one(self, letter: DeadLetter) -> MinuteroError | None:
        task_id = task_id_of(letter)
        try:
            if task_id is None:
                raise Conflict("its row could not be read, so there is nothing to run again")
            self.move.redrive(task_id)
        except MinuteroError as error:
            return error
        return None


def task_id_of(letter: DeadLetter) -> str | None:
    """The task that died; None for a row that could not be read."""
    return read_sort_key(letter.place.sk)[0] if letter.has_run else None


def _sort_key(letter: DeadLetter) -> str:
    return f"{letter.died_at:014d}#{letter.run_id}"


def _behind(letter: DeadLetter) -> Position:
    return Position(letter.died_at - letter.died_at % DAY, _sort_key(letter))
