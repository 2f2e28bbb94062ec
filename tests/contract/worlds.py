"""What the contract tests share: a deployment behind the ports, on AWS's API or in memory."""

import secrets
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from minutero.aws.cursor_store import DynamoCursorStore
from minutero.aws.overlap_locks import DynamoOverlapLocks
from minutero.aws.queue import SqsTaskQueue
from minutero.aws.run_ledger import DynamoRunLedger
from minutero.aws.schedule_store import DynamoScheduleStore
from minutero.aws.settings_store import DynamoSettingsStore
from minutero.aws.tables import TableNames, Tables, bind
from minutero.aws.task_store import DynamoTaskStore
from minutero.domain.instants import DAY, SECOND, parse_instant
from minutero.domain.task import KeyRecord, Task
from minutero.ports import (
    CursorStore,
    OverlapLocks,
    RunLedger,
    ScheduleStore,
    SettingsStore,
    TaskQueue,
    TaskStore,
)
from minutero.testing import SettableClock
from minutero.testing.memory import Memory

ROOT = Path(__file__).resolve().parents[2]
NOW = parse_instant("2026-11-29T20:21:07Z")
KEEP = (NOW + 30 * DAY) // SECOND
TABLES = {
    "tasks": "TasksTable",
    "runs": "RunsTable",
    "cursors": "CursorsTable",
    "schedules": "SchedulesTable",
}


@dataclass(frozen=True)
class World:
    """One empty deployment behind the ports. `tables` is None in memory."""

    name: str
    tasks: TaskStore
    ledger: RunLedger
    cursors: CursorStore
    settings: SettingsStore
    queue: TaskQueue
    schedules: ScheduleStore
    locks: OverlapLocks
    tables: Tables | None = None
    sqs: Any = None
    queue_urls: tuple[str, str] = ("", "")


class Template(yaml.SafeLoader):
    """Reads template.yaml; CloudFormation's own tags come out as plain values."""


Template.add_multi_constructor(
    "!",
    lambda loader, _tag, node: (
        loader.construct_scalar(node)
        if isinstance(node, yaml.ScalarNode)
        else loader.construct_sequence(node, deep=True)
        if isinstance(node, yaml.SequenceNode)
        else loader.construct_mapping(node, deep=True)
    ),
)


def tables_of_template() -> dict[str, dict[str, Any]]:
    """Properties of the tables by our names for them."""
    template = yaml.load((ROOT / "template.yaml").read_text(), Loader=Template)
    return {name: template["Resources"][id_]["Properties"] for name, id_ in TABLES.items()}


def over_aws(name: str, dynamodb: Any, sqs: Any, schema: dict[str, dict[str, Any]]) -> World:
    """Create tables and queues under fresh names and put the ports over them."""
    suffix = secrets.token_hex(4)
    names = create_tables(dynamodb, suffix, schema)
    urls = tuple(
        sqs.create_queue(QueueName=f"{kind}-{suffix}")["QueueUrl"] for kind in ("tasks", "dead")
    )
    tables, clock = bind(dynamodb, names), SettableClock(0)
    return World(
        name=name,
        tasks=DynamoTaskStore(tables, clock),
        ledger=DynamoRunLedger(dynamodb, names.runs, clock),
        cursors=DynamoCursorStore(tables, clock),
        settings=DynamoSettingsStore(tables, clock),
        queue=SqsTaskQueue(sqs, *urls),
        schedules=DynamoScheduleStore(tables, clock),
        locks=DynamoOverlapLocks(tables, clock),
        tables=tables,
        sqs=sqs,
        queue_urls=(urls[0], urls[1]),
    )


def create_tables(dynamodb: Any, suffix: str, schema: dict[str, dict[str, Any]]) -> TableNames:
    """Create the tables of a deployment."""
    names = TableNames(**{table: f"{table}-{suffix}" for table in TABLES})
    for table, properties in schema.items():
        # Under a name of its own a table that is there already was made by a request whose answer came late.
        with suppress(dynamodb.exceptions.ResourceInUseException):
            dynamodb.create_table(
                TableName=getattr(names, table),
                BillingMode=properties["BillingMode"],
                KeySchema=properties["KeySchema"],
                AttributeDefinitions=properties["AttributeDefinitions"],
            )
    return names


def in_memory() -> World:
    memory = Memory()
    return World(
        "memory",
        memory.tasks,
        memory.ledger,
        memory.cursors,
        memory.settings,
        memory.queue,
        memory.schedules,
        memory.locks,
    )


def key_of(task: Task, body_hash: str = "b" * 64) -> KeyRecord:
    """The record that registers a task's key."""
    return KeyRecord(task.tenant, task.key, task.task_id, body_hash, task.keep_until)


def size_of(item):
    """Bytes of an item as DynamoDB counts them, numbers rounded up."""
    return sum(
        len(name.encode()) + len(str(next(iter(value.values()))).encode())
        for name, value in item.items()
    )
