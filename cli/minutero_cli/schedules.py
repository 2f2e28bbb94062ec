"""`minutero schedules ...`: make schedules, look at them and change them, over the HTTP API."""

from typing import Annotated, Any

import typer

from minutero.domain.instants import format_instant
from minutero.domain.occurrence import Overlap
from minutero.domain.schedule import MOST_CATCH_UP, MisfirePolicy
from minutero.domain.timetable import OnGap, OnOverlap
from minutero_cli.api_client import Answer, find_api, path_of
from minutero_cli.durations import parse_duration
from minutero_cli.listing import pages, print_pages, print_pages_json
from minutero_cli.options import JsonOption, NameArgument, StackOption, time_option
from minutero_cli.payload import read_payload
from minutero_cli.terminal import print_error, print_json
from minutero_cli.times import checked_instant

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Make schedules, look at them and change them.",
)


@app.command()
def put(  # noqa: PLR0913  # one an option
    name: NameArgument,
    job: Annotated[str, typer.Argument(help="Name of a deployed job.", show_default=False)],
    expression: Annotated[
        str,
        typer.Argument(
            metavar="EXPRESSION",
            help="cron(0 9 ? * MON-FRI *), rate(5 minutes) or at(2026-12-01T09:00:00).",
            show_default=False,
        ),
    ],
    *,
    timezone: Annotated[
        str | None, typer.Option(metavar="ZONE", help="An IANA time zone. Default: UTC.")
    ] = None,
    payload: Annotated[
        str | None,
        typer.Option(
            metavar="JSON|@FILE", help="What the job is called with; @- reads it from the input."
        ),
    ] = None,
    start_at: Annotated[
        str | None,
        typer.Option(
            metavar="T", parser=checked_instant, help="No time before this; a rate counts from it."
        ),
    ] = None,
    end_at: Annotated[
        str | None, typer.Option(metavar="T", parser=checked_instant, help="No time after this.")
    ] = None,
    jitter: Annotated[
        float | None,
        typer.Option(
            metavar="SPAN", parser=parse_duration, help="Put each run off by up to this, as 5m."
        ),
    ] = None,
    on_gap: Annotated[
        OnGap | None, typer.Option(help="A time the clock leaves out. Default: skip.")
    ] = None,
    on_overlap: Annotated[
        OnOverlap | None, typer.Option(help="A time that comes twice. Default: first.")
    ] = None,
    misfire: Annotated[
        MisfirePolicy | None,
        typer.Option(help="Which of the times that are found late still run. Default: once."),
    ] = None,
    grace: Annotated[
        float | None,
        typer.Option(
            metavar="SPAN", parser=parse_duration, help="What is not yet late. Default: 5m."
        ),
    ] = None,
    max_catch_up: Annotated[
        int | None,
        typer.Option(min=1, max=MOST_CATCH_UP, help="Make up for at most so many. Default: 100."),
    ] = None,
    overlap: Annotated[
        Overlap | None,
        typer.Option(help="What becomes of a run while another goes on. Default: allow."),
    ] = None,
    enabled: Annotated[
        bool | None,
        typer.Option(
            "--enabled/--disabled", help="Default: a new one is enabled, another stays as it is."
        ),
    ] = None,
    max_attempts: Annotated[int | None, typer.Option(min=1, max=20, help="Default: 5.")] = None,
    tenant: Annotated[
        str | None, typer.Option(help="A label; tenants share the queue fairly.")
    ] = None,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make a schedule, or make it this one, and print it. What is not given has its default."""
    late = {"policy": misfire, "grace_seconds": _seconds(grace), "max_catch_up": max_catch_up}
    body = {
        "job": job,
        "expression": expression,
        "timezone": timezone,
        "payload": None if payload is None else read_payload(payload),
        "start_at": start_at,
        "end_at": end_at,
        "jitter_seconds": _seconds(jitter),
        "on_gap": on_gap,
        "on_overlap": on_overlap,
        "misfire": _given(late) or None,
        "overlap": overlap,
        "enabled": enabled,
        "max_attempts": max_attempts,
        "tenant": tenant,
    }
    answer = find_api(stack).put(path_of("schedules", name), _given(body))
    _show(answer, as_json=as_json)
    for warning in answer.body.get("warnings", ()):
        print_error(f"note: {warning}")


@app.command("list")
def list_schedules(*, stack: StackOption = None, as_json: JsonOption = False) -> None:
    """List all schedules.

    Elsewhere than at a terminal: tab-separated lines of schedule, state, next, last, job,
    expression, timezone and tenant.
    """
    found = pages(find_api(stack), "schedules", [{}])
    if as_json:
        print_pages_json(found, "schedules")
        return
    from minutero_cli.schedule_view import columns, row  # noqa: PLC0415  # --json needs none

    print_pages(found, columns(), row)


@app.command()
def get(name: NameArgument, *, stack: StackOption = None, as_json: JsonOption = False) -> None:
    """Print a schedule, with its next and its last time."""
    _show(find_api(stack).get(path_of("schedules", name)), as_json=as_json)


@app.command()
def delete(name: NameArgument, *, stack: StackOption = None, as_json: JsonOption = False) -> None:
    """End a schedule, and print how it was last. A run that has begun goes on."""
    _show(find_api(stack).delete(path_of("schedules", name)), as_json=as_json)


@app.command()
def pause(
    name: NameArgument,
    *,
    reason: Annotated[str | None, typer.Option(help="Why, for whoever looks at it.")] = None,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Pause a schedule: nothing of it that has not begun runs."""
    body = _given({"reason": reason})
    _show(find_api(stack).post(path_of("schedules", name, "pause"), body), as_json=as_json)


@app.command()
def resume(
    name: NameArgument,
    *,
    backfill: Annotated[
        bool, typer.Option("--backfill", help="Make up for the latest times of the pause.")
    ] = False,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Resume a schedule from now on."""
    body = {"from": "backfill" if backfill else "now"}
    _show(find_api(stack).post(path_of("schedules", name, "resume"), body), as_json=as_json)


@app.command()
def run(name: NameArgument, *, stack: StackOption = None, as_json: JsonOption = False) -> None:
    """Run a schedule's job now, and print the task. Its times stay as they are."""
    answer = find_api(stack).post(path_of("schedules", name, "run"))
    if as_json:
        print_json(answer)
        return
    from minutero_cli.task_view import show_task  # noqa: PLC0415  # --json needs none

    show_task(answer.body)


@app.command("next")
def next_times(
    name: NameArgument,
    *,
    count: Annotated[
        int, typer.Option("-n", "--count", min=1, max=500, help="At most this many.")
    ] = 5,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the next times of a schedule, in UTC and by the clock of its zone.

    While it is paused, those of its rule. Elsewhere than at a terminal: tab-separated lines of
    UTC, local time, day of the week and, with its jitter, when it is due.
    """
    answer = find_api(stack).get(path_of("schedules", name, "next"), {"n": count})
    if as_json:
        print_json(answer)
        return
    from minutero_cli.schedule_view import print_times  # noqa: PLC0415  # --json needs none

    print_times(answer.body)


@app.command()
def explain(
    name: NameArgument,
    *,
    start: Annotated[
        int | None,
        time_option(
            "--from", "This time and later, as 2026-12-01T09:00:00Z or -2h. Default: -24h."
        ),
    ] = None,
    end: Annotated[
        int | None,
        time_option("--to", "Before this. Default: +1h."),
    ] = None,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the times of a schedule and what became of each.

    Elsewhere than at a terminal: tab-separated lines of time, what became of it, lateness, task
    and why.
    """
    if start is not None and end is not None and start >= end:
        raise typer.BadParameter(
            f"--from ({format_instant(start)}) must be before --to ({format_instant(end)})"
        )
    times = {"from": start, "to": end}
    asked = {name: None if at is None else format_instant(at) for name, at in times.items()}
    answer = find_api(stack).get(path_of("schedules", name, "explain"), asked)
    if as_json:
        print_json(answer)
        return
    from minutero_cli.schedule_view import print_explained  # noqa: PLC0415  # --json needs none

    print_explained(answer.body)


def _given(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def _seconds(span: float | None) -> int | None:
    return None if span is None else round(span)


def _show(answer: Answer, *, as_json: bool) -> None:
    if as_json:
        print_json(answer)
        return
    from minutero_cli.schedule_view import show_schedule  # noqa: PLC0415  # --json needs none

    show_schedule(answer.body)
