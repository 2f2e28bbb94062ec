"""Every exception a caller may meet.

    MinuteroError
    +-- InvalidInput (also a ValueError)   the request is malformed or impossible; says what to send instead
    |   +-- UnknownJob                     no such job is deployed
    |   +-- InvalidSchedule                an expression or a time zone that cannot be read, or never fires
    +-- NotFound                           no such task
    +-- Conflict                           the request is sound, the state of the task forbids it
    |   +-- KeyConflict                    the key belongs to a task with another body
    +-- NothingDone                        a `run.once` block was left without a write; its slot is free
    +-- ConditionFailed                    a write's own condition did not hold; nothing was written
    +-- Unavailable                        AWS did not answer, or the answer was lost; may be repeated
    |   +-- JobsUnknown                    no worker has told its jobs yet; may be repeated
    +-- SettingsError (also a ValueError)  the deployment's settings contradict each other
    +-- PermanentFailure                   raised by a job: do not try again
    +-- RetryLater                         raised by a job: try again in so many seconds

Losing a race is no error: it is a value the ports return.
"""

from collections.abc import Mapping
from typing import Any

_TEN_YEARS = 3653 * 86_400


class MinuteroError(Exception):
    """Base of all errors of this package."""


class InvalidInput(MinuteroError, ValueError):
    """Input that can never be accepted.

    `code` is a stable word for programs, `field` names the member at fault ("" for the whole body),
    `message` is one sentence for people: what is wrong and what to send instead.
    """

    def __init__(self, code: str, message: str, field: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.field = field


class UnknownJob(InvalidInput):
    """The job's name is not among the deployed ones."""

    def __init__(self, job: str, deployed: frozenset[str]) -> None:
        names = ", ".join(sorted(deployed)) or "none"
        super().__init__(
            "unknown_job", f"no job named {job!r} is deployed; deployed: {names}", "job"
        )


class InvalidSchedule(InvalidInput):
    """An expression, a time zone or a policy of a schedule that can never be accepted."""

    def __init__(self, message: str, field: str = "expression") -> None:
        super().__init__(f"invalid_{field}", message, field)


class NotFound(MinuteroError):
    """No such task: never created, or its retention has passed."""


class Conflict(MinuteroError):
    """The state of the task forbids what was asked."""


class KeyConflict(Conflict):
    """The key was used before, with another body; nothing was changed."""

    def __init__(self, key: str, task_id: str) -> None:
        super().__init__(
            f"key {key!r} already names task {task_id}, created from another body; "
            "use a new key, or send the first body again"
        )
        self.task_id = task_id


class NothingDone(MinuteroError):
    """A `run.once` block was left without a write. Its slot is free: a slot alone would say that something
    was done."""


class ConditionFailed(MinuteroError):
    """The condition of a write in a `run.once` block did not hold; nothing was written, the slot is free.

    `number` is the write's, counted from 1 in the order of the body; `found` is the item that lay there, None
    where there was none.
    """

    def __init__(self, number: int, write: str, found: Mapping[str, Any] | None) -> None:
        lies = (
            "there is no such item"
            if found is None
            else "the item that is there does not fulfil it"
        )
        super().__init__(
            f"the condition of write {number} ({write}) failed: {lies}; nothing was written"
        )
        self.number = number
        self.write = write
        self.found = found


class Unavailable(MinuteroError):
    """A store or queue did not answer, or its answer was lost: the effect is unknown.

    Everything in this package may be repeated after it.
    """


class JobsUnknown(Unavailable):
    """No worker has told yet which jobs are deployed. Nothing was stored."""

    def __init__(self) -> None:
        super().__init__(
            "no worker has told yet which jobs are deployed: send it again in some seconds;"
            " if that goes on, the worker does not start, and its log says why"
        )


class SettingsError(MinuteroError, ValueError):
    """Settings that would break a promise; raised at start-up, before any work."""


class PermanentFailure(MinuteroError):
    """Raise it in a job: the run is dead at once, whatever attempts are left."""


class RetryLater(MinuteroError):
    """Raise it in a job: the attempt counts, the next one starts after `seconds` (0 to ten years)."""

    def __init__(self, seconds: float, why: str = "") -> None:
        if not 0 <= seconds <= _TEN_YEARS:
            raise ValueError(f"RetryLater takes seconds from 0 to {_TEN_YEARS}, not {seconds}")
        super().__init__(why or f"asked to be tried again in {seconds} s")
        self.seconds = seconds
