"""Run many seeds on all cores, and sum up what became of them."""

import logging
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from zlib import crc32

from tests.simulation.run import Result, run_seed
from tests.simulation.thaw import thaw

AS_LOST = {"lost", "watermark", "behind", "dead", "chain", "fate"}
AS_DOUBLED = {"doubled", "cancelled", "fence", "keys", "closed", "forked", "overlap", "slot"}
CHUNK = 20


def run_seeds(seeds: Iterable[int], processes: int) -> Iterator[Result]:
    """The results in the order of the seeds."""
    if processes == 1:
        yield from map(_quietly, seeds)
        return
    # Spawned, not forked: whoever calls may have threads.
    with ProcessPoolExecutor(processes, get_context("spawn"), thaw) as pool:
        yield from pool.map(_quietly, seeds, chunksize=CHUNK)


def summary(results: Iterable[Result]) -> dict[str, int | str]:
    """The command's last line, from results in order of their seeds."""
    tally: Counter[str] = Counter()
    digest = 0
    for result in results:
        tally["seeds"] += 1
        tally["tasks"] += result.tasks
        tally["bodies"] += result.bodies
        tally["schedules"] += result.schedules
        tally["occurrences"] += result.occurrences
        digest = crc32(f"{result.seed}:{result.digest}:{result.broken}".encode(), digest)
        if result.broken:
            tally[_kind(result.broken)] += 1
            sys.stderr.write(f"seed {result.seed}: {result.detail}\n")
    names = ("seeds", "tasks", "early", "lost", "doubled", "other", "bodies")
    names += ("schedules", "occurrences")
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
