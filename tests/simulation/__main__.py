"""`python -m tests.simulation --seeds N --from K`: runs seeds on all cores.

Broken promises go to stderr, each with its seed. The last line is JSON: {"seeds", "tasks", "early", "lost",
"doubled", "digest"}; `other` counts invariants under no such name. The same seeds give the same digest.
"""

import argparse
import json
import logging
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from zlib import crc32

from tests.simulation.run import Result, run_seed

AS_LOST = {"lost", "watermark", "behind", "dead"}
AS_DOUBLED = {"doubled", "cancelled", "fence", "keys"}
CHUNK = 20


def run_seeds(seeds: Iterable[int], processes: int) -> Iterator[Result]:
    """The results in the order of the seeds."""
    if processes == 1:
        yield from map(_quietly, seeds)
        return
    with ProcessPoolExecutor(processes) as pool:
        yield from pool.map(_quietly, seeds, chunksize=CHUNK)


def summary(results: Iterable[Result]) -> dict[str, int | str]:
    """What CONTRACT promises of the last line, from results in order of their seeds."""
    tally: Counter[str] = Counter()
    digest = 0
    for result in results:
        tally["seeds"] += 1
        tally["tasks"] += result.tasks
        tally["bodies"] += result.bodies
        digest = crc32(f"{result.seed}:{result.digest}:{result.broken}".encode(), digest)
        if result.broken:
            tally[_kind(result.broken)] += 1
            print(f"seed {result.seed}: {result.detail}", file=sys.stderr)
    names = ("seeds", "tasks", "early", "lost", "doubled", "other", "bodies")
    return {**{name: tally[name] for name in names}, "digest": f"{digest:08x}"}


def _kind(broken: str) -> str:
    if broken == "early":
        return "early"
    if broken in AS_LOST:
        return "lost"
    return "doubled" if broken in AS_DOUBLED else "other"


def _quietly(seed: int) -> Result:
    logging.disable(logging.CRITICAL)
    return run_seed(seed)


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
