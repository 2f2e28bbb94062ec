"""What `wiring` builds over AWS, built over memory: the same services, one clock, one shard."""

from collections.abc import Mapping
from typing import Any

from minutero.aws.queue import parse_message
from minutero.domain.task import Task
from minutero.domain.timing import Timing
from minutero.errors import MinuteroError
from minutero.jobs import JobRegistry
from minutero.ports import Clock
from minutero.service.dead_letter import BuryMessage
from minutero.service.dispatch import Dispatcher
from minutero.service.entries import Worker
from minutero.service.execute import Execute
from minutero.service.fire import FireOccurrences
from minutero.service.job_catalog import JobCatalog
from minutero.service.overlap import OneAtATime
from minutero.service.run_messages import RunMessages
from minutero.service.shards import Shards
from minutero.testing.crashes import contained_or_crashed
from minutero.testing.memory import LedgerRunOnce, Memory, one_by_one
from minutero.wiring.of_api import ApiParts

SHARDS = 1
LATEST_RETRY = 1.0
"""In place of chance: each retry comes as late as it may, so a test can say when."""


class RegisteredJobs(JobCatalog):
    """A job is deployed the moment it is registered."""

    def __init__(self, memory: Memory, jobs: JobRegistry) -> None:
        super().__init__(memory.settings)
        self._jobs = jobs

    def has(self, job: str, now: int) -> bool:  # noqa: ARG002 - JobCatalog's
        return job in self._jobs.names()

    def names(self, now: int) -> frozenset[str]:  # noqa: ARG002 - JobCatalog's
        return self._jobs.names()


class Deployment:
    """The entries of a deployment whose stores and queues are those of `memory`."""

    def __init__(
        self, memory: Memory, jobs: JobRegistry, clock: Clock, timing: Timing | None = None
    ) -> None:
        memory.queue.clock = clock
        self.memory = memory
        self.clock = clock
        self.timing = timing = timing or Timing()
        self.shards = Shards(memory.settings, SHARDS)
        fire = FireOccurrences(memory.schedules, clock, timing, one_by_one)
        self.api = ApiParts(
            memory.tasks,
            memory.ledger,
            memory.queue,
            memory.schedules,
            memory.cursors,
            memory.settings,
            RegisteredJobs(memory, jobs),
            self.shards,
            no_entry,
            clock,
            timing,
            one_by_one,
        ).api()
        self.dispatcher = Dispatcher(
            memory.tasks,
            memory.queue,
            memory.cursors,
            clock,
            timing,
            one_by_one,
            fire,
            owner="dispatcher",
        )
        self.execute = Execute(
            memory.tasks,
            memory.queue,
            LedgerRunOnce(memory.ledger, clock),
            OneAtATime(memory.locks, clock, timing),
            memory.slots,
            jobs,
            clock,
            timing,
            lambda: LATEST_RETRY,
            contained=contained_or_crashed,
        )
        messages = RunMessages(memory.tasks, self.execute, parse_message)
        self.worker = Worker(messages, memory.queue, memory.settings, clock)
        self.bury = BuryMessage(memory.tasks, memory.ledger, clock, timing, parse_message)


def no_entry(task: Task) -> Mapping[str, Any]:
    """There is no table of DynamoDB that the entry could be for."""
    raise MinuteroError(
        f"task_item({task.job!r}) makes an entry for a transaction of DynamoDB, and this deployment is in"
        " memory; use add_task here, and test the transaction on the local stack"
    )
