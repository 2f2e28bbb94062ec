"""Puts the services and AWS together: one builder a function, called on its first event.

Reading the environment and opening clients happens in here and nowhere else. Each builder imports what its
function needs and no more, since imports are most of a cold start.
"""

# ruff: noqa: PLC0415 - see above

import random
import secrets
from functools import cache
from typing import TYPE_CHECKING

from minutero.domain.instants import SECOND
from minutero.jobs import JobRegistry
from minutero.service.entries import Api, Audit, Tick, Worker
from minutero.wiring.of_api import api_parts, revise_schedule
from minutero.wiring.process import (
    CLOCK,
    METER,
    THREADS,
    bound_tables,
    counted,
    settings_here,
    side_by_side,
)

if TYPE_CHECKING:
    from minutero.service.dead_letter import BuryMessage

__all__ = [
    "CLOCK",
    "METER",
    "THREADS",
    "api",
    "api_parts",
    "auditor",
    "dead_letter",
    "dispatcher",
    "settings_here",
    "worker",
]

BATCH_TIME = 5 * SECOND
"""After so long the API begins no more tasks of a batch: it has to answer within its time-out of 10 s."""


@cache
def api() -> Api:
    """For functions/api."""
    return api_parts(settings_here(), meter=METER, patience=BATCH_TIME)


@cache
def dispatcher() -> Tick:
    """For functions/dispatcher. Each process has a name of its own in the leases."""
    from minutero.aws import clients
    from minutero.aws.cursor_store import DynamoCursorStore
    from minutero.aws.deployed_function import DeployedFunction
    from minutero.aws.queue import SqsTaskQueue
    from minutero.aws.schedule_store import DynamoScheduleStore
    from minutero.aws.settings_store import DynamoSettingsStore
    from minutero.aws.task_store import DynamoTaskStore
    from minutero.service.dispatch import Dispatcher
    from minutero.service.fire import FireOccurrences
    from minutero.service.shards import Shards

    settings = settings_here()
    tables = bound_tables(settings, counted(clients.dynamodb(connections=THREADS)))
    sqs = clients.sqs(connections=THREADS)
    timing = settings.timing
    schedules = DynamoScheduleStore(tables, CLOCK)
    return Tick(
        Dispatcher(
            DynamoTaskStore(tables, CLOCK),
            SqsTaskQueue(sqs, settings.tasks_queue_url, settings.dead_letter_queue_url),
            DynamoCursorStore(tables, CLOCK),
            CLOCK,
            timing,
            side_by_side,
            FireOccurrences(schedules, CLOCK, timing, side_by_side, METER),
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
    from minutero.service.rearm import Rearm
    from minutero.service.send_near import SendNear

    settings, tick = settings_here(), dispatcher()
    parts = tick.dispatcher
    ledger = DynamoRunLedger(counted(clients.dynamodb()), settings.runs_table, CLOCK)
    send_near = SendNear(parts.store, parts.queue, CLOCK, parts.timing, METER)
    return Audit(
        Auditor(
            parts.store,
            ledger,
            parts.queue,
            parts.cursors,
            parts.clock,
            parts.timing,
            parts.parallel,
            parts.fire,
            OldestMessage(clients.sqs(), clients.cloudwatch(), settings.tasks_queue_url),
        ),
        Rearm(revise_schedule(parts.fire, send_near, ledger, tick.counts)),
        tick.counts,
        CLOCK,
    )


@cache
def worker(jobs: JobRegistry) -> Worker:
    """For functions/worker."""
    from minutero.aws import clients
    from minutero.aws.overlap_locks import DynamoOverlapLocks
    from minutero.aws.queue import SqsTaskQueue, parse_message
    from minutero.aws.run_ledger import DynamoRunLedger
    from minutero.aws.run_once import PowertoolsRunOnce
    from minutero.aws.settings_store import DynamoSettingsStore
    from minutero.aws.slots import DynamoSlots
    from minutero.aws.task_store import DynamoTaskStore
    from minutero.contained import contained
    from minutero.service.execute import Execute
    from minutero.service.overlap import OneAtATime
    from minutero.service.run_messages import RunMessages

    settings = settings_here()
    dynamodb = counted(clients.dynamodb())
    tables = bound_tables(settings, dynamodb)
    store = DynamoTaskStore(tables, CLOCK)
    queue = SqsTaskQueue(clients.sqs(), settings.tasks_queue_url, settings.dead_letter_queue_url)
    execute = Execute(
        store,
        queue,
        PowertoolsRunOnce(DynamoRunLedger(dynamodb, settings.runs_table, CLOCK), CLOCK),
        OneAtATime(DynamoOverlapLocks(tables, CLOCK), CLOCK, settings.timing),
        DynamoSlots(dynamodb, settings.runs_table, CLOCK),
        jobs,
        CLOCK,
        settings.timing,
        random.random,
        METER,
        settings.log_payloads,
        contained,
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

    settings = settings_here()
    dynamodb = counted(clients.dynamodb())
    store = DynamoTaskStore(bound_tables(settings, dynamodb), CLOCK)
    ledger = DynamoRunLedger(dynamodb, settings.runs_table, CLOCK)
    return BuryMessage(store, ledger, CLOCK, settings.timing, parse_message, METER)
