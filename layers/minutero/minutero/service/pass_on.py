"""Before one occurrence is cancelled or moved, its schedule goes on without it."""

from dataclasses import dataclass

from minutero.domain.task import State, Task
from minutero.ports import Clock
from minutero.service.fire import FireOccurrences
from minutero.service.shards import Shards


@dataclass(frozen=True, slots=True)
class PassOn:
    """A crash after it leaves an occurrence that has fired and runs at its time: the cancel or the move was
    never answered."""

    fire: FireOccurrences
    shards: Shards
    clock: Clock

    def __call__(self, task: Task) -> None:
        """Does nothing for any other task, nor for one that is claimed: it has fired. Raises Unavailable."""
        if task.pointer.is_a_link and task.state is State.SCHEDULED:
            self.fire.pass_on(task, self.shards.for_writing(self.clock.now()))
