"""Add many tasks, in batches; those with a key in transactions that hold their keys, too."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from minutero.domain.metrics import Metric
from minutero.domain.new_task import NewTask
from minutero.domain.task import KeyRecord, Pointer, Task, first_place
from minutero.errors import MinuteroError, Unavailable, UnknownJob
from minutero.ports import Clock, Parallel, TaskStore
from minutero.service.add_task import Added, AddTask, key_record

PUTS = 25
"""Tasks put together: a BatchWriteItem takes so many, and a batch of claims; a transaction takes 100 entries,
two each: https://docs.aws.amazon.com/amazondynamodb/latest/APIReference/API_TransactWriteItems.html"""

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
        by_key = _by_key(numbered)
        firsts = [first for first, *_ in by_key]
        laters = [later for _, *later in by_key if later]
        ends = [
            *self._side_by_side(lambda some: self._put(some, is_over), _batches(unkeyed)),
            *self._side_by_side(lambda some: self._put_keyed(some, is_over), _batches(firsts)),
            *self._side_by_side(lambda some: self._in_turn(some, is_over), laters),
        ]
        return [end for _, end in sorted(ends, key=lambda one: one[0])]

    def _side_by_side(
        self, add: Callable[[Sequence[Numbered]], Ends], some: Iterable[Sequence[Numbered]]
    ) -> Iterable[tuple[int, Added | MinuteroError]]:
        return chain.from_iterable(self.parallel(add, some))

    def _put(self, batch: Sequence[Numbered], is_over: Callable[[], bool]) -> Ends:
        made, ends = self._prepare(batch, is_over)
        stored = self.store.put_many([task for _, _, task in made])
        created: list[Task] = []
        for (at, _, task), is_stored in zip(made, stored, strict=True):
            if is_stored:
                created.append(task)
                ends.append((at, Added(task, created=True)))
            else:
                ends.append((at, Unavailable("the store did not take it; it may be there or not")))
        self._created(created)
        return ends

    def _put_keyed(self, batch: Sequence[Numbered], is_over: Callable[[], bool]) -> Ends:
        """The first of each key."""
        made, ends = self._prepare(batch, is_over)
        pairs = [(task, key_record(one.new, task, one.body_hash)) for _, one, task in made]
        try:
            holders = self.store.put_many_keyed(pairs, self.clock.now())
        except Unavailable as error:
            return [*ends, *((at, error) for at, _, _ in made)]
        found = self._found([holder for holder in holders if holder is not None])
        created: list[Task] = []
        for (at, one, task), holder in zip(made, holders, strict=True):
            if holder is None:
                created.append(task)
                ends.append((at, Added(task, created=True)))
            else:
                ends.append((at, self._made_before(one, holder, found.get(holder.task_id))))
        self._created(created)
        return ends

    def _prepare(
        self, batch: Sequence[Numbered], is_over: Callable[[], bool]
    ) -> tuple[list[tuple[int, Wanted, Task]], Ends]:
        """The tasks, not stored yet; and what becomes of those that cannot be, or were before."""
        made: list[tuple[int, Wanted, Task]] = []
        ends: Ends = []
        for at, one in batch:
            # For each: to learn whether there is its job may take seconds.
            if is_over():
                ends.append((at, Unavailable(NO_TIME)))
                continue
            try:
                made.append((at, one, self.add_task.prepare(one.new)))
            except UnknownJob as error:
                ends.append((at, self._repeated(one, error)))
            except MinuteroError as error:
                ends.append((at, error))
        return made, ends

    def _created(self, tasks: Sequence[Task]) -> None:
        self.add_task.meter.add(Metric.CREATED, len(tasks))
        self.add_task.send_near.many([task.pointer for task in tasks])

    def _found(self, holders: Sequence[KeyRecord]) -> dict[str, Task]:
        """The tasks of keys, by id, in one read; those that were moved, or are gone, are left out."""
        pointers = [Pointer(first_place(holder.task_id), due=0) for holder in holders]
        try:
            tasks = self.store.get_many(pointers) if pointers else {}
        except Unavailable:
            return {}
        return {task.task_id: task for task in tasks.values() if task.moved_to is None}

    def _made_before(
        self, one: Wanted, holder: KeyRecord, found: Task | None
    ) -> Added | MinuteroError:
        try:
            return self.add_task.made_before(one.new.key, holder, one.body_hash, found)
        except MinuteroError as error:
            return error

    def _repeated(self, one: Wanted, unknown: UnknownJob) -> Added | MinuteroError:
        try:
            return self.add_task.repeated(one.new, one.body_hash, unknown)
        except MinuteroError as error:
            return error

    def _in_turn(self, one_key: Sequence[Numbered], is_over: Callable[[], bool]) -> Ends:
        """Later requests with one key, in their order: who came first has made the task."""
        return [(at, Unavailable(NO_TIME) if is_over() else self._add(one)) for at, one in one_key]

    def _add(self, one: Wanted) -> Added | MinuteroError:
        try:
            return self.add_task(one.new, one.body_hash)
        except MinuteroError as error:
            return error


def _batches(some: Sequence[Numbered]) -> list[Sequence[Numbered]]:
    return [some[at : at + PUTS] for at in range(0, len(some), PUTS)]


def _by_key(numbered: Iterable[Numbered]) -> list[list[Numbered]]:
    groups: dict[tuple[str, str], list[Numbered]] = {}
    for at, one in numbered:
        if one.new.key:
            groups.setdefault((one.new.tenant, one.new.key), []).append((at, one))
    return list(groups.values())
