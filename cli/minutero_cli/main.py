"""The command `minutero`: a list of groups, each imported only when it is used."""

import importlib
import io
import os
import re
import sys
from typing import Annotated, Any

import typer
from typer import TyperException
from typer.core import TyperGroup
from typer.main import get_command

from minutero_cli.errors import CommandError
from minutero_cli.terminal import print_error

CLOSED_PIPE, INTERRUPTED = 141, 130
"""The exit codes of a command that SIGPIPE or SIGINT ended, as shells give them."""

SURROGATE = re.compile("[\ud800-\udfff]")
"""What Python makes of bytes that are no UTF-8."""

# name -> (module:object, one line for --help). The object is a Typer app or a function.
COMMANDS = {
    "local": ("minutero_cli.local.commands:app", "Run the whole stack on this machine."),
    "tasks": ("minutero_cli.tasks:app", "Add tasks, look at them and change them."),
    "schedules": (
        "minutero_cli.schedules:app",
        "Make schedules, look at them and change them.",
    ),
    "dead": ("minutero_cli.dead:app", "Look at dead letters, run them again or discard them."),
    "jobs": ("minutero_cli.jobs:app", "Look at the deployed jobs, write one, run one here."),
    "stats": ("minutero_cli.stats:stats", "Print the numbers of a deployment."),
    "watch": ("minutero_cli.watch:watch", "Watch a deployment, live."),
    "doctor": ("minutero_cli.doctor.command:doctor", "Check a deployment, and say what to do."),
    "next": (
        "minutero_cli.next:next_times",
        "Print when an expression fires next; needs no stack.",
    ),
}


class LazyGroup(TyperGroup):
    """Finds a command in COMMANDS and imports its module only then: the others cost nothing."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        names: dict[str, Any] = dict.fromkeys(COMMANDS)
        self.commands = names  # a typing error is compared with them

    def list_commands(self, _ctx: Any) -> list[str]:
        """Name every command, in the order of COMMANDS."""
        return list(COMMANDS)

    def get_command(self, _ctx: Any, cmd_name: str) -> Any:
        """Import the command of this name, or answer None."""
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        found = getattr(importlib.import_module(module), attribute)
        if not isinstance(found, typer.Typer):
            single = typer.Typer(add_completion=False, rich_markup_mode=None)
            single.command(cmd_name)(found)
            found = single
        command = get_command(found)
        command.name = cmd_name
        return command

    def format_commands(self, _ctx: Any, formatter: Any) -> None:
        """List the commands for --help without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


app = typer.Typer(cls=LazyGroup, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


def _print_version(asked: bool) -> None:  # noqa: FBT001  # so typer calls it
    if asked:
        from importlib.metadata import version  # noqa: PLC0415  # no other call needs it

        print(f"minutero {version('minutero')}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=_print_version, help="Print the version, and end."
        ),
    ] = False,
) -> None:
    """Minutero: a distributed task scheduler on AWS serverless."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command; exit 0 when done, 1 when it failed, 2 when it was asked wrongly."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What users have written may not be in this terminal's encoding.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = run(sys.argv[1:] if arguments is None else arguments)
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # typer makes an exit of a closed pipe
        # The interpreter flushes once more when it ends, and would complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        code = CLOSED_PIPE
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the command and return its exit code; an error is one line on stderr."""
    if any(SURROGATE.search(argument) for argument in arguments):
        return _fail("an argument is not UTF-8 text; check the terminal's encoding", 2)
    try:
        result = get_command(app).main(args=arguments, prog_name="minutero", standalone_mode=False)
    except CommandError as error:
        return _fail(str(error), 1)
    except TyperException as error:
        return _fail(_usage(error), error.exit_code)
    except typer.Abort:
        return _fail("stopped", 1)
    except KeyboardInterrupt:
        return INTERRUPTED
    return result if isinstance(result, int) else 0


def _usage(error: TyperException) -> str:
    """Tell what is wrong, and where the right usage stands."""
    message = error.format_message().removeprefix("Invalid value: ").rstrip(".")
    message = message.replace(": Value error, ", ": ")  # pydantic's word for a wrong choice
    context = getattr(error, "ctx", None)
    if context is None or message.startswith("Usage:"):
        return message
    return f"{message}; see {context.command_path} --help"


def _fail(message: str, code: int) -> int:
    if message.startswith("Usage:"):  # a group without a command: its help, as it is
        print(message, file=sys.stderr)
    else:
        print_error(message)
    return code
