"""How time passes in a deployment in memory: a tick a minute, each message at its second."""

from dataclasses import replace

from minutero.domain.buckets import bucket_name, minute_of, parse_bucket
from minutero.domain.exchanged import Outgoing
from minutero.domain.instants import MINUTE, SECOND
from minutero.service.execute import Verdict
from minutero.testing.clock import SettableClock
from minutero.testing.crashes import Crashed
from minutero.testing.deployment import SHARDS, Deployment

NEVER = 1 << 62
VISIBILITY = 6
"""Worker time-outs after which SQS delivers again what was not acknowledged, as template.yaml has it."""

MOST_AT_ONCE = 100_000
"""Messages at one instant. More are an endless loop: here a job takes no time, so the clock stands still."""


class Clockwork:
    """Moves the clock, and has happen what happens meanwhile. There is one worker, which does one message
    after the other. `deliveries` is how often it gets each."""

    def __init__(self, deployment: Deployment, clock: SettableClock) -> None:
        self._d = deployment
        self._clock = clock
        self._ticked = minute_of(clock.now())
        self._job_ends_by: int | None = None
        self.deliveries = 1
        # As if it had ticked for ever.
        deployment.memory.cursors.begin(0, self._settled(self._ticked))

    def move_to(self, end: int) -> None:
        """What is due by `end` (milliseconds, included) happens, in order; then it is `end`.

        Called within a job, it is the job that takes so long. Raises ValueError for a time that is past, and
        Crashed within a job that is over its time-out.
        """
        if end < self._clock.now():
            raise ValueError("time does not go back: make a MinuteroApp(...) that begins earlier")
        if self._job_ends_by is not None:
            self._clock.set(end)
            if end >= self._job_ends_by:
                raise Crashed("over its time-out")
            return
        while True:
            tick, message = self._next_tick(), self._d.memory.queue.next_visible() or NEVER
            if min(tick, message) > end:
                break
            self._clock.set(max(self._clock.now(), min(tick, message)))
            if tick <= message:
                self._pass_over(tick - MINUTE)
                self._tick()
            self._deliver(end)
        self._pass_over(minute_of(end))
        self._clock.set(max(self._clock.now(), end))

    # --- ticks

    def _next_tick(self) -> int:
        """The next one that finds something to do, NEVER if there is nothing."""
        cursor = self._d.memory.cursors.cursors[0]
        waiting = self._d.memory.tasks.first_waiting(bucket_name(cursor.watermark + MINUTE, 0))
        if waiting is None:
            return NEVER
        seen_at = parse_bucket(waiting)[0] - self._d.timing.look_ahead
        return max(self._ticked + MINUTE, minute_of(seen_at))

    def _tick(self) -> None:
        now = self._clock.now()
        growth = self._d.shards.for_dispatch(now)
        self._d.dispatcher.tick(range(SHARDS), growth, now + self._d.timing.dispatcher_timeout)
        self._ticked = minute_of(now)

    def _pass_over(self, last: int) -> None:
        """The ticks up to this minute, which find nothing: all they would do is move the watermark, so that
        alone is done. A year has half a million of them."""
        if last > self._ticked:
            self._ticked = last
            owner, settled = self._d.dispatcher.owner, self._settled(last)
            self._d.memory.cursors.advance(0, owner, last, settled, until=0)

    def _settled(self, tick: int) -> int:
        """How far the watermark gets with a tick that finds nothing."""
        return tick - self._d.timing.settle_grace - MINUTE

    # --- messages

    def _deliver(self, end: int) -> None:
        """All that is visible, and what the worker gives up."""
        queue, began, done = self._d.memory.queue, self._clock.now(), 0
        # A job may take longer than to the end; what became visible after it is left for the next move.
        while (message := queue.receive(min(self._clock.now(), end))) is not None:
            done += self._clock.now() == began
            if done > MOST_AT_ONCE:
                raise RuntimeError(
                    f"{MOST_AT_ONCE} messages at one instant: does a job add a task that is due at once, each"
                    " time it runs? Give it a delay_seconds"
                )
            for _ in range(self.deliveries):
                self._work(message)
            while queue.dead:
                self._d.bury(queue.dead.pop(0).pointer)

    def _work(self, message: Outgoing) -> None:
        received, timing = self._clock.now(), self._d.timing
        self._job_ends_by = received + timing.worker_timeout
        try:
            task = self._d.memory.tasks.get(message.pointer.place)
            verdict = self._d.execute(message.pointer, task, self._job_ends_by)
        except Crashed:
            verdict = Verdict.KEPT
        finally:
            self._job_ends_by = None
        if verdict is Verdict.KEPT:
            visible = received + VISIBILITY * timing.worker_timeout
            delay = -((self._clock.now() - visible) // SECOND)
            self._d.memory.queue.send([replace(message, delay=delay)])
