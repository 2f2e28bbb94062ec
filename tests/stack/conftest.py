"""The template, deployed to a MiniStack of the tests' own, with the jobs of tests/stack/jobs."""

import json
import os
import shutil
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from inspect import signature
from pathlib import Path

import pytest

from minutero_cli import api_client
from minutero_cli.api_client import Api
from minutero_cli.local import LocalStack
from minutero_cli.local.build import build
from minutero_cli.local.scratch import folder, running

# The folders of tests are no packages; what they share lies beside them.
sys.path.insert(0, str(Path(__file__).parents[1]))


JOBS = Path(__file__).with_name("jobs")
OVER = {"succeeded", "skipped", "expired", "dead", "cancelled"}
LOOK_AHEAD_SECONDS = 60
AHEAD = 10
"""Seconds within which a call comes that is to be before a task has begun, on a busy machine, too."""
PATIENCE_SECONDS = 90
"""A cold start takes seconds where two cores serve all of AWS; only the tests of lateness are strict."""


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.stack)


@dataclass
class Stack:
    local: LocalStack
    api: Api
    outputs: dict

    def add(self, job="echo", **more):
        return self.api.post("/tasks", {"job": job, **more}).body

    def get(self, task_id):
        return self.api.get(f"/tasks/{task_id}").body

    def wait(self, task_id, until=OVER, seconds=PATIENCE_SECONDS):
        """The task once it has one of these statuses."""
        return eventually(
            lambda: told if (told := self.get(task_id))["status"] in until else None, seconds
        )

    def row(self, task_id):
        """The task's own item."""
        from minutero.domain.task import first_place

        place = first_place(task_id)
        return self.client("dynamodb").get_item(
            TableName=self.outputs["TasksTableName"],
            Key={"bucket": {"S": place.bucket}, "sk": {"S": place.sk}},
            ConsistentRead=True,
        )["Item"]

    def client(self, service):
        return self.local.client(service)


def eventually(look, seconds=PATIENCE_SECONDS):
    """What `look` finds, once it finds something."""
    deadline = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < deadline, f"nothing came of it in {seconds} s"
        time.sleep(0.1)
    return found


@pytest.fixture(scope="session")
def home():
    with folder() as made:
        yield made


@pytest.fixture(scope="session")
def stack(home):
    """Deployed once for all tests, with the shortest look-ahead: what is 70 s ahead needs a tick. Every
    function has its own role's permissions and no others, and requests are signed."""
    built = home / "built"
    shutil.copytree(build(), built, symlinks=True)
    shutil.copytree(JOBS, built / "WorkerFunction" / "jobs", dirs_exist_ok=True)
    parameters = {"LookAheadMinutes": "1", "Shards": "2"}
    with (
        running(home, built, parameters, auth=True) as local,
        pytest.MonkeyPatch.context() as patient,
    ):
        state = local.running()
        sign = api_client.signer(state.api_url, state.environment)
        made = Stack(local, Api(state.api_url, "the stack of the tests", sign), state.outputs)
        patient.setattr(api_client, "TIMEOUT", PATIENCE_SECONDS)
        # The worker's first start may take longer than the API waits for the names of its jobs.
        eventually(lambda: made.api.get("/jobs").body["jobs"])
        made.wait(made.add("echo")["task_id"])
        yield made


@pytest.fixture(scope="session", autouse=True)
def far_task(stack):
    """A task beyond the look-ahead, added before all else, so that no test need wait for it long."""
    added = stack.add("echo", payload="far", delay_seconds=LOOK_AHEAD_SECONDS + 15)
    return added, stack.get(added["task_id"])


@pytest.fixture(scope="session", autouse=True)
def minutely(request, stack):
    """A schedule of every minute, made before all else for the tests that ask for it: while the others run,
    its minutes pass."""
    if any("minutely" in signature(item.function).parameters for item in request.session.items):
        body = {"job": "tally", "expression": "cron(* * * * ? *)", "tenant": "acme"}
        return stack.api.put("/schedules/minutely", body).body
    return None


@pytest.fixture
def aws_environment(stack, monkeypatch):
    """The stack's AWS is this process's AWS."""
    for name in list(os.environ):
        if name.startswith(("AWS_", "MINUTERO_")):
            monkeypatch.delenv(name)
    for name, value in stack.local.running().environment.items():
        monkeypatch.setenv(name, value)


def now():
    return datetime.now(UTC)


def instant(at):
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def late(told):
    """How late a task started, by its own timeline and in milliseconds."""
    started = datetime.fromisoformat(told["timeline"]["started_at"])
    lateness = (started - datetime.fromisoformat(told["run_at"])).total_seconds() * 1000
    assert told["lateness_ms"] == round(lateness), json.dumps(told)
    return told["lateness_ms"]
