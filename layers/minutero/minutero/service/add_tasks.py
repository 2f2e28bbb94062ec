"""Add many tasks: those without a key in batches, those with one each in its own transaction."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from minutero.domain.metrics import Metric
from minutero.domain.new_task import NewTask
from minutero.domain.task import Task
from minutero.errors import MinuteroError, Unavailable
from minutero.ports import Clock, Parallel, TaskStore
from minutero.service.add_task import Added, AddTask

PUTS = 25
"""Tasks of one BatchWriteItem, as many as DynamoDB takes."""

NO_TIME = "there was no time left for it"


@dataclass(frozen=True, slots=True)
class Wanted:
    """A task as it is asked for; `body_hash` tells two requests with one key apart."""

    new: NewTask
    body_hash: str


Numbered = tuple[int, Wanted]
Ends = list[tuple[int, Added | MinuteroError]]


@dataclass(frozen=True, slots=True)
class AddTasks:
    """Adds tasks; one that fails spoils no other.

    `patience` is how many milliseconds a call may take before it begins no more, None for as long as it
    takes: an answer within its time tells of what was made, one that comes too late of nothing.
    """

    add_task: AddTask
    store: TaskStore
    parallel: Parallel
    clock: Clock
    patience: int | None = None

    def __call__(self, wanted: Sequence[Wanted]) -> list[Added | MinuteroError]:
        """What became of each, in order: the task, or why there is none.

        One that ends as Unavailable may be stored or not; only a key makes it safe to ask for it again.
        """
        until = None if self.patience is None else self.clock.now() + self.patience

        def is_over() -> bool:
            return until is not None and self.clock.now() >= until

        numbered = list(enumerate(wanted))
        unkeyed = [(at, one) for at, one in numbered if not one.new.key]
        batches = [unkeyed[at : at + PUTS] for at in range(0, len(unkeyed), PUTS)]
        keyed = _by_key(numbered)
        ends = [
            *chain.from_iterable(self.parallel(lambda some: self._put(some, is_over), batches)),
            *chain.from_iterable(self.parallel(lambda some: self._in_turn(some, is_over), keyed)),
        ]
        return [end for _, end in sorted(ends, key=lambda one: one[0])]

    def _put(self, batch: Sequence[Numbered], is_over: Callable[[], bool]) -> Ends:
        if is_over():
            return [(at, Unavailable(NO_TIME)) for at, _ in batch]
        made: list[tuple[int, Task]] = []
        ends: Ends = []
        for at, one in batch:
            try:
                made.append((at, self.add_task.prepare(one.new)))
            except MinuteroError as error:
                ends.append((at, error))
        stored = self.store.put_many([task for _, task in made])
        near: list[Task] = []
        for (at, task), is_stored in zip(made, stored, strict=True):
            if is_stored:
                near.append(task)
                ends.append((at, Added(task, created=True)))
            else:
                ends.append((at, Unavailable("the store did not take it; it may be there or not")))
        self.add_task.meter.add(Metric.CREATED, len(near))
        self.add_task.send_near.many([task.pointer for task in near])
        return ends

    def _in_turn(self, one_key: Sequence[Numbered], is_over: Callable[[], bool]) -> Ends:
        """Requests with one key, in their order: who comes first makes the task."""
        return [(at, Unavailable(NO_TIME) if is_over() else self._add(one)) for at, one in one_key]

    def _add(self, one: Wanted) -> Added | MinuteroError:
        try:
            return self.add_task(one.new, one.body_hash)
        except MinuteroError as error:
            return error


def _by_key(numbered: Iterable[Numbered]) -> list[list[Numbered]]:
    groups: dict[tuple[str, str], list[Numbered]] = {}
    for at, one in numbered:
        if one.new.key:
            groups.setdefault((one.new.tenant, one.new.key), []).append((at, one))
    return list(groups.values())
