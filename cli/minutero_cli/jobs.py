"""`minutero jobs ...`: the jobs that are deployed."""

import typer

from minutero_cli.api_client import find_api
from minutero_cli.options import JsonOption, StackOption
from minutero_cli.terminal import print_json, printable

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def _group() -> None:
    """Look at the deployed jobs."""


@app.command("list")
def list_jobs(*, stack: StackOption = None, as_json: JsonOption = False) -> None:
    """List the names of the deployed jobs."""
    answer = find_api(stack).get("/jobs")
    if as_json:
        print_json(answer)
        return
    for name in answer.body.get("jobs", ()):
        print(printable(str(name)))
