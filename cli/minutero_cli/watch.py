"""`minutero watch`: a deployment, live."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

import typer

from minutero.domain.instants import HOUR, MINUTE, format_instant
from minutero_cli.api_client import Api, ApiError, find_api
from minutero_cli.durations import parse_duration
from minutero_cli.errors import CommandError
from minutero_cli.options import JsonOption, StackOption
from minutero_cli.terminal import printable_json
from minutero_cli.times import now

PAUSE = 2.0
"""Seconds between two looks, if left out."""

LEAST_PAUSE = 0.5
"""A look costs the deployment some 100 reads."""

BEHIND, AHEAD = 5, 5
"""Minutes that are shown before and after this one."""

LETTERS = 100
"""Dead letters that are read; what there is beyond is only said."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a deployment told last. `error` is why it does not tell any more, or nothing."""

    name: str
    stats: dict[str, Any] = field(default_factory=dict)
    dead: dict[str, Any] = field(default_factory=dict)
    error: str = ""


def watch(
    *,
    interval: Annotated[
        float | None,
        typer.Option(metavar="SPAN", parser=parse_duration, help="Between two looks. Default: 2s."),
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="Look once, and end.")] = False,
    stack: StackOption = None,
    as_json: JsonOption = False,
) -> None:
    """Watch a deployment: its minutes ahead and behind, its queues, what runs, what died.

    Ctrl-C ends it. Elsewhere than at a terminal, and with --json, it looks once. A deployment that
    does not answer is asked again.
    """
    pause = PAUSE if interval is None else interval
    if pause < LEAST_PAUSE:
        raise typer.BadParameter(f"--interval must be at least {LEAST_PAUSE} s")
    try:
        api = find_api(stack)
        if as_json:
            _print_json(look(api))
        else:
            _show(api, stack, pause, once=once)
    except KeyboardInterrupt:
        return


def look(api: Api) -> Look:
    """Ask a deployment, by two requests. Raises ApiError."""
    minute = now() // MINUTE * MINUTE
    around = {
        "from": format_instant(minute - BEHIND * MINUTE),
        "to": format_instant(minute + (AHEAD + 1) * MINUTE),
    }
    stats = api.get("/stats", around).body
    if "now" not in stats or "backlog" not in stats:
        raise ApiError(
            "GET /stats is not answered as Minutero does; see whether the address is right"
        )
    lately = {"from": format_instant(now() - HOUR), "limit": LETTERS}
    return Look(api.name, stats, api.get("/dead", lately).body)


def looks(api: Api, stack: str | None, pause: float) -> Iterator[Look]:
    """Look again and again. One that fails keeps what was seen last; the next one may find the deployment
    elsewhere, as a local stack that has been started anew."""
    last = Look(api.name)
    while True:
        try:
            api = find_api(stack) if last.error else api
            last = look(api)
        except CommandError as error:
            last = replace(last, error=str(error))
        yield last
        time.sleep(pause)


def _show(api: Api, stack: str | None, pause: float, *, once: bool) -> None:
    from rich.console import Console  # noqa: PLC0415  # --json needs none

    from minutero_cli.live_view import is_lively, show_live  # noqa: PLC0415
    from minutero_cli.watch_picture import picture  # noqa: PLC0415

    console = Console()
    if once or not is_lively(console):
        console.print(picture(look(api), console))
        return
    show_live((picture(one, console, pause) for one in looks(api, stack, pause)), console)


def _print_json(seen: Look) -> None:
    print(printable_json(json.dumps({"stats": seen.stats, "dead": seen.dead})))
