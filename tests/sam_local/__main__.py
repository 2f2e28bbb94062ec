"""`python -m tests.sam_local`: each function called under `sam local` with its events, then a task posted to
the API there, which runs on the local stack."""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from minutero_cli.errors import CommandError
from minutero_cli.local import LocalStack
from tests.sam_local import events
from tests.sam_local.engine import EngineError
from tests.sam_local.functions import FunctionError
from tests.sam_local.stage import add_and_follow, functions, prepare, told_by_all

WIDTH = 150
say = partial(print, flush=True)


def main() -> int:
    """Exit code 0 when everything was shown; what was started is ended in any case."""
    parser = argparse.ArgumentParser(prog="python -m tests.sam_local")
    parser.add_argument("--prepare", action="store_true", help="only make what is kept for later")
    if parser.parse_args().prepare:
        prepare(step)
        return 0
    local = LocalStack()
    ran_before = local.status() is not None
    try:
        with functions(local, step) as run:
            say(f"\nThe functions run in {run.where}.\n")
            with step("Calling each function"):
                told = told_by_all(run)
            for name, function in events.FUNCTIONS.items():
                say(f"{function} with events/{name}.json\n  {shortened(told[name].answer)}")
            task = add_and_follow(run)
            say(f"The API with POST /tasks, and GET until it has run\n  {shortened(task)}")
    except (CommandError, EngineError, FunctionError) as error:
        say(f"sam-local: {error}", file=sys.stderr)
        return 1
    finally:
        if not ran_before:
            local.down()
    say("\nEnded what was started.")
    return 0 if task["status"] == "succeeded" else 1


def shortened(answer: Any) -> str:
    text = json.dumps(answer)
    return text if len(text) <= WIDTH else f"{text[:WIDTH]} ..."


@contextmanager
def step(text: str) -> Iterator[None]:
    """A line a step when it is over: two may be on the way at a time."""
    began = time.monotonic()
    yield
    say(f"{text}: {time.monotonic() - began:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
