"""The demo of `make run`: a few tasks, followed live from their creation to their end."""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from minutero_cli.api_client import Api, ApiError, find_api
from minutero_cli.errors import CommandError
from minutero_cli.task_view import clock_time, lateness, moments

TASKS = (
    ("now", 0, "near: the API has sent it to the queue itself"),
    ("in 5 s", 5, "near: the queue holds it to its second"),
    ("in 200 s", 200, "beyond the look-ahead: a tick claims and sends it"),
)
OVER = ("succeeded", "skipped", "expired", "dead", "cancelled")
POLL_SECONDS = 0.5
SOON_SECONDS = 10
SLOW_POLLS = 4
GO_ON = """\
The stack goes on running. To go on yourself:
  {command} tasks add echo --in 30s --payload '{{"hello": "world"}}'
  {command} local logs -f
  {command} local down        (ends the stack)"""


@dataclass(slots=True)
class Followed:
    """One task of the demo, as last seen."""

    name: str
    why: str
    task: dict[str, Any]
    told: list[str] = field(default_factory=list)

    @property
    def is_over(self) -> bool:
        """Tell whether nothing more will happen to it."""
        return self.task["status"] in OVER

    def seconds_to_go(self) -> float:
        """Give the seconds until it is due; negative when it was due."""
        due = datetime.fromisoformat(self.task["run_at"])
        return (due - datetime.now(UTC)).total_seconds()

    def news(self) -> Iterator[tuple[str, str]]:
        """Yield what has happened since the last call, and when."""
        for name, at in moments(self.task):
            if name not in self.told:
                self.told.append(name)
                yield name, at


def add_tasks(api: Api) -> list[Followed]:
    """Add the demo's tasks, all of the job `echo`."""
    return [
        Followed(
            name,
            why,
            api.post(
                "/tasks", {"job": "echo", "payload": {"demo": name}, "delay_seconds": delay}
            ).body,
        )
        for name, delay, why in TASKS
    ]


def look_again(api: Api, followed: list[Followed], turn: int) -> None:
    """Read anew what may have changed; what is far off only now and then."""
    for one in followed:
        if one.is_over or (one.seconds_to_go() > SOON_SECONDS and turn % SLOW_POLLS):
            continue
        try:
            one.task = api.get(f"/tasks/{one.task['task_id']}").body
        except ApiError as error:
            # The stack may be deploying or busy; one that has gone does not come back.
            if not error.status:
                raise


def main() -> int:
    """Add the demo's tasks and follow them; return the exit code."""
    at_terminal = sys.stdout.isatty()
    until_done = "--once" in sys.argv[1:] or bool(
        not at_terminal and os.environ.get("MINUTERO_DEMO_UNTIL_DONE")
    )
    try:
        api = find_api()
        followed = add_tasks(api)
        follow = _follow_live if at_terminal else _follow_lines
        follow(api, followed, until_done=until_done)
    except KeyboardInterrupt:
        pass
    except CommandError as error:
        print(f"minutero: {error}", file=sys.stderr)
        return 1
    print(GO_ON.format(command=_command()))
    return 0


def _command() -> str:
    """Name the command as it can be typed here, wherever `make run` was called from."""
    if shutil.which("minutero"):
        return "minutero"
    return os.path.relpath(Path(sys.executable).with_name("minutero"))


def _turns(api: Api, followed: list[Followed], *, until_done: bool) -> Iterator[None]:
    """Yield after every look at the tasks, for ever or until all are over."""
    turn = 0
    while not (until_done and all(one.is_over for one in followed)):
        look_again(api, followed, turn)
        yield
        turn += 1
        time.sleep(POLL_SECONDS)


def _follow_lines(api: Api, followed: list[Followed], *, until_done: bool) -> None:
    """Print a line whenever something has happened."""
    for one in followed:
        print(
            f"{one.name:9} {one.task['task_id']}  due {clock_time(one.task['run_at'])}  {one.why}"
        )
    told_all = False
    for _ in _turns(api, followed, until_done=until_done):
        for one in followed:
            for what, at in one.news():
                late = f"  {lateness(one.task['lateness_ms'])}" if what == "started" else ""
                print(f"{clock_time(at)}  {one.name:9} {what}{late}", flush=True)
        if not told_all and all(one.is_over for one in followed):
            told_all = True
            print("All tasks are done; Ctrl-C ends this view.", flush=True)


def _follow_live(api: Api, followed: list[Followed], *, until_done: bool) -> None:
    """Show a table that changes in place."""
    from minutero_cli.demo_table import table  # noqa: PLC0415  # only a terminal pays for rich
    from minutero_cli.live_view import show_live  # noqa: PLC0415

    show_live(table(followed) for _ in _turns(api, followed, until_done=until_done))


if __name__ == "__main__":
    sys.exit(main())
