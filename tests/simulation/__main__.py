"""`python -m tests.simulation --seeds N --from K`: runs seeds on all cores.

Broken promises go to stderr, each with its seed. The last line is JSON: {"seeds", "tasks", "early", "lost",
"doubled", "digest"}; `other` counts invariants under no such name. One world in some has schedules, and their
occurrences count as tasks, too. The same seeds give the same digest.
"""

import argparse
import json
import os
import sys
import time

from tests.simulation.many import run_seeds, summary


def main() -> int:
    """Exit code 1 when a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--from", type=int, default=0, dest="first")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    wanted = parser.parse_args()
    began = time.perf_counter()
    seeds = range(wanted.first, wanted.first + wanted.seeds)
    totals = summary(run_seeds(seeds, wanted.processes))
    seconds = time.perf_counter() - began
    rate = int(totals["tasks"]) / seconds
    print(f"{totals['tasks']} tasks in {seconds:.1f} s, {rate:.0f} a second", file=sys.stderr)
    print(json.dumps(totals))
    return 1 if any(totals[name] for name in ("early", "lost", "doubled", "other")) else 0


if __name__ == "__main__":
    sys.exit(main())
