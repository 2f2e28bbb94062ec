"""The command `minutero`: a list of groups, each imported only when it is used."""

import importlib
import sys
from typing import Any

import typer
from typer import TyperException
from typer.core import TyperGroup
from typer.main import get_command

from minutero_cli.errors import CommandError

# name -> (module:object, one line for --help). The object is a Typer app or a function.
COMMANDS = {
    "local": ("minutero_cli.local.commands:app", "Run the whole stack on this machine."),
    "tasks": ("minutero_cli.tasks:app", "Add tasks and look at them."),
}


class LazyGroup(TyperGroup):
    """Finds a command in COMMANDS and imports its module only then: the others cost nothing."""

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


@app.callback()
def _root() -> None:
    """Minutero: a distributed task scheduler on AWS serverless."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command; exit 0 when done, 1 when it failed, 2 when it was asked wrongly."""
    sys.exit(run(sys.argv[1:] if arguments is None else arguments))


def run(arguments: list[str]) -> int:
    """Run the command and return its exit code; an error is one line on stderr."""
    try:
        result = get_command(app).main(args=arguments, prog_name="minutero", standalone_mode=False)
    except CommandError as error:
        return _fail(str(error), 1)
    except TyperException as error:
        return _fail(error.format_message(), error.exit_code)
    except typer.Abort:
        return _fail("stopped", 1)
    except KeyboardInterrupt:
        return 130
    return result if isinstance(result, int) else 0


def _fail(message: str, code: int) -> int:
    if message.startswith("Usage:"):  # a group without a command: its help, as it is
        print(message, file=sys.stderr)
    else:
        print(f"minutero: {' '.join(message.split())}", file=sys.stderr)
    return code
