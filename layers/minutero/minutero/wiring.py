"""Puts the services and AWS together: one builder a function, called on its first event.

Reading the environment and opening clients happens in here and nowhere else. Each builder imports what its
function needs and no more, since imports are most of a cold start.
"""

# ruff: noqa: PLC0415 - see above

import logging
import os
import random
import secrets
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from minutero.aws.clock import SystemClock
from minutero.domain.new_task import NewTask
from minutero.errors import Unavailable
from minutero.jobs import JobRegistry
from minutero.ports import Answer, Argument, Clock, Inbox, SettingsStore
from minutero.service.fan_out import groups
from minutero.settings import Settings

if TYPE_CHECKING:
    from botocore.session import Session
    from mypy_boto3_dynamodb import DynamoDBClient

    from minutero.aws.tables import Tables
    from minutero.service.add_task import Added, AddTask
    from minutero.service.audit import Auditor, AuditReport
    from minutero.service.dead_letter import BuryMessage
    from minutero.service.dispatch import Dispatcher, ShardReport
    from minutero.service.job_catalog import JobCatalog
    from minutero.service.read_task import ReadTask, TaskView
    from minutero.service.run_messages import Batch, RunMessages
    from minutero.service.shards import Shards

logger = logging.getLogger(__name__)

THREADS = 16
"""Requests a dispatcher keeps in flight: claims and sends of one batch run side by side."""

CLOCK = SystemClock()


@dataclass(frozen=True, slots=True)
class Api:
    """What the HTTP API and the Python client call."""

    adds: "AddTask"
    reads: "ReadTask"
    jobs: "JobCatalog"
    clock: Clock

    def add_task(self, new: NewTask, body_hash: str) -> "Added":
        return self.adds(new, body_hash)

    def read_task(self, task_id: str) -> "TaskView":
        return self.reads(task_id)

    def job_names(self) -> frozenset[str]:
        return self.jobs.names(self.clock.now())


def api_parts(
    settings: Settings,
    *,
    region: str | None = None,
    endpoint: str | None = None,
    session: "Session | None" = None,
) -> Api:
    """Builds an Api from settings; None for what the environment says of region, endpoint and keys."""
    from minutero.aws import clients
    from minutero.aws.deployed_function import DeployedFunction
    from minutero.aws.queue import SqsTaskQueue
    from minutero.aws.run_ledger import DynamoRunLedger
    from minutero.aws.settings_store import DynamoSettingsStore
    from minutero.aws.task_store import DynamoTaskStore
    from minutero.service.add_task import AddTask
    from minutero.service.job_catalog import JobCatalog
    from minutero.service.read_task import ReadTask
    from minutero.service.shards import Shards

    dynamodb = clients.dynamodb(region, endpoint, session=session)
    tables = _tables(settings, dynamodb)
    store = DynamoTaskStore(tables, CLOCK)
    settings_store = DynamoSettingsStore(tables, CLOCK)
    queue = SqsTaskQueue(
        clients.sqs(region, endpoint, session=session),
        settings.tasks_queue_url,
        settings.dead_letter_queue_url,
    )
    worker = DeployedFunction(settings.worker_function, region, endpoint, session)
    jobs = JobCatalog(settings_store, worker.announce_jobs)
    shards = Shards(settings_store, settings.shards)
    ledger = DynamoRunLedger(dynamodb, settings.runs_table, CLOCK)
    return Api(
        AddTask(store, queue, shards, jobs, CLOCK, settings.timing),
        ReadTask(store, ledger, CLOCK),
        jobs,
        CLOCK,
    )


@cache
def api() -> Api:
    """For functions/api."""
    return api_parts(_settings())


@dataclass(frozen=True, slots=True)
class Tick:
    """What the dispatcher function calls. `call_another` has a further dispatcher serve some shards."""

    dispatcher: "Dispatcher"
    counts: "Shards"
    clock: Clock
    call_another: Callable[[list[int]], None]

    def tick(self, shards: Sequence[int] | None, deadline: int) -> "list[ShardReport]":
        """One tick over these shards, or (None) over all there are, with the help of others."""
        growth = self.counts.for_dispatch(self.clock.now())
        if shards is None:
            shards, others = groups(growth[-1].shards)
            for group in others:
                self.call_another(group)
        return self.dispatcher.tick(shards, growth, deadline)


@cache
def dispatcher() -> Tick:
    """For functions/dispatcher. Each process has a name of its own in the leases."""
    from minutero.aws import clients
    from minutero.aws.cursor_store import DynamoCursorStore
    from minutero.aws.deployed_function import DeployedFunction
    from minutero.aws.queue import SqsTaskQueue
    from minutero.aws.settings_store import DynamoSettingsStore
    from minutero.aws.task_store import DynamoTaskStore
    from minutero.service.dispatch import Dispatcher
    from minutero.service.shards import Shards

    settings = _settings()
    tables = _tables(settings, clients.dynamodb(connections=THREADS))
    sqs = clients.sqs(connections=THREADS)
    return Tick(
        Dispatcher(
            DynamoTaskStore(tables, CLOCK),
            SqsTaskQueue(sqs, settings.tasks_queue_url, settings.dead_letter_queue_url),
            DynamoCursorStore(tables, CLOCK),
            CLOCK,
            settings.timing,
            side_by_side,
            owner=secrets.token_hex(8),
        ),
        Shards(DynamoSettingsStore(tables, CLOCK), settings.shards),
        CLOCK,
        DeployedFunction(settings.dispatcher_function).tick,
    )


