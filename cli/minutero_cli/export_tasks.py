"""`minutero tasks export`: write the tasks of a range of time, a line each."""

from pathlib import Path
from typing import Annotated

import typer

from minutero.domain.instants import format_instant
from minutero.domain.lifecycle import Status
from minutero_cli.api_client import find_api
from minutero_cli.listing import days
from minutero_cli.options import JobOption, StackOption, time_option
from minutero_cli.terminal import print_error
from minutero_cli.transfer.output import written
from minutero_cli.transfer.patience import Patience, PatientApi
from minutero_cli.transfer.run_export import Export


def export_tasks(
    *,
    start: Annotated[
        int,
        time_option("--from", "Due at this time or later, as 2026-12-01T09:00:00Z or -2h."),
    ],
    end: Annotated[
        int,
        time_option("--to", "Due before this time."),
    ],
    status: Annotated[Status | None, typer.Option(help="Only tasks of this status.")] = None,
    job: JobOption = None,
    full: Annotated[
        bool,
        typer.Option("--full", help="All there is to tell of each; import takes no such lines."),
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--output",
            metavar="FILE",
            help="Written whole or not at all. Default: the output.",
        ),
    ] = None,
    stack: StackOption = None,
) -> None:
    """Write the tasks due in a range of time as JSON Lines, in due order.

    The lines are those `tasks import` takes. A task without a key gets its id for one, so that what two
    exports have in common is imported once. Tasks that a schedule made are left out: the schedule makes
    them again. A task that is over, imported again, runs again: --status scheduled leaves it out.
    """
    if start >= end:
        raise typer.BadParameter(
            f"--from ({format_instant(start)}) must be before --to ({format_instant(end)})"
        )
    wanted = {"status": status, "job": job}
    queries = ({**wanted, "from": first, "to": last} for first, last in days(start, end))
    export = Export(PatientApi(find_api(stack), Patience()), start, end, full=full)
    with written(output) as file:
        export(queries, file)
    if export.left_out:
        print_error(
            f"tasks of schedules that are left out: {export.left_out}; --full has them, too"
        )
