"""`minutero tasks import`: add the tasks of a file."""

import json
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import Annotated

import typer

from minutero_cli.api_client import find_api
from minutero_cli.errors import CommandError
from minutero_cli.options import StackOption
from minutero_cli.terminal import print_error, printable_json, show_facts
from minutero_cli.transfer.batches import Batch, Result, batches, read_entry
from minutero_cli.transfer.patience import Patience, PatientApi
from minutero_cli.transfer.progress import shown
from minutero_cli.transfer.refused import refused_file
from minutero_cli.transfer.run_import import Counts, Import
from minutero_cli.transfer.send import Send
from minutero_cli.transfer.source import opened

INTERRUPTED = 130
AGAIN = "import the same again to go on: what is there already stays as it is"


def import_tasks(
    file: Annotated[
        str,
        typer.Argument(metavar="FILE", help="JSON Lines; - reads the input.", show_default=False),
    ],
    *,
    job: Annotated[str | None, typer.Option(help="The job of lines that name none.")] = None,
    refused: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH",
            help="Where refused lines go, each with number and reason. Default: FILE.refused.jsonl.",
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only check the lines, here; needs no stack.")
    ] = False,
    at_once: Annotated[
        int, typer.Option(min=1, max=32, metavar="N", help="How many requests at a time.")
    ] = 2,
    stack: StackOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the counts as JSON.")] = False,
) -> None:
    """Add the tasks of a file, a line each, as POST /tasks takes them.

    A line without a key gets one, made of the file's content and the line's number: the same file may
    be imported again, whatever broke it off, and makes no task twice.
    """
    path = refused or Path("stdin.refused.jsonl" if file == "-" else f"{file}.refused.jsonl")
    if path.exists() and file != "-" and Path(file).exists() and path.samefile(file):
        raise typer.BadParameter("--refused names the very file that is imported; name another")
    stopped, why = Event(), None
    send = _checking() if dry_run else Send(PatientApi(find_api(stack), Patience(stopped)))
    with (
        opened(file) as source,
        refused_file(path) as lines,
        shown("import", source.size) as progress,
    ):
        run = Import(send, at_once, stopped, lines, progress)
        try:
            run(batches(read_entry(line, source.digest, job) for line in source.lines()))
            progress(source.size, run.counts.lines)
        except (CommandError, KeyboardInterrupt) as error:
            why = error
        has_changed = source.has_changed()
    _show(run.counts, path, as_json=as_json, complete=why is None, dry_run=dry_run)
    _end(why, run.counts, path, has_changed=has_changed)


def _checking() -> Callable[[Batch], list[Result]]:
    from minutero_cli.transfer.check import check  # noqa: PLC0415  # pydantic is slow to import

    return check


def _show(counts: Counts, path: Path, *, as_json: bool, complete: bool, dry_run: bool) -> None:
    """Print how many lines fared how, on stdout."""
    made = {"valid" if dry_run else "created": counts.created}
    told = made if dry_run else {**made, "already_there": counts.already_there}
    told["refused"] = counts.refused
    if as_json:
        where = str(path) if counts.refused else None
        print(printable_json(json.dumps({**told, "refused_file": where, "complete": complete})))
    else:
        show_facts("import", ((name.replace("_", " "), f"{n}") for name, n in told.items()))


def _end(why: BaseException | None, counts: Counts, path: Path, *, has_changed: bool) -> None:
    """Tell what there is to do, on stderr, and end with 1 or as Ctrl-C ends when there is anything."""
    if counts.refused:
        print_error(
            f"refused lines: {counts.refused}; {path} has them, with the reasons: "
            "correct them in a file of their own, and import that"
        )
    if has_changed:
        print_error(
            "the file was changed while it was read: lines without a key are new tasks for another "
            "import of it"
        )
    if why is not None:
        print_error(f"{str(why) or 'stopped'}; {AGAIN}")
        raise typer.Exit(INTERRUPTED if isinstance(why, KeyboardInterrupt) else 1)
    if counts.refused or has_changed:
        raise typer.Exit(1)
