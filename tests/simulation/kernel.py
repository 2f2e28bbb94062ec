"""Virtual time and the processes in it. Every port call of a process is a switch point."""

import random
import sys
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from itertools import count
from typing import TypeVar
from zlib import crc32

from greenlet import getcurrent, greenlet

Choice = TypeVar("Choice")

sys.setrecursionlimit(20_000)
# A greenlet begins as deep as the one that starts it, so hundreds of processes at once seem a deep recursion.


class Killed(BaseException):
    """Raised inside a process that crashes or is ended by its time-out."""


class Process:
    """One Lambda invocation or client, with a clock of its own and a time it is ended at. `greenlet` is where
    it runs, once it has begun."""

    __slots__ = ("_body", "dies_at", "faulty", "greenlet", "on_end", "skew")

    def __init__(self, body: Callable[[], None], skew: int, dies_at: int, faulty: bool) -> None:
        self._body = body
        self.skew = skew
        self.dies_at = dies_at
        self.faulty = faulty
        self.on_end: Callable[[bool], None] | None = None
        self.greenlet: greenlet | None = None

    def run(self) -> None:
        """All of its life."""
        whole = False
        try:
            self._body()
            whole = True
        except Killed:
            pass
        if self.on_end is not None:
            self.on_end(whole)


class Kernel:
    """Runs what is due next, one thing at a time; the same seed gives the same order."""

    def __init__(self, seed: int, start: int) -> None:
        chances = random.Random(seed)
        self.chance = chances.random
        self.some_bytes = chances.randbytes
        self.now = start
        self.digest = 0
        self.current: Process | None = None
        self.alive = 0
        self._hub = getcurrent()
        self._heap: list[tuple[int, int, Process | None, Callable[[], None] | None]] = []
        self._order = count()
        self._until = start
        self._idle: list[greenlet] = []

    def note(self, what: bytes) -> None:
        """Makes an event part of the digest."""
        self.digest = crc32(what, self.digest ^ self.now)

    def between(self, least: int, most: int) -> int:
        """Drawn, either end included. `Random.randint` takes four times as long."""
        return least + int(self.chance() * (most - least + 1))

    def one_of(self, choices: Sequence[Choice]) -> Choice:
        """Drawn."""
        return choices[int(self.chance() * len(choices))]

    def own_now(self) -> int:
        """What the clock of the current process says."""
        process = self.current
        return self.now if process is None else self.now + process.skew

    def at(self, when: int, call: Callable[[], None]) -> None:
        """Calls something at an instant, outside any process."""
        heappush(self._heap, (max(self.now, when), next(self._order), None, call))

    def spawn(self, body: Callable[[], None], skew: int, lives: int, *, faulty: bool) -> Process:
        """Starts a process now; it is killed when it is still there after `lives` milliseconds."""
        process = Process(body, skew, self.now + lives, faulty)
        self.alive += 1
        heappush(self._heap, (self.now, next(self._order), process, None))
        return process

    def pause(self, ms: int) -> None:
        """The current process waits; the others go on. Where none has anything to do meanwhile, time just
        passes: the order is the same without the switch."""
        process = self.current
        if process is None:
            return
        then = self.now + ms
        heap = self._heap
        if then <= self._until and (not heap or then < heap[0][0]):
            self.now = then
        else:
            heappush(heap, (then, next(self._order), process, None))
            self.current = None
            self._another().switch()
        if self.now >= process.dies_at:
            raise Killed

    def run(self, until: int) -> None:
        """Until nothing is left to do, or that instant."""
        self._until = until
        self._another().switch()
        self.now = max(self.now, until)

    def close(self) -> None:
        """Ends every greenlet: the garbage collector does not see what one holds."""
        paused = [process.greenlet for _, _, process, _ in self._heap if process is not None]
        for one in (*self._idle, *paused):
            if one is not None:
                one.throw()

    def _another(self) -> greenlet:
        return self._idle.pop() if self._idle else greenlet(self._live, self._hub)

    def _live(self) -> None:
        """The life of every greenlet but the hub: it does what is due next. While a process in it pauses,
        another greenlet goes on; it is idle when the next to go on is a process in another one."""
        here = getcurrent()
        heap = self._heap
        while True:
            while heap and heap[0][0] <= self._until:
                when, _, process, call = heappop(heap)
                self.now = when
                if process is None:
                    call()  # type: ignore[misc]
                    continue
                self.current = process
                if process.greenlet is None:
                    process.greenlet = here
                    process.run()
                    self.current = None
                    self.alive -= 1
                else:
                    self._idle.append(here)
                    process.greenlet.switch()
            self._idle.append(here)
            self._hub.switch()
