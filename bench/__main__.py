"""`python -m bench [NAME ...]`: every measurement, or those named, one after the other.

Each is a member of bench/results.json. Exit code 1 when one failed; the others are made all the same.
"""

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bench.in_process import Failed, measured
from bench.summary import print_numbers

MEASUREMENTS = (
    "ledger",
    "dispatch",
    "worker",
    "create",
    "million",
    "end_to_end",
    "memory",
    "start_up",
)
"""The modules of this package that have a `measure`, in order."""

EACH, TOGETHER = 6 * 60, 15 * 60
"""Seconds: the most one may take, and all of them."""

RESULTS = Path(__file__).with_name("results.json")

WIDE = 160
"""Columns of what is written to a file: the tables fit."""


def run(
    modules: Sequence[str],
    results: Path,
    console: Console,
    each: float = EACH,
    together: float = TOGETHER,
) -> int:
    """The exit code. `modules` are dotted names; a result is kept under the last part."""
    end = time.monotonic() + together
    found = json.loads(results.read_text("utf-8")) if results.exists() else {}
    failed = []
    for module in modules:
        name = module.rpartition(".")[2]
        console.rule(name)
        found.pop(name, None)
        try:
            found[name] = measured(module, min(each, max(0, end - time.monotonic())))
            print_numbers(console, found[name])
        except Failed as error:
            failed.append(name)
            console.print(f"{name} failed: {error}", style="red", markup=False)
        # At once: what comes later may reckon with it.
        results.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    if failed:
        console.print(f"failed: {', '.join(failed)}", style="red")
    return 1 if failed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args(arguments).names or MEASUREMENTS
    if unknown := set(names) - set(MEASUREMENTS):
        parser.error(f"no measurement {', '.join(unknown)}; there are {', '.join(MEASUREMENTS)}")
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDE)
    return run([f"bench.{name}" for name in names], RESULTS, console)


if __name__ == "__main__":
    sys.exit(main())
