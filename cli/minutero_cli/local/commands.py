"""`minutero local ...`: the whole stack on this machine."""

import json
from pathlib import Path
from typing import Annotated

import typer

from minutero_cli.local.progress import shown
from minutero_cli.local.stack import LocalStack
from minutero_cli.local.state import State

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
    help="Run the whole stack on this machine: MiniStack, with the same template deployed to it.",
)
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@app.command()
def up(
    *,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Default: 4566, or a free one.")
    ] = None,
    persist: Annotated[
        Path | None, typer.Option(help="Keep the data in this folder over a stop.")
    ] = None,
    auth: Annotated[bool, typer.Option(help="Enforce IAM and SigV4, as AWS does.")] = False,
) -> None:
    """Bring the stack up, or deploy what has changed; return when it serves."""
    state = LocalStack(port=port, auth=auth, persist=persist, step=shown).up()
    print(f"The local stack serves at {state.api_url}")


@app.command()
def status(*, as_json: JsonOption = False) -> None:
    """Say where the stack serves."""
    state = LocalStack().running()
    if as_json:
        print(json.dumps(_told(state)))
        return
    for name, value in _told(state).items():
        print(f"{name:13} {value}")


def _told(state: State) -> dict[str, str | int]:
    return {
        "api_url": state.api_url,
        "endpoint_url": state.endpoint_url,
        "stack": state.stack,
        "pid": state.pid,
    }


@app.command()
def tick() -> None:
    """Run one tick of the dispatcher now, and print its answer."""
    print(json.dumps(LocalStack().tick()))


@app.command()
def logs(
    *, follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until Ctrl-C.")] = False
) -> None:
    """Print what the functions have logged."""
    from minutero_cli.local.logs import lines  # noqa: PLC0415  # boto3 is slow to import

    for line in lines(LocalStack(), follow=follow):
        print(line, flush=True)


@app.command()
def down() -> None:
    """End the stack; without --persist its data are gone."""
    ended = LocalStack().down()
    print("The local stack has ended." if ended else "No local stack was running.")
