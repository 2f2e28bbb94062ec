"""List a dead run: what the dead-letter function does with one message."""

import logging
from dataclasses import dataclass
from enum import StrEnum

from minutero.domain.instants import SECOND
from minutero.domain.metrics import SILENT, Metric
from minutero.domain.run import Ending, Outcome
from minutero.domain.task import Pointer, Task
from minutero.domain.timing import Timing
from minutero.ports import Clock, Meter, RunLedger, TaskStore
from minutero.service import log_fields
from minutero.service.letters import letter_of
from minutero.service.messages import Kept, Parse, pointer_in

logger = logging.getLogger(__name__)

KILLER = "its message was received too often: the job ends its process, or never ends"


class Burial(StrEnum):
    """What became of a dead letter's message. All but KEPT are acknowledged."""

    LISTED = "listed"
    NOT_DEAD = "not dead"
    """The run ended otherwise, or was redriven or discarded meanwhile."""
    ORPHAN = "orphan"
    """There is no such task any more."""
    KEPT = "kept"
    """The run is alive: try again later."""


@dataclass(frozen=True, slots=True)
class BuryMessage:
    """Lists the run of one message of the dead-letter queue."""

    store: TaskStore
    ledger: RunLedger
    clock: Clock
    timing: Timing
    parse: Parse
    meter: Meter = SILENT

    def message(self, body: str) -> Burial | None:
        """One message. Raises Kept or Unavailable when it must not be acknowledged."""
        pointer = pointer_in(body, self.parse)
        if pointer is None:
            return None
        burial = self(pointer)
        if burial is Burial.KEPT:
            raise Kept(pointer.run_id)
        return burial

    def __call__(self, pointer: Pointer) -> Burial:
        """One dead letter. Raises Unavailable: the message must then be kept.

        A worker ends the run before it sends the message here. A message SQS itself moved here, after
        maxReceiveCount receives, was ended by nobody: the run's lock is taken as a cancel takes it, so a
        finished record wins and a living one means try later.
        """
        task = self.store.get(pointer.place)
        if task is None:
            told = log_fields.of_pointer(pointer)
            logger.warning("no such task any more, dead letter dropped", extra=told)
            return Burial.ORPHAN
        now = self.clock.now()
        keep_until = (now + self.timing.retention) // SECOND
        record = self.ledger.close(
            task.run_id, Outcome(Ending.DEAD, reason=KILLER), now, keep_until
        )
        if record.outcome is None:
            return Burial.KEPT
        if record.outcome.ending is not Ending.DEAD:
            return Burial.NOT_DEAD
        if record.outcome.reason == KILLER and record.finished_at == now:
            self._tell_end(task)
        listed = self.store.list_dead(letter_of(task, record, self.timing))
        return Burial.LISTED if listed else Burial.NOT_DEAD

    def _tell_end(self, task: Task) -> None:
        """Of a run ended here: a worker tells of those it ends."""
        self.meter.add(Metric.DEAD)
        told = {**log_fields.of_task(task), "ending": Ending.DEAD, "reason": KILLER}
        logger.info("run ended", extra=told)
