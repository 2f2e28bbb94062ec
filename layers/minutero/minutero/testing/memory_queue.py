"""The tasks queue and its dead-letter queue in memory."""

import heapq
from collections.abc import Sequence
from itertools import count

from minutero.domain.exchanged import Outgoing, QueueDepth, Sent
from minutero.domain.instants import SECOND
from minutero.ports import Clock

MOST_MESSAGES = 10


class MemoryQueue:
    """`TaskQueue`. Messages become visible when their delay is over; `receive` takes what is visible.

    `clock` is the queue's own; set it before the first message with a delay.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock = clock
        self.dead: list[Outgoing] = []
        self._waiting: list[tuple[int, int, Outgoing]] = []
        self._order = count()

    def send(self, messages: Sequence[Outgoing]) -> list[Sent]:
        if len(messages) > MOST_MESSAGES:
            raise ValueError(f"SQS takes {MOST_MESSAGES} messages a request")
        now = self.clock.now() if self.clock else 0
        for message in messages:
            visible = now + message.delay * SECOND
            heapq.heappush(self._waiting, (visible, next(self._order), message))
        return [Sent.SENT] * len(messages)

    def send_dead(self, message: Outgoing) -> None:
        self.dead.append(message)

    def depth(self) -> QueueDepth:
        now = self.clock.now() if self.clock else 0
        ready = sum(visible <= now for visible, _, _ in self._waiting)
        return QueueDepth(ready, len(self._waiting) - ready, in_flight=0)

    def dead_depth(self) -> QueueDepth:
        return QueueDepth(len(self.dead), delayed=0, in_flight=0)

    def receive(self, now: int) -> Outgoing | None:
        """The message that has been visible longest, taken for good; None when there is none."""
        if self._waiting and self._waiting[0][0] <= now:
            return heapq.heappop(self._waiting)[2]
        return None

    def acknowledge(self, receipts: Sequence[str]) -> None:
        """`Inbox`: what was received is gone already."""

    def next_visible(self) -> int | None:
        """When the next message becomes visible."""
        return self._waiting[0][0] if self._waiting else None

    def __len__(self) -> int:
        return len(self._waiting)
