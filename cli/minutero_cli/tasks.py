"""`minutero tasks ...`: add tasks and look at them, over the HTTP API."""

import sys
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from minutero.domain.instants import parse_instant
from minutero.domain.new_task import parse_json
from minutero.errors import InvalidInput
from minutero_cli.api_client import Answer, find_api
from minutero_cli.durations import parse_duration

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Add tasks and look at them.",
)
JsonOption = Annotated[bool, typer.Option("--json", help="Print the API's JSON.")]
StackOption = Annotated[
    str | None,
    typer.Option(
        "--stack", help="Name of a deployed stack. Default: MINUTERO_API_URL, else the local stack."
    ),
]


@app.command()
def add(  # noqa: PLR0913  # one an option
    job: Annotated[str, typer.Argument(help="Name of a deployed job.", show_default=False)],
    *,
    at: Annotated[
        str | None, typer.Option(metavar="T", help="When, as 2026-12-01T09:00:00Z. Default: now.")
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            "--in",
            metavar="SPAN",
            parser=parse_duration,
            help="Or how far ahead, as 90s, 10m, 1h30m.",
        ),
    ] = None,
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
    """Add a task, and print it."""
    if at is not None and within is not None:
        raise typer.BadParameter("--at and --in are two ways to say one thing; give one")
    body = {
        "job": job,
        "payload": None if payload is None else read_payload(payload),
        "run_at": None if at is None else _checked_instant(at),
        "delay_seconds": within,
        "key": key,
        "tenant": tenant,
        "max_attempts": max_attempts,
        "expires_after_seconds": None if expires_after is None else round(expires_after),
    }
    # The payload null is said by leaving it out as well.
    _show(
        find_api(stack).post(
            "/tasks", {name: value for name, value in body.items() if value is not None}
        ),
        as_json=as_json,
    )


@app.command()
def get(
    task_id: Annotated[
        str, typer.Argument(metavar="ID", help="The id that `add` printed.", show_default=False)
    ],
    *,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print a task, with what became of it."""
    _show(find_api(stack).get(f"/tasks/{quote(task_id, safe='')}"), as_json=as_json)


def read_payload(text: str) -> Any:
    """Parse JSON text, or what stands in the file named after an `@` (`@-`: the input).

    Raises BadParameter.
    """
    source = "--payload"
    try:
        if text.startswith("@"):
            source = text[1:]
            text = sys.stdin.read() if source == "-" else Path(source).read_text("utf-8")
        return parse_json(text)
    except OSError as error:
        raise typer.BadParameter(f"cannot read {source}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise typer.BadParameter(f"{source} is not UTF-8 text") from None
    except InvalidInput as error:
        why = error.message.removeprefix("the body is not JSON: ")
        raise typer.BadParameter(
            f"{source} is no JSON ({why}); quote it, as '{{\"a\": 1}}'"
        ) from None


def _checked_instant(text: str) -> str:
    try:
        parse_instant(text, "--at")
    except InvalidInput as error:
        raise typer.BadParameter(error.message) from None
    return text


def _show(answer: Answer, *, as_json: bool) -> None:
    if as_json:
        print(answer.text)
        return
    from minutero_cli.task_view import show_task  # noqa: PLC0415  # rich is slow to import

    show_task(answer.body)
