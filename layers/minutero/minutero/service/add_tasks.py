"""Add many tasks: those without a key in batches, those with one each in its own transaction."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from minutero.domain.metrics import Metric
from minutero.domain.new_task import NewTask
from minutero.domain.task import Task
from minutero.errors import MinuteroError, Unavailable
from minutero.ports import Parallel, TaskStore
from minutero.service.add_task import Added, AddTask

PUTS = 25
"""Tasks of one BatchWriteItem, as many as DynamoDB takes."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A task as it is asked for; `body_hash` tells two requests with one key apart."""

    new: NewTask
    body_hash: str


Numbered = tuple[int, Wanted]
Ends = list[tuple[int, Added | MinuteroError]]


@dataclass(frozen=True, slots=True)
class AddTasks:
    """Adds tasks; one that fails spoils no other."""

    add_task: AddTask
    store: TaskStore
    parallel: Parallel

    def __call__(self, wanted: Sequence[Wanted]) -> list[Added | MinuteroError]:
        """What became of each, in order: the task, or why there is none.

        One that ends as Unavailable may be stored or not; only a key makes it safe to ask for it again.
        """
        numbered = list(enumerate(wanted))
        unkeyed = [(at, one) for at, one in numbered if not one.new.key]
        batches = [unkeyed[at : at + PUTS] for at in range(0, len(unkeyed), PUTS)]
        ends = [
            *chain.from_iterable(self.parallel(self._put_batch, batches)),
            *chain.from_iterable(self.parallel(self._add_in_turn, _by_key(numbered))),
        ]
        return [end for _, end in sorted(ends, key=lambda one: one[0])]

    def _put_batch(self, batch: Sequence[Numbered]) -> Ends:
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
        self.add_task.send_near.many(near)
        return ends

    def _add_in_turn(self, one_key: Sequence[Numbered]) -> Ends:
        """Requests with one key, in their order: who comes first makes the task."""
        ends: Ends = []
        for at, one in one_key:
            try:
                ends.append((at, self.add_task(one.new, one.body_hash)))
            except MinuteroError as error:
                ends.append((at, error))
        return ends


def _by_key(numbered: Iterable[Numbered]) -> list[list[Numbered]]:
    groups: dict[tuple[str, str], list[Numbered]] = {}
    for at, one in numbered:
        if one.new.key:
            groups.setdefault((one.new.tenant, one.new.key), []).append((at, one))
    return list(groups.values())
