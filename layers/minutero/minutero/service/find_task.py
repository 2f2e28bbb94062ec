"""Find a task by its id alone."""

from minutero.domain.task import Place, Task, first_place
from minutero.errors import NotFound, Unavailable
from minutero.ports import TaskStore

FOLLOWS = 10
"""How many moves in a row are followed; a task that moves more often meanwhile is busy."""


def find_task(store: TaskStore, task_id: str) -> Task:
    """One read, two when the task was moved. Raises NotFound for an id of no task, or of none any more.

    A task that moves again between the two reads is looked for again: its address is rewritten in the
    very transaction that takes it away.
    """
    try:
        place = first_place(task_id)
    except (ValueError, OverflowError):
        raise NotFound(
            f"{task_id[:80]!r} is not the id of a task; ids come from adding one"
        ) from None
    address: Place | None = None
    for _ in range(FOLLOWS):
        task = store.get(place)
        if task is None or task.moved_to is None:
            break
        moved = store.get(task.moved_to)
        if moved is not None:
            return moved
        if task.moved_to == address:
            # Nobody has moved it meanwhile: it has expired, and its address is about to.
            task = None
            break
        address = task.moved_to
    else:
        raise Unavailable(f"task {task_id} is being moved again and again; try later")
    if task is not None:
        return task
    raise NotFound(f"no task {task_id}; it was never added, or its retention has passed")