@dataclass(frozen=True, slots=True)
class Audit:
    """What the auditor function calls."""

    auditor: "Auditor"
    counts: "Shards"
    clock: Clock

    def audit(self, deadline: int) -> "AuditReport":
        """Goes on where the last audit stopped."""
        growth = self.counts.for_dispatch(self.clock.now())
        return self.auditor.audit(range(growth[-1].shards), deadline)


@cache
def auditor() -> Audit:
    """For functions/auditor."""
    from minutero.aws import clients
    from minutero.aws.oldest_message import OldestMessage
    from minutero.aws.run_ledger import DynamoRunLedger
    from minutero.service.audit import Auditor

    settings, tick = _settings(), dispatcher()
    parts = tick.dispatcher
    return Audit(
        Auditor(
            parts.store,
            DynamoRunLedger(clients.dynamodb(), settings.runs_table, CLOCK),
            parts.queue,
            parts.cursors,
            parts.clock,
            parts.timing,
            parts.parallel,
            OldestMessage(clients.sqs(), clients.cloudwatch(), settings.tasks_queue_url),
        ),
        tick.counts,
        CLOCK,
    )


@dataclass(frozen=True, slots=True)
class Worker:
    """What the worker function calls."""

    messages: "RunMessages"
    inbox: Inbox
    settings: SettingsStore
    clock: Clock

    def batch(self, deadline: int) -> "Batch":
        """One delivery of SQS; `deadline` in milliseconds is when this process will be ended."""
        from minutero.service.run_messages import Batch

        return Batch(self.messages, self.inbox, deadline)

    def announce(self, names: frozenset[str]) -> None:
        """Tells writers which jobs there are; writes only when that has changed.

        Unanswered, it is logged and left: writers ask again for a name they do not know."""
        try:
            if self.settings.jobs() != names:
                self.settings.announce_jobs(names)
        except Unavailable as error:
            logger.warning("the names of the jobs are not announced: %s", error)


@cache
def worker(jobs: JobRegistry) -> Worker:
    """For functions/worker."""
    from minutero.aws import clients
    from minutero.aws.queue import SqsTaskQueue, parse_message
    from minutero.aws.run_ledger import DynamoRunLedger
    from minutero.aws.run_once import PowertoolsRunOnce
    from minutero.aws.settings_store import DynamoSettingsStore
    from minutero.aws.task_store import DynamoTaskStore
    from minutero.service.execute import Execute
    from minutero.service.run_messages import RunMessages

    settings = _settings()
    dynamodb = clients.dynamodb()
    tables = _tables(settings, dynamodb)
    store = DynamoTaskStore(tables, CLOCK)
    queue = SqsTaskQueue(clients.sqs(), settings.tasks_queue_url, settings.dead_letter_queue_url)
    execute = Execute(
        store,
        queue,
        PowertoolsRunOnce(DynamoRunLedger(dynamodb, settings.runs_table, CLOCK), CLOCK),
        jobs,
        CLOCK,
        settings.timing,
        random.random,
    )
    return Worker(
        RunMessages(store, execute, parse_message),
        queue,
        DynamoSettingsStore(tables, CLOCK),
        CLOCK,
    )


@cache
def dead_letter() -> "BuryMessage":
    """For functions/dead_letter."""
    from minutero.aws import clients
    from minutero.aws.queue import parse_message
    from minutero.aws.run_ledger import DynamoRunLedger
    from minutero.aws.task_store import DynamoTaskStore
    from minutero.service.dead_letter import BuryMessage

    settings = _settings()
    dynamodb = clients.dynamodb()
    store = DynamoTaskStore(_tables(settings, dynamodb), CLOCK)
    ledger = DynamoRunLedger(dynamodb, settings.runs_table, CLOCK)
    return BuryMessage(store, ledger, CLOCK, settings.timing, parse_message)


def side_by_side(call: Callable[[Argument], Answer], arguments: Iterable[Argument]) -> list[Answer]:
    """`Parallel` over the process's threads."""
    return list(_threads().map(call, arguments))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS)


@cache
def _settings() -> Settings:
    return Settings.from_environment(os.environ)


def _tables(settings: Settings, client: "DynamoDBClient") -> "Tables":
    from minutero.aws.tables import TableNames, bind

    return bind(
        client,
        TableNames(
            settings.tasks_table,
            settings.runs_table,
            settings.cursors_table,
            settings.schedules_table,
        ),
    )
