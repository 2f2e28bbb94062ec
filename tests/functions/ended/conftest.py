"""Workers as processes, over a MiniStack; the deliveries are the test's."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from minutero import Client
from minutero.aws import clients
from minutero.aws.run_record import record_id
from minutero.settings import Settings

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
# The folders of tests are no packages; what they share lies above them.
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "contract")]

from ministack_process import ministack  # noqa: E402 - found only after the line above
from worlds import over_aws, tables_of_template  # noqa: E402

__all__ = ["ministack"]

JOBS = ("quick", "exits", "is_killed", "blocks", "leaks")
"""Those of worker_process.py."""


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.stack)


@pytest.fixture(autouse=True)
def aws():
    """None in this process, as the tests beside these have it."""


@dataclass
class Deployment:
    """Tables, a queue and a client. `receipts` are those of the messages in hand, by task."""

    environment: dict[str, str]
    world: Any
    dynamodb: Any
    client: Client
    folder: Path
    receipts: dict[str, str] = field(default_factory=dict)

    def add(self, *jobs):
        """A task of each job, due now."""
        return [self.client.add_task(job, number)["task_id"] for number, job in enumerate(jobs)]

    def take(self, tasks):
        """The messages of these tasks, in flight from now on; those of others are left."""
        url, bodies = self.world.queue_urls[0], {}
        while len(bodies) < len(tasks):
            found = self.world.sqs.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, VisibilityTimeout=600
            )
            for message in found["Messages"]:
                (task,) = [one for one in tasks if one in message["Body"]]
                self.receipts[task] = message["ReceiptHandle"]
                bodies[task] = message["Body"]
        return bodies

    def call(self, bodies, receives, seconds=60):
        """One call of a worker in a new process, with these messages in their order: how it ended, and the
        messages to keep, or None of a worker that did not answer."""
        event = json.loads((ROOT / "events" / "sqs_tasks.json").read_text())
        pattern = event["Records"][0]
        attributes = {**pattern["attributes"], "ApproximateReceiveCount": str(receives)}
        event["Records"] = [
            {
                **pattern,
                "messageId": task,
                "receiptHandle": self.receipts[task],
                "body": body,
                "attributes": attributes,
            }
            for task, body in bodies.items()
        ]
        answer = self.folder / "answer.json"
        answer.unlink(missing_ok=True)
        ended = subprocess.run(
            [sys.executable, str(HERE / "worker_process.py"), str(answer), str(seconds)],
            input=json.dumps(event),
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        kept = json.loads(answer.read_text())["batchItemFailures"] if answer.exists() else None
        return ended, kept

    def let_its_time_pass(self, task):
        """As if the time of an attempt that never told its end were over."""
        self.dynamodb.update_item(
            TableName=self.environment["MINUTERO_RUNS_TABLE"],
            Key={"id": {"S": record_id(f"{task}.0")}},
            UpdateExpression="SET in_progress_expiration = :past",
            ExpressionAttributeValues={":past": {"N": "1"}},
        )

    def in_flight(self):
        return self.world.queue.depth().in_flight

    def told(self, task):
        return self.client.get_task(task)


@pytest.fixture
def deployment(ministack, monkeypatch, tmp_path):
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    dynamodb = clients.dynamodb("us-east-1", ministack)
    sqs = clients.sqs("us-east-1", ministack)
    world = over_aws("ministack", dynamodb, sqs, tables_of_template())
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment = {
        **kept,
        "AWS_ENDPOINT_URL": ministack,
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "POWERTOOLS_DEV": "false",
        "PYTHONPATH": f"{ROOT / 'functions' / 'worker'}{os.pathsep}{ROOT / 'layers' / 'minutero'}",
        "MINUTERO_TASKS_TABLE": world.tables.names.tasks,
        "MINUTERO_RUNS_TABLE": world.tables.names.runs,
        "MINUTERO_CURSORS_TABLE": world.tables.names.cursors,
        "MINUTERO_SCHEDULES_TABLE": world.tables.names.schedules,
        "MINUTERO_TASKS_QUEUE_URL": world.queue_urls[0],
        "MINUTERO_DEAD_LETTER_QUEUE_URL": world.queue_urls[1],
        "MINUTERO_WORKER_FUNCTION": "minutero-worker",
        "MINUTERO_DISPATCHER_FUNCTION": "minutero-dispatcher",
    }
    world.settings.announce_jobs(frozenset(JOBS))
    client = Client(
        settings=Settings.from_environment(environment), region="us-east-1", endpoint=ministack
    )
    return Deployment(environment, world, dynamodb, client, tmp_path)
