"""Run a batch of messages: what the worker does with one delivery of SQS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from threading import Lock

from minutero.domain.task import Place, Task
from minutero.ports import Inbox, TaskStore
from minutero.service.execute import Execute, Verdict
from minutero.service.messages import Kept, Parse, pointer_in, pointers_in


@dataclass(frozen=True, slots=True)
class RunMessages:
    """Reads the tasks of a batch in one go, then runs them one by one."""

    store: TaskStore
    execute: Execute
    parse: Parse

    def read(self, bodies: Sequence[str]) -> Mapping[Place, Task]:
        """The tasks of all messages. Raises Unavailable: then the whole batch is kept."""
        pointers = {pointer.place: pointer for pointer in pointers_in(bodies, self.parse)}
        return self.store.get_many(list(pointers.values())) if pointers else {}

    def run(self, body: str, tasks: Mapping[Place, Task], deadline: int) -> Verdict | None:
        """One message. Raises Kept or Unavailable when it must not be acknowledged."""
        pointer = pointer_in(body, self.parse)
        if pointer is None:
            return None
        verdict = self.execute(pointer, tasks.get(pointer.place), deadline)
        if verdict is Verdict.KEPT:
            raise Kept(pointer.run_id)
        return verdict


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message in hand. `receives` counts this delivery too."""

    body: str
    receipt: str
    receives: int

    @property
    def is_suspect(self) -> bool:
        """It was delivered before and not acknowledged: perhaps it ended the process that had it."""
        return self.receives > 1


class Batch:
    """The messages of one delivery, and which of them are done.

    A suspect runs last and alone, after the others are acknowledged, so that a poison message takes nobody
    along. Suspects that come together change their order each time: whoever stood behind one that ended the
    process stands before it the next time. Used from two threads: the one that runs the jobs, and the one
    that ends the process in time.
    """

    def __init__(self, messages: RunMessages, inbox: Inbox, deadline: int) -> None:
        self._messages = messages
        self._inbox = inbox
        self._deadline = deadline
        self._tasks: Mapping[Place, Task] = {}
        self._done: list[str] = []
        self._lock = Lock()

    def read(self, deliveries: Sequence[Delivery]) -> list[Delivery]:
        """Reads the tasks of a delivery; the messages in the order to run them in. Raises Unavailable."""
        self._tasks = self._messages.read([delivery.body for delivery in deliveries])
        return [delivery for _, delivery in sorted(enumerate(deliveries), key=_turn)]

    def run(self, delivery: Delivery) -> Verdict | None:
        """One message. Raises Kept or Unavailable when it must not be acknowledged."""
        if delivery.is_suspect:
            self.acknowledge_done()
        verdict = self._messages.run(delivery.body, self._tasks, self._deadline)
        with self._lock:
            self._done.append(delivery.receipt)
        return verdict

    def acknowledge_done(self) -> None:
        """Acknowledges what is done so far, ahead of the end of the batch; SQS is told of it again then,
        which is harmless."""
        with self._lock:
            done, self._done = self._done, []
        if done:
            self._inbox.acknowledge(done)


def _turn(one: tuple[int, Delivery]) -> tuple[bool, int]:
    at, delivery = one
    return delivery.is_suspect, at if delivery.receives % 2 else -at
