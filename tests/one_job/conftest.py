"""Starts of `minutero jobs run` as processes, over the Runs table of a MiniStack."""

import io
import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from minutero.aws import clients
from minutero.jobs import registry
from minutero_cli import main

# The folders of tests are no packages; what they share lies above them.
sys.path.insert(0, str(Path(__file__).parents[1]))

from ministack_process import ministack
from translation import of_type, translated

__all__ = ["ministack"]

COMMAND = [sys.executable, "-c", "from minutero_cli.main import main; main()"]


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.stack)


@dataclass
class Deployment:
    """What the processes are told, and a client to look with."""

    environment: dict[str, str]
    dynamodb: Any
    folder: Path

    def start(self, *words):
        """A process that runs the command; not waited for."""
        return subprocess.Popen(
            [*COMMAND, *words],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *words, as_json=True):
        """The command in this process, which is faster: exit code, what it printed, its errors."""
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
            patch.chdir(self.folder)
            patch.setattr(sys, "stdin", io.StringIO())
            # The tests of another folder may have left jobs of their own on the search path.
            path = [one for one in sys.path if not (Path(one) / "jobs").is_dir()]
            patch.setattr(sys, "path", path)
            patch.setattr(registry, "_jobs", {})
            for name in {name for name in os.environ if name.startswith(("AWS_", "MINUTERO_"))}:
                patch.delenv(name)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            before = signal.getsignal(signal.SIGTERM)
            _forget_jobs()
            try:
                code = main.run(["jobs", "run", *words, *(["--json"] if as_json else [])])
            finally:
                signal.signal(signal.SIGTERM, before)
                _forget_jobs()
        told = json.loads(_last(out) or "null") if as_json else out.getvalue()
        return code, told, err.getvalue()

    def records(self):
        return self.dynamodb.scan(TableName="Runs", ConsistentRead=True)["Items"]


def _forget_jobs():
    for name in [name for name in sys.modules if name.split(".")[0] == "jobs"]:
        del sys.modules[name]


def _last(out):
    """The last line; the job may have printed some before."""
    return out.getvalue().rpartition("\n")[0].rpartition("\n")[2]


@pytest.fixture(scope="session")
def runs_table(ministack):
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        dynamodb = clients.dynamodb("us-east-1", ministack)
        made_of = of_type(translated(), "AWS::DynamoDB::Table")["RunsTable"]
        wanted = {name: made_of[name] for name in ("KeySchema", "AttributeDefinitions")}
        dynamodb.create_table(TableName="Runs", BillingMode="PAY_PER_REQUEST", **wanted)
        dynamodb.create_table(
            TableName="Coins",
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "wallet", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "wallet", "AttributeType": "S"}],
        )
        yield dynamodb


@pytest.fixture
def deployment(ministack, runs_table, tmp_path):
    """An empty Runs table, and a folder with jobs in it."""
    for item in runs_table.scan(TableName="Runs")["Items"]:
        runs_table.delete_item(TableName="Runs", Key={"id": item["id"]})
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    environment = {
        **kept,
        "AWS_ENDPOINT_URL": ministack,
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "MINUTERO_RUNS_TABLE": "Runs",
    }
    jobs = tmp_path / "jobs"
    jobs.mkdir()
    (jobs / "for_tests.py").write_text(Path(__file__).with_name("jobs_for_tests.py").read_text())
    return Deployment(environment, runs_table, tmp_path)
