"""What the author of a job uses: the `job` decorator and the `Run` it is called with.

    from minutero import Run, job

    @job("send_reminder")
    def send_reminder(payload, run: Run):
        ...
        return {"sent": True}          # kept as the task's result

A job returns (done), raises (tried again later), raises `PermanentFailure` (dead at once), raises
`RetryLater(seconds)`, or calls `run.skip("why")`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from inspect import isasyncgenfunction, iscoroutinefunction, isgeneratorfunction
from typing import Any, NoReturn, TypeVar

from minutero.domain.new_task import check_name
from minutero.errors import MinuteroError
from minutero.transaction import SlotsOfRun, Transaction

Function = TypeVar("Function", bound=Callable[..., Any])


class Skipped(Exception):
    """Raised by `Run.skip`; ends the run as skipped."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a job knows of its run.

    `key` is what to pass on downstream as idempotency key: it never changes over attempts, retries and
    redeliveries. `attempt` counts from 1. `run_at` is when it was due, `scheduled_for` the nominal time.
    """

    task_id: str
    key: str
    attempt: int
    run_at: datetime
    scheduled_for: datetime
    trigger: str
    is_catch_up: bool
    _remaining: Callable[[], float]
    _slots: SlotsOfRun | None = None

    def remaining(self) -> float:
        """Seconds until this attempt is ended from outside."""
        return self._remaining()

    def once(self, key: str, *, keep_days: int | None = None) -> Transaction:
        """A block whose writes and slot are committed together: once for this job and key, whoever tries.

        The slot is kept for good, or for `keep_days` (30 to 3650). Of the block: `transaction.Transaction`.
        Raises InvalidInput for a key or days that cannot be; at the end of the block NothingDone,
        ConditionFailed, InvalidInput for writes that DynamoDB never takes, and Unavailable.
        """
        if self._slots is None:
            raise MinuteroError(
                "this run has no slots; in a test make it by minutero.testing.job_run"
            )
        return self._slots.once(key, keep_days)

    def skip(self, why: str) -> NoReturn:
        """Ends the run as skipped: nothing was to be done."""
        raise Skipped(why)


@dataclass(frozen=True, slots=True)
class Job:
    """A registered job."""

    name: str
    function: Callable[[Any, Run], Any]
    result_required: bool = False


class DuplicateJob(ValueError):
    """Two functions want one name."""


class NotAJob(TypeError):
    """A coroutine or a generator: called, it has not begun, and its run would have succeeded."""


class JobRegistry:
    """The jobs of one process, by name."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}

    def add(self, job: Job) -> None:
        """Registers a job. The same function again (its module was loaded twice) replaces itself."""
        known = self._jobs.get(job.name)
        if known is not None and _origin(known) != _origin(job):
            raise DuplicateJob(
                f"job {job.name!r} is registered by {_origin(known)} and by {_origin(job)}; rename one"
            )
        self._jobs[job.name] = job

    def get(self, name: str) -> Job | None:
        return self._jobs.get(name)

    def remove(self, name: str) -> None:
        """Takes a job out, as a test does with its own."""
        del self._jobs[name]

    def names(self) -> frozenset[str]:
        return frozenset(self._jobs)


def _origin(job: Job) -> str:
    return f"{job.function.__module__}.{job.function.__qualname__}"


registry = JobRegistry()
"""Where `job` registers; the worker runs what it finds here."""


def job(
    name: str, *, result_required: bool = False, into: JobRegistry = registry
) -> Callable[[Function], Function]:
    """Registers a function as the job `name`. With `result_required`, returning None is a failure.

    Raises InvalidInput for a name that no task could have, DuplicateJob for one that is taken, NotAJob for a
    function that does nothing when it is called.
    """

    def register(function: Function) -> Function:
        if isasyncgenfunction(function) or iscoroutinefunction(function):
            raise NotAJob(f"job {name!r} is async; make it a plain function that calls asyncio.run")
        if isgeneratorfunction(function):
            raise NotAJob(f"job {name!r} has a yield and would not begin; return what it has")
        into.add(Job(check_name(name, "job"), function, result_required))
        return function

    return register
