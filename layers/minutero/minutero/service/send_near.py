"""Send a near task: one that is due before a tick can be relied on to claim it."""

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from minutero.domain.exchanged import Outgoing, Sent
from minutero.domain.metrics import SILENT, Metric
from minutero.domain.task import NEAR, Pointer, Task, delay_seconds, is_near
from minutero.domain.timing import Timing
from minutero.errors import Unavailable
from minutero.ports import Clock, Meter, TaskQueue, TaskStore
from minutero.service import log_fields

logger = logging.getLogger(__name__)

MESSAGES = 10
"""Messages of one request, as many as SQS takes."""


@dataclass(frozen=True, slots=True)
class SendNear:
    """Sends what was just stored, by its writer."""

    store: TaskStore
    queue: TaskQueue
    clock: Clock
    timing: Timing
    meter: Meter = SILENT

    def __call__(self, task: Task) -> Task:
        """The task as it is now: claimed if it was near, sent, and no tick came first.

        A crash anywhere in here leaves a `scheduled` task in a bucket that is not settled yet: the next
        tick sends it. A tick that comes between sends it too, and the run record takes only one.
        """
        now = self.clock.now()
        if not is_near(task.run_at, now, self.timing.look_ahead):
            return task
        try:
            if self._send([task.pointer], now) and self.store.mark_sent(task.place, NEAR, now):
                return task.claimed(NEAR, now)
        except Unavailable as error:
            _leave_to_the_tick([task.pointer], error)
        return task

    def many(self, tasks: Sequence[Pointer]) -> None:
        """The same for as many tasks as one batch of claims holds."""
        now = self.clock.now()
        near = [task for task in tasks if is_near(task.due, now, self.timing.look_ahead)]
        try:
            sent = [task for some in _messages_of(near) for task in self._send(some, now)]
            # The claim of a tick, under the name of no open claim: what a tick has taken meanwhile it loses.
            if sent:
                self.store.claim([task.place for task in sent], NEAR, now)
        except Unavailable as error:
            _leave_to_the_tick(near, error)

    def _send(self, tasks: Sequence[Pointer], now: int) -> list[Pointer]:
        """Those of up to ten tasks that the queue has taken."""
        messages = [Outgoing(task, delay_seconds(task.due, now)) for task in tasks]
        ends = self.queue.send(messages)
        sent = [task for task, end in zip(tasks, ends, strict=True) if end is Sent.SENT]
        self.meter.add(Metric.SENT, len(sent))
        return sent


def _leave_to_the_tick(tasks: Sequence[Pointer], error: Unavailable) -> None:
    """The tasks are stored, and that is what the answer promises."""
    for task in tasks:
        told = {**log_fields.of_pointer(task), "error": str(error)}
        logger.info("a near task is left to the next tick", extra=told)


def _messages_of(tasks: Sequence[Pointer]) -> Iterator[Sequence[Pointer]]:
    return (tasks[at : at + MESSAGES] for at in range(0, len(tasks), MESSAGES))
