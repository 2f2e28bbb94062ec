"""The jobs of one test, and each attempt at them."""

from copy import deepcopy
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from minutero.domain.instants import to_datetime
from minutero.jobs import Job, JobRegistry, Run, registry
from minutero.ports import Clock
from minutero.testing.crashes import Crashes, CrashPoint


@dataclass(slots=True)
class Attempt:
    """One call of a job's function: what it was called with, when, and what it returned or raised.

    `error` may also be what `run.skip` raises, or a crash. While it runs there is neither.
    """

    job: str
    payload: Any
    run: Run
    started_at: datetime
    result: Any = None
    error: BaseException | None = None


class JobsUnderTest(JobRegistry):
    """The process's jobs, and before them those of this test. All attempts are noted, in order."""

    def __init__(self, clock: Clock, crashes: Crashes) -> None:
        super().__init__()
        self._clock = clock
        self._crashes = crashes
        self._others = registry.names()
        self.attempts: list[Attempt] = []

    def add(self, job: Job) -> None:
        """Deploys a job, for this test in the place of any other of its name."""
        self._jobs[job.name] = job

    def get(self, name: str) -> Job | None:
        job = super().get(name) or registry.get(name)
        return None if job is None else replace(job, function=self._noted(job))

    def names(self) -> frozenset[str]:
        return super().names() | registry.names()

    def forget(self) -> None:
        """Takes what a test's own functions have registered out of the process's jobs. Those of a module
        stay, as the module does: another test that imports it finds it imported."""
        for name in registry.names() - self._others:
            job = registry.get(name)
            if job is not None and "<locals>" in job.function.__qualname__:
                registry.remove(name)

    def _noted(self, job: Job) -> Any:
        def function(payload: Any, run: Run) -> Any:
            self._crashes.at(CrashPoint.STARTED)
            started = to_datetime(self._clock.now())
            attempt = Attempt(job.name, deepcopy(payload), run, started)
            self.attempts.append(attempt)
            try:
                attempt.result = job.function(payload, run)
                self._crashes.at(CrashPoint.RETURNED)
            except BaseException as error:
                attempt.error = error
                raise
            return attempt.result

        return function
