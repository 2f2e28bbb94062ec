"""Options that several commands have."""

from typing import Annotated, Any

import typer

from minutero_cli.times import parse_time


def checked_id(text: Any) -> str:
    """Let through what may be an id: what is none for the API, it says. Raises BadParameter."""
    if str(text) in ("", ".", ".."):  # as a part of a path these lead elsewhere
        raise typer.BadParameter(f"{text!r} is no task's id; minutero tasks list shows them")
    return str(text)


ID_HELP = "A task's id, as `tasks add` prints it."

IdArgument = Annotated[
    str, typer.Argument(metavar="ID", parser=checked_id, help=ID_HELP, show_default=False)
]


def checked_name(text: Any) -> str:
    """Let through what may be a schedule's name: what is none for the API, it says. Raises BadParameter."""
    if str(text) in ("", ".", ".."):  # as a part of a path these lead elsewhere
        raise typer.BadParameter(f"{text!r} is no name; minutero schedules list shows them")
    return str(text)


NameArgument = Annotated[
    str,
    typer.Argument(
        metavar="NAME", parser=checked_name, help="The schedule's name.", show_default=False
    ),
]

JsonOption = Annotated[bool, typer.Option("--json", help="Print the API's JSON.")]

StackOption = Annotated[
    str | None,
    typer.Option(
        "--stack", help="Name of a deployed stack. Default: MINUTERO_API_URL, else the local stack."
    ),
]

JobOption = Annotated[str | None, typer.Option(help="Only tasks of this job.")]


def time_option(name: str, told: str) -> Any:
    """An option that takes a time; its value is in milliseconds. `told` says what it means, left out too."""
    return typer.Option(name, metavar="T", parser=parse_time, help=told, show_default=False)


SinceOption = Annotated[
    int | None,
    time_option("--since", "Only what died at this time or later, as 2026-12-01T09:00:00Z or -2h."),
]

UntilOption = Annotated[
    int | None,
    time_option("--until", "Only what died before this time."),
]
