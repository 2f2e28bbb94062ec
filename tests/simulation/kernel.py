"""Virtual time and the processes in it. Every port call of a process is a switch point."""

import heapq
import random
from collections.abc import Callable
from itertools import count
from zlib import crc32

from greenlet import getcurrent, greenlet


class Killed(BaseException):
    """Raised inside a process that crashes or is ended by its time-out."""


class Process:
    """One Lambda invocation or client: a greenlet with a clock of its own and a time it is ended at."""

    def __init__(
        self, kernel: "Kernel", body: Callable[[], None], skew: int, dies_at: float, faulty: bool
    ) -> None:
        self.kernel = kernel
        self.skew = skew
        self.dies_at = dies_at
        self.faulty = faulty
        self.on_end: Callable[[bool], None] | None = None
        self.greenlet: greenlet | None = None
        self.ended = False
        self._body = body

    def run(self) -> None:
        """All of its life, in a greenlet of the kernel's."""
        whole = False
        try:
            self._body()
            whole = True
        except Killed:
            pass
        self.ended = True
        if self.on_end is not None:
            self.on_end(whole)

    def now(self) -> int:
        """This process's own clock."""
        return self.kernel.now + self.skew


class Kernel:
    """Runs what is due next, one thing at a time; the same seed gives the same order."""

    def __init__(self, seed: int, start: int) -> None:
        self.random = random.Random(seed)
        self.now = start
        self.digest = 0
        self.hub = getcurrent()
        self.current: Process | None = None
        self.alive = 0
        self._heap: list[tuple[int, int, Process | None, Callable[[], None] | None]] = []
        self._order = count()
        self._until = start
        self._idle: list[greenlet] = []

    def note(self, what: bytes) -> None:
        """Makes an event part of the digest."""
        self.digest = crc32(what, self.digest ^ (self.now & 0xFFFFFFFF))

    def at(self, when: int, call: Callable[[], None]) -> None:
        """Calls something at an instant, outside any process."""
        heapq.heappush(self._heap, (max(when, self.now), next(self._order), None, call))

    def spawn(
        self,
        body: Callable[[], None],
        *,
        skew: int = 0,
        lives: float = float("inf"),
        faulty: bool = True,
    ) -> Process:
        """Starts a process now; it is killed when it is still there after `lives` milliseconds."""
        process = Process(self, body, skew, self.now + lives, faulty)
        self.alive += 1
        heapq.heappush(self._heap, (self.now, next(self._order), process, None))
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
            heapq.heappush(heap, (then, next(self._order), process, None))
            self.hub.switch()
        if self.now >= process.dies_at:
            raise Killed

    def run(self, until: int) -> None:
        """Until nothing is left to do, or that instant."""
        heap = self._heap
        self._until = until
        while heap and heap[0][0] <= until:
            when, _, process, call = heapq.heappop(heap)
            self.now = max(self.now, when)
            if process is None:
                call()  # type: ignore[misc]
                continue
            self.current = process
            if process.greenlet is None:
                process.greenlet = self._idle.pop() if self._idle else greenlet(self._live)
                process.greenlet.switch(process)
            else:
                process.greenlet.switch()
            self.current = None
            if process.ended:
                self.alive -= 1
        self.now = max(self.now, until)

    def _live(self, process: Process) -> None:
        """One greenlet's life: one process after the other, since making a greenlet is dear."""
        while True:
            process.run()
            self._idle.append(getcurrent())
            process = self.hub.switch()
