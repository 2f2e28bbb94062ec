"""Puts together what the HTTP API and the Python client call."""

# ruff: noqa: PLC0415 - imports are most of a cold start

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minutero.domain.metrics import SILENT
from minutero.domain.timing import Timing
from minutero.ports import (
    Clock,
    CursorStore,
    Meter,
    Parallel,
    RunLedger,
    ScheduleStore,
    SettingsStore,
    TaskQueue,
    TaskStore,
)
from minutero.service.entries import Api
from minutero.settings import Settings
from minutero.wiring.process import CLOCK, THREADS, bound_tables, counted, side_by_side

if TYPE_CHECKING:
    from botocore.session import Session

    from minutero.domain.task import Task
    from minutero.service.fire import FireOccurrences
    from minutero.service.job_catalog import JobCatalog
    from minutero.service.revise_schedule import ReviseSchedule
    from minutero.service.send_near import SendNear
    from minutero.service.shards import Shards


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
    from minutero.aws.schedule_store import DynamoScheduleStore
    from minutero.aws.settings_store import DynamoSettingsStore
    from minutero.aws.task_store import DynamoTaskStore
    from minutero.service.job_catalog import JobCatalog
    from minutero.service.shards import Shards

    tries = clients.TRIES_WAITED_FOR
    dynamodb = clients.dynamodb(region, endpoint, THREADS, session, tries)
    if meter is not SILENT:
        counted(dynamodb, meter)
    # Batches of new tasks carry no guard, and are never repeated blindly.
    once = clients.dynamodb(region, endpoint, THREADS, session, tries=1)
    tables = bound_tables(settings, dynamodb, once)
    store = DynamoTaskStore(tables, CLOCK)
    settings_store = DynamoSettingsStore(tables, CLOCK)
    sqs = clients.sqs(region, endpoint, THREADS, session, tries)
    worker = DeployedFunction(settings.worker_function, region, endpoint, session)
    return ApiParts(
        store,
        DynamoRunLedger(dynamodb, settings.runs_table, CLOCK),
        SqsTaskQueue(sqs, settings.tasks_queue_url, settings.dead_letter_queue_url),
        DynamoScheduleStore(tables, CLOCK),
        DynamoCursorStore(tables, CLOCK),
        settings_store,
        JobCatalog(settings_store, worker.announce_jobs),
        Shards(settings_store, settings.shards),
        store.entry,
        CLOCK,
        settings.timing,
        side_by_side,
        meter,
        clock_margin,
        patience,
    ).api()


@dataclass(frozen=True, slots=True)
class ApiParts:
    """What an Api is made of, over AWS or in memory."""

    tasks: TaskStore
    ledger: RunLedger
    queue: TaskQueue
    schedules: ScheduleStore
    cursors: CursorStore
    settings: SettingsStore
    jobs: "JobCatalog"
    shards: "Shards"
    task_entry: "Callable[[Task], Mapping[str, Any]]"
    clock: Clock
    timing: Timing
    parallel: Parallel
    meter: Meter = SILENT
    clock_margin: int = 0
    patience: int | None = None

    def api(self) -> Api:
        """The services over these parts."""
        from minutero.service.add_task import AddTask
        from minutero.service.add_tasks import AddTasks
        from minutero.service.cancel import CancelTask
        from minutero.service.dead_list import DeadList
        from minutero.service.fire import FireOccurrences
        from minutero.service.list_tasks import ListTasks
        from minutero.service.move import MoveTask
        from minutero.service.pass_on import PassOn
        from minutero.service.pause_schedule import PauseSchedule
        from minutero.service.put_schedule import PutSchedule
        from minutero.service.read_stats import ReadStats
        from minutero.service.read_task import ReadTask
        from minutero.service.run_schedule import RunScheduleNow

        store, ledger, shards, clock = self.tasks, self.ledger, self.shards, self.clock
        timing, parallel, meter, margin = self.timing, self.parallel, self.meter, self.clock_margin
        add_task = AddTask(store, self.queue, shards, self.jobs, clock, timing, meter)
        send_near = add_task.send_near
        fire = FireOccurrences(self.schedules, clock, timing, parallel, meter)
        pass_on = PassOn(fire, shards, clock)
        revise = revise_schedule(fire, send_near, ledger, shards, margin)
        move = MoveTask(store, ledger, send_near, pass_on, clock, timing, margin)
        read_task = ReadTask(store, ledger, clock)
        list_tasks = ListTasks(store, ledger, shards, clock, parallel)
        return Api(
            add_task,
            AddTasks(add_task, store, parallel, clock, self.patience),
            read_task,
            list_tasks,
            CancelTask(store, pass_on, clock, timing, margin),
            move,
            DeadList(store, read_task, move, shards, clock, timing, parallel),
            ReadStats(self.cursors, self.queue, list_tasks, shards, clock, parallel),
            PutSchedule(revise, self.jobs),
            PauseSchedule(revise),
            RunScheduleNow(self.schedules, store, send_near, shards, clock, timing, meter),
            revise,
            self.schedules,
            self.jobs,
            self.settings,
            self.task_entry,
            clock,
        )


def revise_schedule(
    fire: "FireOccurrences",
    send_near: "SendNear",
    ledger: RunLedger,
    shards: "Shards",
    clock_margin: int = 0,
) -> "ReviseSchedule":
    """What changes schedules: for the API, and for the auditor, which arms broken ones again."""
    from minutero.service.revise_schedule import ReviseSchedule
    from minutero.service.send_fired import SendFired

    return ReviseSchedule(
        fire.schedules,
        send_near.store,
        ledger,
        SendFired(fire, send_near, shards, fire.clock),
        shards,
        fire.clock,
        fire.timing,
        clock_margin,
    )
