"""`minutero doctor`: looks at a deployment, and says what to do."""

import json
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from itertools import groupby
from typing import Annotated

import typer

from minutero_cli.doctor.finding import Finding, State
from minutero_cli.terminal import at_terminal, printable

COLOURS = {
    State.OK: "green",
    State.WARNING: "yellow",
    State.FAILED: "bold red",
    State.NOT_CHECKED: "dim",
}


def doctor(
    *,
    stack: Annotated[
        str | None,
        typer.Option("--stack", help="Name of a deployed stack. Default: the local stack."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> int:
    """Check a deployment: its settings, limits, alarms and clocks, and what waits. Changes nothing.

    Exit code 1 when a check has failed; a warning, or a check that a permission is missing for, is none.
    """
    from minutero_cli.doctor.examine import examine  # noqa: PLC0415  # botocore is slow to import
    from minutero_cli.doctor.find import find_deployment  # noqa: PLC0415

    deployment = find_deployment(stack, os.environ)
    found = [(one.check, finding) for one in examine(deployment) for finding in one.findings]
    counts = Counter(finding.state for _, finding in found)
    if as_json:
        print(json.dumps(_told(deployment.stack, found, counts), indent=1))
    else:
        for line, style in _lines(found):
            _print(line, style)
        _print(", ".join(f"{counts[state]} {state}" for state in State), "bold")
    return 1 if counts[State.FAILED] else 0


def _told(
    stack: str, found: Sequence[tuple[str, Finding]], counts: Counter[State]
) -> dict[str, object]:
    return {
        "stack": stack,
        "counts": {str(state).replace(" ", "_"): counts[state] for state in State},
        "findings": [{"check": check, **asdict(finding)} for check, finding in found],
    }


def _lines(found: Sequence[tuple[str, Finding]]) -> Iterator[tuple[str, str]]:
    """Each finding, and below it what to do, with its colour. What is alike is told once."""
    width = max(len(check) for check, _ in found)
    for (check, alike), same in groupby(found, key=lambda one: (one[0], replace(one[1], what=""))):
        about = ", ".join(finding.what for _, finding in same if finding.what)
        told = f"{about}: {alike.found}" if about else alike.found
        style = COLOURS[alike.state]
        yield f"{alike.state:12} {check:{width}}  {told}", style
        if alike.advice:
            yield f"{'':12} {'':{width}}  -> {alike.advice}", style


def _print(line: str, style: str) -> None:
    if not at_terminal():
        print(printable(line))
        return
    from rich.console import Console  # noqa: PLC0415  # only a terminal pays for it
    from rich.text import Text  # noqa: PLC0415

    Console().print(Text(printable(line), style))
