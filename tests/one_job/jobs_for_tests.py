"""Jobs for the tests. What they do is a line in a file each time, since a process can tell no other way."""

import sys
from pathlib import Path

from minutero import PermanentFailure, job

DONE = Path("done.txt")


def note(text):
    with DONE.open("a") as file:
        file.write(f"{text}\n")


@job("note")
def noting(payload, run):
    note(payload)
    return {"scheduled_for": run.scheduled_for.isoformat(), "attempt": run.attempt, "key": run.key}


@job("slow")
def slow(payload, run):
    """Goes on when its input is closed."""
    note("began")
    print("began", flush=True)  # noqa: T201 - the test waits for it
    sys.stdin.read()
    note("ended")


@job("fails-once")
def fails_once(payload, run):
    note(run.attempt)
    if run.attempt == 1:
        raise ValueError("no such wallet")
    return run.attempt


@job("never-works")
def never_works(payload, run):
    note("tried")
    raise PermanentFailure("the account is closed")


@job("nothing-to-do")
def nothing_to_do(payload, run):
    run.skip("a holiday")


@job("left")
def left(payload, run):
    return run.remaining()


@job("exits")
def exits(payload, run):
    note(run.attempt)
    sys.exit(0)
