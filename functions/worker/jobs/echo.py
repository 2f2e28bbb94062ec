"""The smallest job: it returns what it was given."""

from typing import Any

from minutero import Run, job


@job("echo")
def echo(payload: Any, run: Run) -> Any:
    """Returns its payload as the task's result."""
    return payload
