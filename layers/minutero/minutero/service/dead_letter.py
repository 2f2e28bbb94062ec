"""List a dead run: what the dead-letter function does with one message."""

import logging
from dataclasses import dataclass
from enum import StrEnum

from minutero.domain.instants import SECOND
from minutero.domain.run import Ending, Outcome
from minutero.domain.task import Pointer, Task
from minutero.domain.timing import Timing
from minutero.ports import (
    Clock,
    DeadLetter,
    Finished,
    RunOnce,
    TaskStore,
)

logger = logging.getLogger(__name__)

KILLER = "the message was received too often: its job ends the process, or never ends"


class Burial(StrEnum):
    """What became of a dead letter's message. All but KEPT are acknowledged."""

    LISTED = "listed"
    NOT_DEAD = "not dead"
    """The run ended otherwise, or was redriven or discarded meanwhile."""
    ORPHAN = "orphan"
    KEPT = "kept"
    """The run is alive: try again later."""


@dataclass(frozen=True, slots=True)
class BuryMessage:
    """Lists the run of one message of the dead-letter queue."""

    store: TaskStore
    run_once: RunOnce
    clock: Clock
    timing: Timing

    def __call__(self, pointer: Pointer, reason: str) -> Burial:
        """`reason` is empty for a message SQS itself moved here, after maxReceiveCount receives.

        Raises Unavailable: the message must then be kept.
        """
        task = self.store.get(pointer.place)
        if task is None:
            logger.warning("no task at %s, dead letter dropped", pointer.place)
            return Burial.ORPHAN
        if not reason:
            # Nobody has ended this run yet. Its lock is taken as a worker takes it: a finished record
            # wins, a living one means try later.
            ended = self._end(task)
            if isinstance(ended, Burial):
                return ended
            reason = ended
        listed = self.store.list_dead(self._letter(task, reason))
        return Burial.LISTED if listed else Burial.NOT_DEAD

    def _end(self, task: Task) -> str | Burial:
        now = self.clock.now()
        until = now + self.timing.run_margin
        keep_until = (now + self.timing.retention) // SECOND
        dead = Outcome(Ending.DEAD, reason=KILLER)
        result = self.run_once(task.run_id, until, keep_until, lambda _attempt: dead)
        match result:
            case Finished(outcome) if outcome.ending is Ending.DEAD:
                return outcome.reason
            case Finished():
                return Burial.NOT_DEAD
            case _:
                return Burial.KEPT

    def _letter(self, task: Task, reason: str) -> DeadLetter:
        now = self.clock.now()
        keep_until = max(task.keep_until, (now + self.timing.retention) // SECOND)
        return DeadLetter(
            task.run_id, task.place, task.job, task.tenant, reason, now, keep_until
        )
