"""Move a task: reschedule, run now and redrive are one operation."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

from minutero.domain.exchanged import DeadLetter, Move
from minutero.domain.instants import SECOND
from minutero.domain.run import Ending, RunRecord
from minutero.domain.task import Task
from minutero.domain.timing import Timing
from minutero.errors import Conflict, Unavailable
from minutero.ports import Clock, RunLedger, TaskStore
from minutero.service.cancel import is_superseded, why_not
from minutero.service.find_task import FOLLOWS, find_task
from minutero.service.letters import ending_of, letter_of
from minutero.service.pass_on import PassOn
from minutero.service.send_near import SendNear

MOST_MOVES = 9_999
"""The run number has four digits in the sort key."""


@dataclass(frozen=True, slots=True)
class MoveTask:
    """Closes the old run and puts the task at its new place, in one transaction.

    `clock_margin` is how far ahead the clock may be, in milliseconds: 0 within AWS.
    """

    store: TaskStore
    ledger: RunLedger
    send_near: SendNear
    pass_on: PassOn
    clock: Clock
    timing: Timing
    clock_margin: int = 0

    def reschedule(self, task_id: str, due: Callable[[int], int]) -> Task:
        """Due at `due(now)` instead, in milliseconds. The task as it lies now.

        Raises NotFound, Conflict (running, or over), Unavailable.
        """
        return self._move(task_id, due, "rescheduled")

    def run_now(self, task_id: str) -> Task:
        """Due now. Raises as `reschedule`."""
        return self._move(task_id, lambda now: now, "run now")

    def redrive(self, task_id: str) -> Task:
        """A dead task once more, with all its attempts. Raises NotFound, Conflict (not dead), Unavailable."""
        return self._move(task_id, lambda now: now, "redriven", self._letter_of_the_dead)

    def _letter_of_the_dead(self, task: Task) -> DeadLetter:
        record = self.ledger.get(task.run_id)
        if ending_of(record) is Ending.DISCARDED:
            raise Conflict(f"task {task.task_id} was discarded; add a new one")
        if record is None or ending_of(record) is not Ending.DEAD:
            raise Conflict(f"task {task.task_id} is not dead; only a dead task can be redriven")
        return letter_of(task, record, self.timing)

    def _move(
        self,
        task_id: str,
        due: Callable[[int], int],
        verb: str,
        takes_back: Callable[[Task], DeadLetter] | None = None,
    ) -> Task:
        token = secrets.token_hex(8)
        for _ in range(FOLLOWS):
            now = self.clock.now()
            task = find_task(self.store, task_id)
            if task.run_no >= MOST_MOVES:
                raise Conflict(f"task {task_id} was moved {MOST_MOVES} times; add a new one")
            self.pass_on(task)
            letter = takes_back(task) if takes_back is not None else None
            to = task.moved(due(now), now, self.timing.retention)
            blocking = self._carry_out(task, to, token, now, letter)
            if blocking is None:
                return self.send_near(to)
            # A redrive looks again: what is not dead any more is told so by its letter.
            if letter is None and not is_superseded(blocking):
                raise Conflict(why_not(task_id, blocking, verb))
        raise Unavailable(f"task {task_id} is being moved again and again; try later")

    def _carry_out(
        self, task: Task, to: Task, token: str, now: int, redrives: DeadLetter | None
    ) -> RunRecord | None:
        keep_until = (now + self.timing.retention) // SECOND
        given_up = now - self.clock_margin
        return self.store.move(Move(task, to, token, now, keep_until, given_up, redrives))
