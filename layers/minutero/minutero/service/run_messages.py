"""Run a batch of messages: what the worker does with one delivery of SQS."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from minutero.domain.task import Place, Task
from minutero.ports import TaskStore
from minutero.service.execute import Execute, Verdict
from minutero.service.messages import Kept, Parse, pointer_in


@dataclass(frozen=True, slots=True)
class RunMessages:
    """Reads the tasks of a batch in one go, then runs them one by one."""

    store: TaskStore
    execute: Execute
    parse: Parse

    def read(self, bodies: Sequence[str]) -> Mapping[Place, Task]:
        """The tasks of all messages. Raises Unavailable: then the whole batch is kept."""
        found = (pointer_in(body, self.parse) for body in bodies)
        pointers = {pointer.place: pointer for pointer in found if pointer is not None}
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
