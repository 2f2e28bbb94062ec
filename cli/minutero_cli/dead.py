"""`minutero dead ...`: dead letters, the tasks whose attempts are spent."""

import json
from typing import Annotated, Any

import typer

from minutero.domain.instants import format_instant
from minutero_cli.api_client import find_api, path_of
from minutero_cli.dead_letters import Outcome, discard_each, redrive_each, redrive_matching
from minutero_cli.dead_view import letter_columns, letter_row, show_letter
from minutero_cli.listing import pages, print_pages, print_pages_json
from minutero_cli.options import (
    ID_HELP,
    IdArgument,
    JobOption,
    JsonOption,
    SinceOption,
    StackOption,
    UntilOption,
    checked_id,
)
from minutero_cli.terminal import print_error, print_json, printable_json, show_facts

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Look at dead letters, run them again or discard them.",
)


@app.command("list")
def list_dead(
    *,
    job: JobOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the dead letters, the oldest first.

    Elsewhere than at a terminal: tab-separated lines of task, died, job, tenant and reason.
    """
    found = pages(find_api(stack), "dead", [_filter(job, since, until)])
    if as_json:
        print_pages_json(found, "dead")
    else:
        print_pages(found, letter_columns(), letter_row)


@app.command()
def show(dead: IdArgument, *, stack: StackOption = None, as_json: JsonOption = False) -> None:
    """Print a dead task, and why it died."""
    answer = find_api(stack).get(path_of("dead", dead))
    if as_json:
        print_json(answer)
    else:
        show_letter(answer.body)


@app.command()
def redrive(
    dead: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", parser=checked_id, help=ID_HELP, show_default=False),
    ] = None,
    *,
    job: JobOption = None,
    since: SinceOption = None,
    until: UntilOption = None,
    everything: Annotated[bool, typer.Option("--all", help="All there are.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count them.")] = False,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run dead tasks again, each with all its attempts: those named, or all that match."""
    wanted = _filter(job, since, until)
    if dead and (wanted or everything):
        raise typer.BadParameter("give either IDs, or --job, --since, --until or --all")
    if not (dead or wanted or everything):
        raise typer.BadParameter(
            "say which: give IDs, or --job, --since or --until, or --all for every dead task"
        )
    api = find_api(stack)
    if dead:
        outcome = redrive_each(api, dead, dry_run=dry_run)
    else:
        outcome = redrive_matching(api, wanted, dry_run=dry_run)
    if as_json:
        _print_json(
            {
                "matched": outcome.matched,
                "redriven": outcome.done,
                "failed": outcome.failed,
                "dry_run": dry_run,
                "next_token": None,
            }
        )
    else:
        redriven = f"{outcome.done} (a dry run)" if dry_run else str(outcome.done)
        _show_counts("redrive", {"matched": str(outcome.matched), "redriven": redriven}, outcome)
    _end(outcome)


@app.command()
def discard(
    dead: Annotated[
        list[str],
        typer.Argument(metavar="ID", parser=checked_id, help=ID_HELP, show_default=False),
    ],
    *,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take dead tasks off the list. They stay dead, and cannot be redriven any more."""
    outcome = discard_each(find_api(stack), dead)
    if as_json:
        _print_json({"discarded": outcome.done, "failed": outcome.failed})
    else:
        _show_counts("discard", {"discarded": str(outcome.done)}, outcome)
    _end(outcome)


def _filter(job: str | None, since: int | None, until: int | None) -> dict[str, Any]:
    """Say which dead are meant, in the API's words. Raises typer.BadParameter."""
    if since is not None and until is not None and since >= until:
        raise typer.BadParameter(
            f"--since ({format_instant(since)}) must be before --until ({format_instant(until)})"
        )
    times = {"from": since, "to": until}
    given = {name: format_instant(at) for name, at in times.items() if at is not None}
    return given if job is None else {"job": job, **given}


def _print_json(told: dict[str, Any]) -> None:
    print(printable_json(json.dumps(told)))


def _show_counts(title: str, counts: dict[str, str], outcome: Outcome) -> None:
    show_facts(title, {**counts, "failed": str(len(outcome.failed))}.items())


def _end(outcome: Outcome) -> None:
    """Tell of each failure on stderr, and end with 1 when there was one."""
    for one in outcome.failed:
        print_error(f"{one['task_id']}: {one['error']['message']}")
    if outcome.failed:
        raise typer.Exit(1)
