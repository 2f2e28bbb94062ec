"""`minutero next`: when an expression fires. Reckoned here, no stack is asked."""

import json
from datetime import datetime
from itertools import islice
from typing import Annotated

import typer

from minutero.domain.expression import Rule, first_fire_time, next_in_gap, read_rule
from minutero.domain.instants import SECOND, format_instant
from minutero.domain.timetable import OnGap, OnOverlap
from minutero.domain.wall_clock import format_local, format_wall
from minutero.domain.zones import load_zone
from minutero.errors import InvalidSchedule
from minutero_cli.columns import Columns
from minutero_cli.terminal import print_error
from minutero_cli.times import now, parse_time


def next_times(
    expression: Annotated[
        str,
        typer.Argument(
            metavar="EXPRESSION",
            help="cron(0 9 ? * MON-FRI *), rate(5 minutes) or at(2026-12-01T09:00:00).",
            show_default=False,
        ),
    ],
    *,
    timezone: Annotated[str, typer.Option(metavar="ZONE", help="An IANA time zone.")] = "UTC",
    after: Annotated[
        int | None,
        typer.Option(
            metavar="T",
            parser=parse_time,
            help="Only what comes after this time, as 2026-12-01T09:00:00Z or +2h. Default: now.",
        ),
    ] = None,
    count: Annotated[
        int, typer.Option("-n", "--count", min=1, max=1000, help="At most this many.")
    ] = 5,
    anchor: Annotated[
        int | None,
        typer.Option(
            metavar="T", parser=parse_time, help="What a rate counts from. Default: as --after."
        ),
    ] = None,
    on_gap: Annotated[
        OnGap, typer.Option(help="A time the clock leaves out: skip it, or fire next after it.")
    ] = "skip",
    on_overlap: Annotated[
        OnOverlap, typer.Option(help="A time that comes twice: fire at the first, or at both.")
    ] = "first",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print when an expression fires next, in UTC and by the clock of its zone.

    Elsewhere than at a terminal: tab-separated lines of UTC, local time and day of the week.
    """
    since = now() // SECOND * SECOND if after is None else after
    start = since if anchor is None else anchor
    try:
        rule = read_rule(expression, timezone, start, on_gap, on_overlap)
        first_fire_time(rule, since)
    except InvalidSchedule as error:
        raise typer.BadParameter(error.message) from None
    zone = load_zone(timezone)
    times = [
        {"utc": format_instant(instant), "local": format_local(instant, zone)}
        for instant in islice(rule.fire_times(since), count)
    ]
    if as_json:
        told = {"expression": expression, "timezone": timezone, "fire_times": times}
        print(json.dumps(told))
        return
    rows = [
        (one["utc"], one["local"], f"{datetime.fromisoformat(one['local']):%a}") for one in times
    ]
    Columns(("utc", timezone, "day")).print(rows)
    _tell_of_gap(rule, since, timezone, on_gap)


def _tell_of_gap(rule: Rule, since: int, timezone: str, on_gap: OnGap) -> None:
    """Say on stderr that the clock will leave one of the times out, which few have in mind."""
    if lost := next_in_gap(rule, since):
        fate = "is skipped" if on_gap == "skip" else f"fires at {format_instant(lost.instant)}"
        print_error(f"note: {format_wall(lost.wall)} does not exist in {timezone} and {fate}")
