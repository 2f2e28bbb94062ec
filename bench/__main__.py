"""`python -m bench [NAME ...]`: every measurement, or those named, one after the other.

Each is a member of bench/results.json. Exit code 1 when one failed; the others are made all the same.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from bench.in_process import Failed, measured
from bench.summary import print_numbers

MEASUREMENTS = {"ledger": 300, "dispatch": 90, "million": 240, "worker": 90, "create": 120}
"""The modules of this package that have a `measure`, in order, with the seconds each may take."""

RESULTS = Path(__file__).with_name("results.json")


def run(modules: dict[str, int], results: Path, console: Console) -> int:
    """The exit code. `modules` are dotted names with their seconds; a result is kept under the last part."""
    found = json.loads(results.read_text("utf-8")) if results.exists() else {}
    failed = []
    for module, seconds in modules.items():
        name = module.rpartition(".")[2]
        console.rule(name)
        found.pop(name, None)
        try:
            numbers = measured(module, seconds)
        except Failed as error:
            failed.append(name)
            console.print(f"{name} failed: {error}", style="red", markup=False)
            continue
        found[name] = numbers
        print_numbers(console, numbers)
    results.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    if failed:
        console.print(f"failed: {', '.join(failed)}", style="red")
    return 1 if failed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m bench")
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args(arguments).names or list(MEASUREMENTS)
    if unknown := set(names) - set(MEASUREMENTS):
        parser.error(f"no measurement {', '.join(unknown)}; there are {', '.join(MEASUREMENTS)}")
    chosen = {f"bench.{name}": MEASUREMENTS[name] for name in names}
    return run(chosen, RESULTS, Console())


if __name__ == "__main__":
    sys.exit(main())
