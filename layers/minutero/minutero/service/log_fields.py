"""What a log line says of a task, in fields, so that all lines of one task can be found."""

from minutero.domain.task import Pointer, Task


def of_pointer(pointer: Pointer) -> dict[str, str]:
    """Of a message, when there is no more than that."""
    return {"task_id": pointer.task_id, "run_id": pointer.run_id, "bucket": pointer.place.bucket}


def of_task(task: Task) -> dict[str, str]:
    """Of a task that was read."""
    return {
        "task_id": task.task_id,
        "run_id": task.run_id,
        "claim_id": task.claim_id,
        "job": task.job,
    }
