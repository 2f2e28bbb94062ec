"""`minutero stats`: the numbers of a deployment."""

from typing import Annotated

import typer

from minutero.domain.instants import MINUTE, format_instant
from minutero_cli.api_client import find_api
from minutero_cli.options import JsonOption, StackOption, time_option
from minutero_cli.stats_view import stats_rows, stats_style
from minutero_cli.terminal import print_json, show_facts
from minutero_cli.times import now

AROUND = 5 * MINUTE
"""Before and after now, where nothing else is said."""


def stats(
    *,
    start: Annotated[
        int | None,
        time_option(
            "--from",
            "Count the tasks due from then on, as 2026-12-01T09:00:00Z or -1h. Default: -5m.",
        ),
    ] = None,
    end: Annotated[
        int | None,
        time_option("--to", "And before then, at most 24 h later. Default: +5m."),
    ] = None,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print how far the deployment is, what its queues hold, and how its tasks fare.

    Counts and lateness are of the tasks due between --from and --to, in the ten minutes around
    now if left out.
    """
    query = None
    if start is not None or end is not None:
        first = now() - AROUND if start is None else start
        last = now() + AROUND if end is None else end
        if first >= last:
            raise typer.BadParameter(
                f"--from ({format_instant(first)}) must be before --to ({format_instant(last)})"
            )
        query = {"from": format_instant(first), "to": format_instant(last)}
    answer = find_api(stack).get("/stats", query)
    if as_json:
        print_json(answer)
    else:
        show_facts("stats", stats_rows(answer.body), stats_style)
