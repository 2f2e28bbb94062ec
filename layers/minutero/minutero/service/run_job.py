"""Run one job, once, in this very process: by the worker's own path, but without a queue."""

import hashlib
import json
import secrets
from dataclasses import dataclass
from typing import Any

from minutero.domain.exchanged import RunResult
from minutero.domain.instants import SECOND
from minutero.domain.new_task import encode_payload
from minutero.domain.task import Place, Task
from minutero.errors import UnknownJob
from minutero.service.execute import Execute

NOWHERE = Place("", "")
"""No task is stored, and no message leads to one."""

ENDLESS = 1_000_000_000
"""A start is one attempt, and whoever starts it again decides how often."""


@dataclass(frozen=True, slots=True)
class RunJob:
    """Runs a job as the worker does; two that name the same run are one run.

    A run that failed may be started again, and so may one whose process was killed, once its time-out and a
    margin are over. A signal that stops the job is a failed attempt, so that the next start need not wait.
    """

    execute: Execute

    def __call__(self, name: str, payload: Any, run: "Named", timeout: int) -> RunResult:
        """One attempt. `timeout` in milliseconds: after so long this process is to be ended.

        Raises UnknownJob, InvalidInput for a payload that no task could have, Unavailable.
        """
        if self.execute.jobs.get(name) is None:
            raise UnknownJob(name, self.execute.jobs.names())
        now = self.execute.clock.now()
        task = Task(
            task_id=run.id,
            run_no=0,
            place=NOWHERE,
            job=name,
            run_at=now if run.at is None else run.at,
            created_at=now,
            keep_until=(now + self.execute.timing.retention) // SECOND,
            payload=encode_payload(payload),
            max_attempts=ENDLESS,
        )
        return self.execute.run(task, now + timeout)


@dataclass(frozen=True, slots=True)
class Named:
    """Which run is meant. `at` is the time it believes in, in milliseconds; None for now."""

    id: str
    at: int | None


def name_run(job: str, payload: Any, at: int | None, key: str) -> Named:
    """The run of a job under a key, else of a job with a payload at a time, else a new one.

    Two starts for the same Friday are one run; two payloads at the same instant are two. The id may stand in
    a header or a name, whatever the key is made of, and is no task's.
    """
    if key:
        return Named(_hashed([job, "key", key]), at)
    if at is not None:
        return Named(_hashed([job, "at", at, payload]), at)
    return Named(f"run-{secrets.token_hex(16)}", None)


def _hashed(parts: list[Any]) -> str:
    return f"run-{hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:32]}"
