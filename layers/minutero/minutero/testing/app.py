"""A deployment in memory, as a test has it."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn, Self, TypeVar

from minutero import job_files, jobs
from minutero.aws.queue import encode_message
from minutero.client import Client
from minutero.client.values import When, instant_of
from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND, to_datetime
from minutero.domain.timing import Timing
from minutero.service.entries import Worker
from minutero.testing.attempts import Attempt, JobsUnderTest
from minutero.testing.clock import SettableClock
from minutero.testing.clockwork import Clockwork
from minutero.testing.crashes import Crashed, Crashes, CrashingSlots, CrashPoint
from minutero.testing.deployment import Deployment
from minutero.testing.events import sqs_event
from minutero.testing.memory import Memory
from minutero.testing.memory_slots import MemoryTable

Function = TypeVar("Function", bound=Callable[..., Any])

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
"""A time of one's own choice, so that a test does the same today and in a year."""


class MinuteroApp(Client):
    """Minutero in memory, with a clock that a test moves. The fixture `minutero_app` gives a new one.

    It is a `minutero.Client`: add, cancel and list tasks, put and pause schedules, with the same checks and
    errors; only `task_item` is not there. Code that takes a client takes this one. What is due runs when
    the clock is moved, as the real services do it, and each call of a job is an `Attempt`.

    `begin` is what its clock shows first. It is a context: with the block, the jobs that the test registered
    by `minutero.job` are gone.
    """

    def __init__(self, begin: When = BEGIN, *, timing: Timing | None = None) -> None:
        self._clock = SettableClock(instant_of(begin, "begin"))
        self._crashes = Crashes()
        self._jobs = JobsUnderTest(self._clock, self._crashes)
        self._memory = Memory()
        self._memory.slots = CrashingSlots(self._crashes)
        self._deployment = Deployment(self._memory, self._jobs, self._clock, timing)
        self._api = self._deployment.api
        self._clockwork = Clockwork(self._deployment, self._clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._jobs.forget()

    # --- what is deployed

    def job(self, name: str, *, result_required: bool = False) -> Callable[[Function], Function]:
        """Registers a function as a job, as `minutero.job` does, for this test; one of that name is replaced.

        Jobs that `minutero.job` registers are deployed too.
        """
        return jobs.job(name, result_required=result_required, into=self._jobs)

    def load_jobs(self, folder: str | Path) -> list[str]:
        """Imports the modules of a folder of jobs, such as `functions/worker/jobs`, and names all jobs there
        are. A module that cannot be imported fails the test, and so does a folder that is not there."""
        path = Path(folder).resolve()
        if not path.is_dir():
            raise ValueError(f"there is no folder {path}; name it from where pytest is started")
        if str(path.parent) not in sys.path:
            sys.path.insert(0, str(path.parent))
        for module in job_files.modules_of(path):
            import_module(module)
        return self.job_names()

    def table(self, name: str, *key_names: str) -> MemoryTable:
        """The table that `run.once` blocks write by this name. The first call makes it, and names the
        attributes of its key."""
        tables = self._memory.slots.tables
        if name not in tables:
            if not key_names:
                raise ValueError(f"name the key of the new table: table({name!r}, 'id')")
            tables[name] = MemoryTable(*key_names)
        return tables[name]

    # --- time

    @property
    def now(self) -> datetime:
        """What the clock shows, in UTC."""
        return to_datetime(self._clock.now())

    def move_to(self, when: When) -> None:
        """Moves the clock there. What is due by then runs, each at its time.

        Called within a job, the job has taken so long: from its time-out on, 60 s, its process dies.
        Raises ValueError for a time that is past, InvalidInput for one without a zone.
        """
        self._clockwork.move_to(instant_of(when, "when"))

    def advance(
        self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0
    ) -> None:
        """Moves the clock on, as `move_to` does. By nothing: what is due now runs."""
        span = days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND
        self._clockwork.move_to(self._clock.now() + round(span))

    # --- what went wrong

    def deliver_twice(self) -> None:
        """From now on each message is delivered twice, as SQS may do it."""
        self._clockwork.deliveries = 2

    def crash_next(self, point: CrashPoint) -> None:
        """The next attempt that gets to this point loses its process there. Its message comes again, six
        time-outs of the worker after it came: 6 minutes."""
        self._crashes.plan(point)

    def crash(self) -> NoReturn:
        """Ends the worker's process here. To be called within a job, by a stand-in for what it calls."""
        raise Crashed("by the test")

    # --- what ran

    def attempts(self, job: str | None = None) -> list[Attempt]:
        """Each call of a job's function, or of any, in the order of their starts."""
        return [one for one in self._jobs.attempts if job in (None, one.job)]

    def ran(self, job: str | None = None) -> list[dict[str, Any]]:
        """The tasks of a job, or of any, that have started, in the order of their first starts, each as
        `get_task` tells it."""
        started = dict.fromkeys(one.run.task_id for one in self.attempts(job))
        return [self.get_task(task_id) for task_id in started]

    # --- the worker's function

    def next_event(self, most: int = 10) -> dict[str, Any]:
        """Takes what is due now, up to `most` messages, as the event of SQS that the worker's function gets;
        without records when nothing is due. The worker of this deployment does not see them any more."""
        due = (self._memory.queue.receive(self._clock.now()) for _ in range(most))
        return sqs_event([encode_message(one.pointer) for one in due if one is not None])

    def worker(self, registry: jobs.JobRegistry) -> Worker:  # noqa: ARG002 - what `wiring.worker` takes
        """What to put in the place of `wiring.worker`, so that `functions/worker/app.py` works on this
        deployment."""
        return self._deployment.worker
