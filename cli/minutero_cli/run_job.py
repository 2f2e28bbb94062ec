"""`minutero jobs run`: one job, once, in this process."""

import json
import logging
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import botocore.session
from botocore.exceptions import BotoCoreError, ClientError

from minutero.aws.deployed_stack import find_stack
from minutero.domain.exchanged import Failed, Finished, InProgress, RunResult
from minutero.domain.instants import SECOND, format_instant
from minutero.domain.new_task import check_key, check_name
from minutero.domain.run import Ending, short
from minutero.errors import MinuteroError, UnknownJob
from minutero.job_files import load_jobs
from minutero.jobs import registry
from minutero.service.run_job import name_run
from minutero.watchdog import watchdog
from minutero.wiring.of_job import run_job
from minutero_cli.errors import CommandError
from minutero_cli.job_folder import job_folder
from minutero_cli.local import state
from minutero_cli.local.deploy import FOREIGN
from minutero_cli.local.paths import default_home
from minutero_cli.local.server import is_running
from minutero_cli.terminal import print_error, printable

WELL = (Ending.SUCCEEDED, Ending.SKIPPED)


@dataclass(frozen=True, slots=True)
class Start:
    """One start of a job. `at` in milliseconds, `timeout` in seconds."""

    job: str
    payload: Any
    at: int | None
    key: str
    timeout: int
    as_json: bool


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a start. `here` says that it was this one that did it."""

    status: str
    here: bool
    why: str = ""
    result: Any = None

    @property
    def exit_code(self) -> int:
        return 0 if self.status in (*WELL, "running") else 1


def run_here(start: Start, folder: Path | None, stack: str | None) -> int:
    """Run it, print what became of it, and return the exit code. Raises CommandError."""
    _listen_to_stops()
    _log_to_stderr()
    reach(stack)
    jobs = job_folder(folder)
    sys.path.insert(0, str(jobs.parent))
    load_jobs(jobs)
    try:
        check_name(start.job, "job")
        if start.key:
            check_key(start.key)
        run = name_run(start.job, start.payload, start.at, start.key)
        with watchdog(start.timeout, lambda: _last_words(start), _end):
            result = run_job(registry)(start.job, start.payload, run, start.timeout * SECOND)
    except UnknownJob as error:
        names = ", ".join(sorted(registry.names()))
        raise CommandError(f"{jobs} has no job {start.job!r}; there are: {names}") from error
    except BotoCoreError as error:
        raise CommandError(f"{error} Set AWS_REGION, and AWS credentials") from error
    except MinuteroError as error:
        raise CommandError(str(error)) from error
    told = _told(result)
    _print(start, run.id, told)
    return told.exit_code


def reach(stack: str | None) -> None:
    """Make this process's environment the deployed worker's, for the job too; leave it where it is that
    already. Raises CommandError."""
    if region := os.environ.get("AWS_REGION"):
        # Lambda and Fargate set it, and boto3 reads the other one alone.
        os.environ.setdefault("AWS_DEFAULT_REGION", region)
    if stack is None and os.environ.get("MINUTERO_RUNS_TABLE"):
        return
    if stack is not None:
        try:
            outputs = find_stack(stack).outputs
        except MinuteroError as error:
            raise CommandError(f"{error}; for the local stack leave --stack out") from None
    else:
        outputs = _local_stack().outputs
    worker = outputs.get("WorkerFunctionName")
    if worker is None:
        raise CommandError(f"stack {stack!r} has no output WorkerFunctionName; is it of Minutero?")
    try:
        client: Any = botocore.session.get_session().create_client("lambda")
        told = client.get_function_configuration(FunctionName=worker)
    except (BotoCoreError, ClientError) as error:
        raise CommandError(f"the environment of {worker} cannot be read: {error}") from error
    os.environ.update(told["Environment"]["Variables"])


def _local_stack() -> state.State:
    """The one that runs; its AWS is this process's from now on."""
    try:
        known = state.load(default_home())
    except CommandError:  # outside a checkout there is none
        known = None
    if known is None or not known.outputs or not is_running(known):
        raise CommandError(
            "no deployment to run it for; start the local stack with: minutero local up, "
            "or name one with --stack, or its Runs table with MINUTERO_RUNS_TABLE"
        )
    for name in FOREIGN:
        os.environ.pop(name, None)
    os.environ.update(known.environment)
    return known


def _listen_to_stops() -> None:
    """The first process of a container is told to stop by a signal that it does not notice by itself."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def _log_to_stderr() -> None:
    logging.basicConfig(stream=sys.stderr, format="%(levelname)s %(name)s: %(message)s")
    logging.getLogger("jobs").setLevel(logging.INFO)


def _last_words(start: Start) -> None:
    print_error(f"{start.job} took longer than {start.timeout} s; give it more with --timeout")


def _end() -> None:
    sys.stdout.flush()
    os._exit(1)


def _told(result: RunResult) -> Told:
    match result:
        case Finished(outcome, fresh):
            value = None if outcome.result is None else json.loads(outcome.result)
            return Told(str(outcome.ending), fresh, outcome.reason or outcome.note, value)
        case InProgress(until):
            return Told("running", here=False, why=f"at most until {format_instant(until)}")
        case Failed(_, error):
            logging.getLogger("jobs").error("the job failed", exc_info=error)
            return Told("failed", here=True, why=short(error))
        case _:
            return Told("failed", here=False, why="its time was over, and another start has it")


def _print(start: Start, run_id: str, told: Told) -> None:
    if start.as_json:
        members = {"job": start.job, "run_key": run_id, "status": told.status, "here": told.here}
        print(json.dumps({**members, "result": told.result, "reason": told.why}))
        return
    when = "" if told.here else " elsewhere" if told.status == "running" else " before"
    line = f"{start.job} {told.status}{when}"
    if told.why:
        line += f": {told.why}"
    if told.exit_code:
        again = (
            "; start it again"
            if told.status == "failed"
            else "; with another --key it is another run"
        )
        print_error(line + again)
        return
    print(printable(line if told.here else f"{line}; nothing was done"))
    if told.result is not None:
        print(printable(json.dumps(told.result, ensure_ascii=False)))
