"""Send what a schedule has put and is near: by its writer, since the tick may have passed its bucket."""

from dataclasses import dataclass

from minutero.domain.instants import SECOND
from minutero.domain.task import Task, is_near
from minutero.ports import Clock
from minutero.service.claim_batch import CLAIM_CHUNK, chunks
from minutero.service.fire import FireOccurrences
from minutero.service.send_near import SendNear
from minutero.service.shards import Shards

PATIENCE = 2 * SECOND
"""Many times that are made up for are the ticks' business, not that of a request that is waited for."""


@dataclass(frozen=True, slots=True)
class SendFired:
    """A crash anywhere in here leaves a `scheduled` occurrence in a bucket that is not settled yet: the next
    tick fires it, or finds that it has fired, and sends it."""

    fire: FireOccurrences
    send_near: SendNear
    shards: Shards
    clock: Clock

    def __call__(self, task: Task | None) -> None:
        now = self.clock.now()
        if task is None or not is_near(task.run_at, now, self.fire.timing.look_ahead):
            return
        until, shards = now + PATIENCE, self.shards.for_writing(now)
        fired = self.fire([task.pointer], shards, lambda: self.clock.now() >= until)
        for some in chunks(fired, CLAIM_CHUNK):
            self.send_near.many(some)
