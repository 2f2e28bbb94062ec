"""What `wiring` builds over AWS, built over memory: the same services, one clock, one shard."""

from collections.abc import Mapping
from typing import Any

from minutero.aws.queue import parse_message
from minutero.domain.task import Task
from minutero.domain.timing import Timing
from minutero.errors import MinuteroError
from minutero.jobs import JobRegistry
from minutero.ports import Clock
from minutero.service.add_task import AddTask
from minutero.service.add_tasks import AddTasks
from minutero.service.cancel import CancelTask
from minutero.service.dead_letter import BuryMessage
from minutero.service.dead_list import DeadList
from minutero.service.dispatch import Dispatcher
from minutero.service.entries import Api, Worker
from minutero.service.execute import Execute
from minutero.service.fire import FireOccurrences
from minutero.service.job_catalog import JobCatalog
from minutero.service.list_tasks import ListTasks
from minutero.service.move import MoveTask
from minutero.service.overlap import OneAtATime
from minutero.service.pass_on import PassOn
from minutero.service.pause_schedule import PauseSchedule
from minutero.service.put_schedule import PutSchedule
from minutero.service.read_stats import ReadStats
from minutero.service.read_task import ReadTask
from minutero.service.revise_schedule import ReviseSchedule
from minutero.service.run_messages import RunMessages
from minutero.service.run_schedule import RunScheduleNow
from minutero.service.send_fired import SendFired
from minutero.service.shards import Shards
from minutero.testing.crashes import contained_or_crashed
from minutero.testing.memory import LedgerRunOnce, Memory, one_by_one

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
        self.api = self._api(fire, RegisteredJobs(memory, jobs))
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

    def _api(self, fire: FireOccurrences, jobs: JobCatalog) -> Api:
        memory, clock, timing, shards = self.memory, self.clock, self.timing, self.shards
        add_task = AddTask(memory.tasks, memory.queue, shards, jobs, clock, timing)
        send_near = add_task.send_near
        pass_on = PassOn(fire, shards, clock)
        revise = ReviseSchedule(
            memory.schedules,
            memory.tasks,
            memory.ledger,
            SendFired(fire, send_near, shards, clock),
            shards,
            clock,
            timing,
        )
        move = MoveTask(memory.tasks, memory.ledger, send_near, pass_on, clock, timing)
        read_task = ReadTask(memory.tasks, memory.ledger, clock)
        lists = ListTasks(memory.tasks, memory.ledger, shards, clock, one_by_one)
        return Api(
            add_task=add_task,
            add_tasks=AddTasks(add_task, memory.tasks, one_by_one, clock),
            read_task=read_task,
            list_tasks=lists,
            cancel=CancelTask(memory.tasks, pass_on, clock, timing),
            move=move,
            dead=DeadList(memory.tasks, read_task, move, shards, clock, timing, one_by_one),
            stats=ReadStats(memory.cursors, memory.queue, lists, shards, clock, one_by_one),
            put_schedule=PutSchedule(revise, jobs),
            pause_schedule=PauseSchedule(revise),
            run_schedule=RunScheduleNow(
                memory.schedules, memory.tasks, send_near, shards, clock, timing
            ),
            revise_schedule=revise,
            schedules=memory.schedules,
            jobs=jobs,
            settings=memory.settings,
            task_entry=no_entry,
            clock=clock,
        )


def no_entry(task: Task) -> Mapping[str, Any]:
    """There is no table of DynamoDB that the entry could be for."""
    raise MinuteroError(
        f"task_item({task.job!r}) makes an entry for a transaction of DynamoDB, and this deployment is in"
        " memory; use add_task here, and test the transaction on the local stack"
    )
