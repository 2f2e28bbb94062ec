"""The events of events/: which function takes each, and the tasks they speak of."""

import json
from pathlib import Path
from typing import Any

from minutero.aws.clock import SystemClock
from minutero.aws.queue import parse_message
from minutero.aws.tables import TableNames, bind
from minutero.aws.task_store import DynamoTaskStore
from minutero.domain.task import State as TaskState
from minutero.domain.task import Task
from minutero.domain.timing import Timing
from minutero_cli.local.clients import client
from minutero_cli.local.paths import project_root
from minutero_cli.local.state import State

FUNCTIONS = {
    "sqs_tasks": "WorkerFunction",
    "sqs_dead_letters": "DeadLetterFunction",
    "eventbridge_tick": "DispatcherFunction",
    "eventbridge_audit": "AuditorFunction",
    "http_post_tasks": "ApiFunction",
    "http_get_jobs": "ApiFunction",
    "http_get_task": "ApiFunction",
}
FOLDER = project_root() / "events"
PAYLOAD = '{"order": 17}'


def path_of(name: str) -> Path:
    return FOLDER / f"{name}.json"


def read(name: str) -> Any:
    return json.loads(path_of(name).read_text())


def store_their_tasks(state: State) -> None:
    """Put the tasks that the messages point to, as they are when their messages wait: claimed."""
    names = (
        state.outputs[f"{name}TableName"] for name in ("Tasks", "Runs", "Cursors", "Schedules")
    )
    dynamodb = client(state, "dynamodb")
    clock = SystemClock()
    store = DynamoTaskStore(bind(dynamodb, TableNames(*names)), clock)
    now = clock.now()
    for name in ("sqs_tasks", "sqs_dead_letters"):
        for record in read(name)["Records"]:
            pointer, _ = parse_message(record["body"])
            task = Task(
                task_id=pointer.task_id,
                run_no=0,
                place=pointer.place,
                job="echo",
                run_at=pointer.due,
                created_at=pointer.due,
                keep_until=(now + Timing().retention) // 1000,
                payload=PAYLOAD,
                state=TaskState.CLAIMED,
                claim_id="events",
                claimed_at=pointer.due,
            )
            store.put(task)
