"""The ticks: dispatchers that claim pages and send them, as `service/dispatch.py` does it."""

from collections.abc import Generator
from dataclasses import dataclass, field
from math import ceil

import simpy

from bench.million.limits import INVOKE, REQUEST, SEND
from bench.million.scenario import DISPATCHER_MEMORY, Scenario, seconds_of_cpu
from bench.million.store import Table
from minutero.aws.bucket_pages import PAGE
from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.timing import Timing
from minutero.service.claim_batch import CLAIM_CHUNK, FIRST_PAUSE, LONGEST_PAUSE, SEND_CHUNK
from minutero.service.fan_out import groups
from minutero.wiring.process import THREADS

Wait = Generator[simpy.Event, None, None]

TIMES = Timing()
TICK_TIME = TIMES.dispatcher_timeout / SECOND - 5
"""Seconds in which a tick begins new batches: the margin is that of `functions/dispatcher/app.py`."""

LOOK_BACK = TIMES.look_back // MINUTE
READ_SHARE, CLAIM_SHARE = 0.2, 0.3
"""Of the dispatcher's CPU, by its floor: 22 us a task for the page, 33 for the claim, 53 for the message."""

ITEM = 500
"""Bytes of a small task's item."""

PAGE_UNITS = ceil(PAGE * ITEM / 4_096)
"""Read units of a page, claimed items among them: a filter is applied after the read."""


@dataclass(slots=True)
class Bucket:
    """A minute of a shard: what is still scheduled on each of its pages."""

    minute: int
    size: int
    partition: int
    waiting: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.waiting = [min(PAGE, self.size - at) for at in range(0, self.size, PAGE)]

    def due(self, page: int, count: int) -> list[int]:
        """The seconds in which the next `count` of a page are due, from the first minute's start."""
        end = min(self.size, (page + 1) * PAGE)
        first = end - self.waiting[page]
        return [self.minute * 60 + at * 60 // self.size for at in range(first, first + count)]


@dataclass(frozen=True, slots=True)
class Sent:
    """Tasks of one page that were sent together: when they were claimed and sent, when each is due."""

    claimed_at: float
    sent_at: float
    due: list[int]


class Dispatching:
    """All ticks of a scenario. Seconds count from the start of the first minute."""

    def __init__(self, scenario: Scenario) -> None:
        self._scenario = scenario
        self.table = Table(scenario.table_units, scenario.background)
        self._buckets = [
            [
                Bucket(minute, size, self.table.partition_of(f"{minute}#{shard}"))
                for minute in range(scenario.minutes)
            ]
            for shard, size in enumerate(scenario.sizes())
        ]
        self.left = scenario.tasks * scenario.minutes
        self.sent: list[Sent] = []
        self._cpu = seconds_of_cpu(scenario.cpu.dispatch, DISPATCHER_MEMORY)
        self._request = REQUEST * scenario.slowness
        self._send_request = SEND * scenario.slowness
        self._env = simpy.Environment(initial_time=-60 * scenario.look_ahead + scenario.phase)

    def run(self) -> list[Sent]:
        """Ticks until all is sent."""
        done = self._env.process(self._ticks())
        self._env.run(done)
        return self.sent

    def _ticks(self) -> Wait:
        own, others = groups(self._scenario.shards)
        while self.left:
            calls = [
                self._env.process(self._tick(shards, number * self._request + INVOKE))
                for number, shards in enumerate([list(own), *others])
            ]
            yield self._env.timeout(60)
            if not self.left:
                yield simpy.AllOf(self._env, calls)

    def _tick(self, shards: list[int], begins_in: float) -> Wait:
        """Shard after shard, each with its share of the time that is left."""
        yield self._env.timeout(begins_in)
        deadline = self._env.now + TICK_TIME
        for waiting, shard in zip(range(len(shards), 0, -1), shards, strict=True):
            yield from self._visit(shard, self._env.now + (deadline - self._env.now) / waiting)

    def _visit(self, shard: int, until: float) -> Wait:
        last = int((self._env.now + 60 * self._scenario.look_ahead) // 60)
        # What fell out of the look-back is the backlog's, in the time that is left: the same time here.
        due = [bucket for bucket in self._buckets[shard] if bucket.minute <= last]
        # The minutes in which nothing is due, one page each.
        minutes = LOOK_BACK + 1 + self._scenario.look_ahead
        yield self._env.timeout(max(0, minutes - len(due)) * self._request)
        for bucket in due:
            for page in range(len(bucket.waiting)):
                if self._env.now >= until:
                    return
                yield from self._page(bucket, page, until)

    def _page(self, bucket: Bucket, page: int, until: float) -> Wait:
        while not self.table.read(bucket.partition, PAGE_UNITS, self._env.now):
            yield self._env.timeout(FIRST_PAUSE / SECOND)
        waiting = bucket.waiting[page]
        yield self._env.timeout(self._request + waiting * self._cpu * READ_SHARE)
        if waiting:
            yield from self._note(bucket)
            yield from self._take(bucket, page, until)
            yield from self._note(bucket)

    def _note(self, bucket: Bucket) -> Wait:
        """The open claim, written and deleted."""
        while not self.table.write(bucket.partition, 1, self._env.now):
            yield self._env.timeout(FIRST_PAUSE / SECOND)
        yield self._env.timeout(self._request)

    def _take(self, bucket: Bucket, page: int, until: float) -> Wait:
        """Claims and sends; what is throttled is asked again after a pause that grows."""
        pause = FIRST_PAUSE
        while True:
            asked = bucket.waiting[page]
            won = self.table.write(bucket.partition, asked, self._env.now)
            yield self._env.timeout(
                _rounds(asked, CLAIM_CHUNK) * self._request + asked * self._cpu * CLAIM_SHARE
            )
            if won:
                yield from self._send(bucket, page, won)
            if not bucket.waiting[page] or self._env.now >= until:
                return
            yield self._env.timeout(pause / SECOND)
            pause = min(LONGEST_PAUSE, pause * 2)

    def _send(self, bucket: Bucket, page: int, won: int) -> Wait:
        claimed_at, due = self._env.now, bucket.due(page, won)
        bucket.waiting[page] -= won
        share = 1 - READ_SHARE - CLAIM_SHARE
        yield self._env.timeout(
            _rounds(won, SEND_CHUNK) * self._send_request + won * self._cpu * share
        )
        self.sent.append(Sent(claimed_at, self._env.now, due))
        self.left -= won


def _rounds(tasks: int, chunk: int) -> int:
    """How often all threads of a process have a request out."""
    return ceil(ceil(tasks / chunk) / THREADS)
