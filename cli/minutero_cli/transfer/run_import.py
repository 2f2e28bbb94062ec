"""An import: batches in flight, what became of their lines counted, and the refused ones written down."""

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from http import HTTPStatus
from threading import Event

from minutero_cli.transfer.batches import Batch, Entry, Result
from minutero_cli.transfer.progress import Progress
from minutero_cli.transfer.refused import Refused

Flight = tuple[Batch, Future[list[Result]]]


@dataclass(slots=True)
class Counts:
    """How many lines were created, were there already, were refused."""

    created: int = 0
    already_there: int = 0
    refused: int = 0

    @property
    def lines(self) -> int:
        """How many lines have their answer."""
        return self.created + self.already_there + self.refused


@dataclass(frozen=True, slots=True)
class Import:
    """Sends batches, `at_once` of them side by side; `stopped` tells `send` to give up waiting."""

    send: Callable[[Batch], list[Result]]
    at_once: int
    stopped: Event
    refused: Refused
    progress: Progress
    counts: Counts = field(default_factory=Counts)

    def __call__(self, batches: Iterable[Batch]) -> None:
        """Send all of it. However it ends, `counts` and `refused` tell of each batch that had its answers.

        Raises what ends it early: what `send` raises, KeyboardInterrupt.
        """
        flying: deque[Flight] = deque()
        with ThreadPoolExecutor(self.at_once) as threads:
            try:
                for batch in batches:
                    # Of two lines with one key the first makes the task: the other waits for its answer.
                    while len(flying) >= self.at_once or any(
                        batch.keys & it.keys for it, _ in flying
                    ):
                        self._settle_oldest(flying)
                    flying.append((batch, threads.submit(self.send, batch)))
                while flying:
                    self._settle_oldest(flying)
            except BaseException:
                self.stopped.set()
                self._land(flying)
                raise

    def _settle_oldest(self, flying: deque[Flight]) -> None:
        """Wait for the oldest in flight: so lines are told of in their order."""
        batch, sent = flying[0]
        results = sent.result()
        flying.popleft()
        self._settle(batch, results)

    def _land(self, flying: Iterable[Flight]) -> None:
        """Wait for the answers to what was sent: they are not to be lost."""
        for batch, sent in flying:
            if not sent.cancel() and sent.exception() is None:
                self._settle(batch, sent.result())

    def _settle(self, batch: Batch, results: list[Result]) -> None:
        for entry, result in zip(batch.entries, results, strict=True):
            self._count(entry, result)
        self.progress(batch.entries[-1].line.end, self.counts.lines)

    def _count(self, entry: Entry, result: Result) -> None:
        match result["status"]:
            case HTTPStatus.CREATED:
                self.counts.created += 1
            case HTTPStatus.OK:
                self.counts.already_there += 1
            case _:
                self.counts.refused += 1
                self.refused.add(entry.line, result)
