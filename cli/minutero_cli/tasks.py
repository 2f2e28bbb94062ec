"""`minutero tasks ...`: add tasks, look at them and change them, over the HTTP API."""

from typing import Annotated, Any

import typer

from minutero.domain.instants import HOUR, format_instant
from minutero.domain.lifecycle import Status
from minutero_cli.api_client import Answer, find_api, path_of
from minutero_cli.durations import parse_duration
from minutero_cli.export_tasks import export_tasks
from minutero_cli.import_tasks import import_tasks
from minutero_cli.listing import days, pages, print_pages, print_pages_json
from minutero_cli.options import (
    ID_HELP,
    IdArgument,
    JobOption,
    JsonOption,
    StackOption,
    checked_id,
    time_option,
)
from minutero_cli.payload import read_payload
from minutero_cli.terminal import print_json
from minutero_cli.times import checked_instant, now

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Add tasks, look at them and change them.",
)
AtOption = Annotated[
    str | None,
    typer.Option(
        "--at", metavar="T", parser=checked_instant, help="When, as 2026-12-01T09:00:00Z."
    ),
]
InOption = Annotated[
    float | None,
    typer.Option(
        "--in", metavar="SPAN", parser=parse_duration, help="Or how far ahead, as 90s, 10m, 1h30m."
    ),
]


@app.command()
def add(  # noqa: PLR0913  # one an option
    job: Annotated[str, typer.Argument(help="Name of a deployed job.", show_default=False)],
    *,
    at: AtOption = None,
    within: InOption = None,
    payload: Annotated[
        str | None,
        typer.Option(
            metavar="JSON|@FILE", help="What the job is called with; @- reads it from the input."
        ),
    ] = None,
    key: Annotated[
        str | None,
        typer.Option(help="Idempotency key: the same key and task again give the same task."),
    ] = None,
    tenant: Annotated[
        str | None, typer.Option(help="A label; tenants share the queue fairly.")
    ] = None,
    max_attempts: Annotated[int | None, typer.Option(min=1, max=20, help="Default: 5.")] = None,
    expires_after: Annotated[
        float | None,
        typer.Option(
            metavar="SPAN",
            parser=parse_duration,
            help="Not started this long after it was due, it expires.",
        ),
    ] = None,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add a task, and print it. Without --at and --in it is due now."""
    body = {
        "job": job,
        "payload": None if payload is None else read_payload(payload),
        **_due(at, within),
        "key": key,
        "tenant": tenant,
        "max_attempts": max_attempts,
        "expires_after_seconds": None if expires_after is None else round(expires_after),
    }
    # The payload null is said by leaving it out as well.
    given = {name: value for name, value in body.items() if value is not None}
    _show(find_api(stack).post("/tasks", given), as_json=as_json)


@app.command()
def get(
    task_id: Annotated[
        str | None,
        typer.Argument(metavar="ID", parser=checked_id, help=ID_HELP, show_default=False),
    ] = None,
    *,
    key: Annotated[str | None, typer.Option(help="The task's key, instead of its id.")] = None,
    tenant: Annotated[str | None, typer.Option(help="The tenant the key belongs to.")] = None,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a task, with what became of it."""
    if (task_id is None) == (key is None):
        raise typer.BadParameter("give a task's ID, or its --key, and not both")
    if tenant is not None and key is None:
        raise typer.BadParameter("--tenant goes with --key; an ID needs none")
    if task_id is not None:
        answer = find_api(stack).get(path_of("tasks", task_id))
    else:
        answer = find_api(stack).get("/tasks", {"key": key, "tenant": tenant})
    _show(answer, as_json=as_json)


@app.command()
def cancel(task_id: IdArgument, *, stack: StackOption = None, as_json: JsonOption = False) -> None:
    """Cancel a task, unless it is running or over."""
    _show(find_api(stack).delete(path_of("tasks", task_id)), as_json=as_json)


@app.command()
def reschedule(
    task_id: IdArgument,
    *,
    at: AtOption = None,
    within: InOption = None,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Move a task to another time, unless it is running or over."""
    due = _due(at, within)
    if not due:
        raise typer.BadParameter("give the new time: --at T or --in SPAN")
    _show(find_api(stack).patch(path_of("tasks", task_id), due), as_json=as_json)


@app.command()
def run(task_id: IdArgument, *, stack: StackOption = None, as_json: JsonOption = False) -> None:
    """Make a task due now."""
    _show(find_api(stack).post(path_of("tasks", task_id, "run")), as_json=as_json)


@app.command()
def redrive(task_id: IdArgument, *, stack: StackOption = None, as_json: JsonOption = False) -> None:
    """Run a dead task again, with all its attempts."""
    _show(find_api(stack).post(path_of("tasks", task_id, "redrive")), as_json=as_json)


@app.command("list")
def list_tasks(
    *,
    start: Annotated[
        int | None,
        time_option(
            "--from", "Due at this time or later, as 2026-12-01T09:00:00Z or -2h. Default: -1h."
        ),
    ] = None,
    end: Annotated[
        int | None,
        time_option("--to", "Due before this time. Default: +1h."),
    ] = None,
    status: Annotated[Status | None, typer.Option(help="Only tasks of this status.")] = None,
    job: JobOption = None,
    limit: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="At most this many. Default: all.")
    ] = None,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the tasks due in a range of time, in due order.

    Elsewhere than at a terminal: tab-separated lines of task, status, due, job, lateness,
    attempts, tenant and key.
    """
    start = now() - HOUR if start is None else start
    end = now() + HOUR if end is None else end
    if start >= end:
        raise typer.BadParameter(
            f"--from ({format_instant(start)}) must be before --to ({format_instant(end)})"
        )
    wanted = {"status": status, "job": job}
    queries = ({**wanted, "from": first, "to": last} for first, last in days(start, end))
    found = pages(find_api(stack), "tasks", queries, limit)
    if as_json:
        print_pages_json(found, "tasks")
        return
    from minutero_cli.task_table import task_columns, task_row  # noqa: PLC0415  # --json needs none

    print_pages(found, task_columns(), task_row)


app.command("import")(import_tasks)
app.command("export")(export_tasks)


def _due(at: str | None, within: float | None) -> dict[str, Any]:
    """Say when in the API's words; nothing when nothing is said. Raises typer.BadParameter."""
    if at is not None and within is not None:
        raise typer.BadParameter("--at and --in are two ways to say one thing; give one")
    said = {"run_at": at, "delay_seconds": within}
    return {name: value for name, value in said.items() if value is not None}


def _show(answer: Answer, *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
        return
    from minutero_cli.task_view import show_task  # noqa: PLC0415  # --json needs none

    show_task(answer.body)
