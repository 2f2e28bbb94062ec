"""Puts the services and AWS together: one builder a function, called on its first event.

Reading the environment and opening clients happens in here and nowhere else. Each builder imports what its
function needs and no more, since imports are most of a cold start.
"""

# ruff: noqa: PLC0415 - see above

import os
import random
import secrets
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

from minutero.aws.clock import SystemClock
from minutero.aws.emf import EmfMeter
from minutero.domain.instants import SECOND
from minutero.domain.metrics import SILENT
from minutero.jobs import JobRegistry
from minutero.ports import Answer, Argument, Meter
from minutero.service.entries import Api, Audit, Tick, Worker
from minutero.settings import Settings

if TYPE_CHECKING:
    from botocore.session import Session
    from mypy_boto3_dynamodb import DynamoDBClient

    from minutero.aws.tables import Tables
    from minutero.service.dead_letter import BuryMessage

THREADS = 16
"""Requests a process keeps in flight: a dispatcher's claims and sends, the shards of a list."""

BATCH_TIME = 5 * SECOND
"""After so long the API begins no more tasks of a batch: it has to answer within its time-out of 10 s."""

CLOCK = SystemClock()
METER = EmfMeter()
"""What a function counts in one call; `observed` prints it."""


def api_parts(
    settings: Settings,
    *,
    region: str | None = None,
    endpoint: str | None = None,
    session: "Session | None" = None,
    clock_margin: int = 0,
    meter: Meter = SILENT,
    patience: int | None = None,
) -> Api:
    """Builds an Api from settings; None for what the environment says of region, endpoint and keys.

    `clock_margin` is how far ahead this process's clock may be, in milliseconds: 0 within AWS. `meter`
    counts what is added and, unless it is silent, the units consumed. `patience` is that of AddTasks.
    """
    from minutero.aws import clients
    from minutero.aws.cursor_store import DynamoCursorStore
    from minutero.aws.deployed_function import DeployedFunction
    from minutero.aws.queue import SqsTaskQueue
    from minutero.aws.run_ledger import DynamoRunLedger
    from minutero.aws.settings_store import DynamoSettingsStore
    from minutero.aws.task_store import DynamoTaskStore
    from minutero.service.add_task import AddTask
    from minutero.service.add_tasks import AddTasks
    from minutero.service.cancel import CancelTask
    from minutero.service.dead_list import DeadList
    from minutero.service.job_catalog import JobCatalog
    from minutero.service.list_tasks import ListTasks
    from minutero.service.move import MoveTask
    from minutero.service.read_stats import ReadStats
    from minutero.service.read_task import ReadTask
    from minutero.service.shards import Shards

    tries = clients.TRIES_WAITED_FOR
    dynamodb = clients.dynamodb(region, endpoint, THREADS, session, tries)
    if meter is not SILENT:
        _counted(dynamodb, meter)
    # Batches of new tasks carry no guard, and are never repeated blindly.
    once = clients.dynamodb(region, endpoint, THREADS, session, tries=1)
    tables = _tables(settings, dynamodb, once)
    store = DynamoTaskStore(tables, CLOCK)
    settings_store = DynamoSettingsStore(tables, CLOCK)
    sqs = clients.sqs(region, endpoint, THREADS, session, tries)
    queue = SqsTaskQueue(sqs, settings.tasks_queue_url, settings.dead_letter_queue_url)
    worker = DeployedFunction(settings.worker_function, region, endpoint, session)
    jobs = JobCatalog(settings_store, worker.announce_jobs)
    shards = Shards(settings_store, settings.shards)
    ledger = DynamoRunLedger(dynamodb, settings.runs_table, CLOCK)
    timing = settings.timing
    add_task = AddTask(store, queue, shards, jobs, CLOCK, timing, meter)
    move = MoveTask(store, ledger, add_task.send_near, CLOCK, timing, clock_margin)
    read_task = ReadTask(store, ledger, CLOCK)
    list_tasks = ListTasks(store, ledger, shards, CLOCK, side_by_side)
    return Api(
        add_task,
        AddTasks(add_task, store, side_by_side, CLOCK, patience),
        read_task,
        list_tasks,
        CancelTask(store, CLOCK, timing, clock_margin),
        move,
        DeadList(store, read_task, move, shards, CLOCK, timing, side_by_side),
        ReadStats(DynamoCursorStore(tables, CLOCK), queue, list_tasks, shards, CLOCK, side_by_side),
        jobs,
        settings_store,
        store.entry,
        CLOCK,
    )


@cache
def api() -> Api:
    """For functions/api."""
    return api_parts(_settings(), meter=METER, patience=BATCH_TIME)


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
    tables = _tables(settings, _counted(clients.dynamodb(connections=THREADS)))
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
            DynamoRunLedger(_counted(clients.dynamodb()), settings.runs_table, CLOCK),
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
    dynamodb = _counted(clients.dynamodb())
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
        METER,
        settings.log_payloads,
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
    dynamodb = _counted(clients.dynamodb())
    store = DynamoTaskStore(_tables(settings, dynamodb), CLOCK)
    ledger = DynamoRunLedger(dynamodb, settings.runs_table, CLOCK)
    return BuryMessage(store, ledger, CLOCK, settings.timing, parse_message, METER)


def side_by_side(call: Callable[[Argument], Answer], arguments: Iterable[Argument]) -> list[Answer]:
    """`Parallel` over the process's threads."""
    return list(_threads().map(call, arguments))


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS)


@cache
def _settings() -> Settings:
    return Settings.from_environment(os.environ)


def _counted(client: "DynamoDBClient", meter: Meter = METER) -> "DynamoDBClient":
    """The client, with the units of its requests counted."""
    from minutero.aws.consumed_units import count_units

    count_units(client, meter)
    return client


def _tables(
    settings: Settings, client: "DynamoDBClient", once: "DynamoDBClient | None" = None
) -> "Tables":
    from minutero.aws.tables import TableNames, bind

    return bind(
        client,
        TableNames(
            settings.tasks_table,
            settings.runs_table,
            settings.cursors_table,
            settings.schedules_table,
        ),
        once,
    )
