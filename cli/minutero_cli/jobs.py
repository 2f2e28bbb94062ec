"""`minutero jobs ...`: the jobs that are deployed, and those in a folder of this machine."""

from pathlib import Path
from typing import Annotated

import typer

from minutero_cli.api_client import find_api
from minutero_cli.options import JsonOption, StackOption
from minutero_cli.payload import read_payload
from minutero_cli.terminal import print_json, printable
from minutero_cli.times import parse_time

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, add_completion=False)

FolderOption = Annotated[
    Path | None,
    typer.Option(
        "--jobs",
        metavar="FOLDER",
        help="Where the jobs are. Default: functions/worker/jobs, else jobs.",
    ),
]


@app.callback()
def _group() -> None:
    """Look at the deployed jobs; write one; run one here."""


@app.command("list")
def list_jobs(*, stack: StackOption = None, as_json: JsonOption = False) -> None:
    """List the names of the deployed jobs."""
    answer = find_api(stack).get("/jobs")
    if as_json:
        print_json(answer)
        return
    for name in answer.body.get("jobs", ()):
        print(printable(str(name)))


@app.command("new")
def new_job(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The job's name.")],
    *,
    jobs: FolderOption = None,
) -> None:
    """Write a job and its test, and say what to do next."""
    from minutero_cli.new_job import write_job  # noqa: PLC0415  # each command imports its own

    print(write_job(name, jobs))


@app.command("run")
def run_job(
    job: Annotated[str, typer.Argument(metavar="JOB", help="The job's name.")],
    *,
    payload: Annotated[
        str, typer.Option(metavar="JSON", help="JSON, or @file (@-: the input).")
    ] = "null",
    now: Annotated[
        int | None,
        typer.Option(
            metavar="T",
            parser=parse_time,
            help="The time the run believes in. With the same job, payload and time it is the same run.",
        ),
    ] = None,
    key: Annotated[
        str, typer.Option(metavar="K", help="With the same job and key it is the same run.")
    ] = "",
    timeout: Annotated[
        int,
        typer.Option(
            min=1,
            max=86_400,
            metavar="SECONDS",
            help="After so long the process ends; a run that was killed may then be started again.",
        ),
    ] = 900,
    jobs: FolderOption = None,
    stack: Annotated[
        str | None,
        typer.Option(
            "--stack",
            help="Name of a deployed stack. Default: MINUTERO_RUNS_TABLE, else the local stack.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Run one job, once, here: as the worker does, without a queue.

    Exit code 0: it is done, was done before, or runs elsewhere. 1: it failed, and may be started again.
    """
    from minutero_cli.run_job import Start, run_here  # noqa: PLC0415  # the stores are slow to import

    start = Start(job, read_payload(payload), now, key, timeout, as_json=as_json)
    return run_here(start, jobs, stack)
