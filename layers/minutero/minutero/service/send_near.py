"""Send a near task: one that is due before a tick can be relied on to claim it."""

import logging
from dataclasses import dataclass

from minutero.domain.exchanged import Outgoing, Sent
from minutero.domain.task import Task, delay_seconds, is_near
from minutero.domain.timing import Timing
from minutero.errors import Unavailable
from minutero.ports import Clock, TaskQueue, TaskStore

logger = logging.getLogger(__name__)

NEAR = "near"
"""The claim id of a task its writer sent: no open claim has this name, so no rescue ever takes it."""


@dataclass(frozen=True, slots=True)
class SendNear:
    """Sends what was just stored, by its writer."""

    store: TaskStore
    queue: TaskQueue
    clock: Clock
    timing: Timing

    def __call__(self, task: Task) -> Task:
        """The task as it is now: claimed if it was near, sent, and no tick came first.

        A crash anywhere in here leaves a `scheduled` task in a bucket that is not settled yet: the next
        tick sends it. A tick that comes between sends it too, and the run record takes only one.
        """
        now = self.clock.now()
        if not is_near(task.run_at, now, self.timing.look_ahead):
            return task
        message = Outgoing(task.pointer, delay_seconds(task.run_at, now))
        try:
            if self.queue.send([message]) == [Sent.SENT] and self.store.mark_sent(
                task.place, NEAR, now
            ):
                return task.claimed(NEAR, now)
        except Unavailable as error:
            # The task is stored, and that is what the answer promises.
            logger.info("near task %s is left to the next tick: %s", task.task_id, error)
        return task
