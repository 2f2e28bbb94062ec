"""The workers: how many batches Lambda runs at once, and when each task starts."""

from collections import Counter, deque
from collections.abc import Mapping

from bench.million.limits import (
    BATCH,
    BATCHES_A_POLLER,
    COLD_START,
    FIRST_BATCHES,
    INVOKE,
    MORE_BATCHES,
    NEW_ENVIRONMENTS,
    POLL,
    REQUEST,
)
from bench.million.scenario import WORKER_MEMORY, Scenario, seconds_of_cpu

STEP = 0.1
"""Seconds of one step. Within it what waits starts evenly, oldest first."""

UNITS = 2
"""Write units of a run record: its start and its end."""


def seconds_a_task(scenario: Scenario) -> float:
    """Of a worker: the two writes, its CPU, the job, and its part of the batch's own time."""
    a_batch = INVOKE + REQUEST
    cpu = seconds_of_cpu(scenario.cpu.worker, WORKER_MEMORY)
    requests = (UNITS * REQUEST + a_batch / BATCH) * scenario.slowness
    return requests + cpu + scenario.job


def batches(scenario: Scenario, since: float) -> float:
    """How many run at once so many seconds after the first message."""
    warm = max(0.0, since - COLD_START)
    free = scenario.account - scenario.dispatchers
    if scenario.pollers:
        wanted: float = scenario.pollers * BATCHES_A_POLLER * scenario.queues
    else:
        a_queue = min(scenario.concurrency, FIRST_BATCHES + warm * MORE_BATCHES / 60)
        wanted = a_queue * scenario.queues
    return min(wanted, free, NEW_ENVIRONMENTS * max(1.0, warm)) if warm else 0.0


def start(scenario: Scenario, ready: Mapping[tuple[int, int], int]) -> Counter[tuple[int, int]]:
    """When tasks start: by (second it is due in, step it starts in) how many.

    `ready` counts messages by (step from which they can be received, second they are due in). The table of
    the runs is ready for as many writes as the tasks'.
    """
    a_step = STEP / seconds_a_task(scenario)
    most = scenario.table_units / UNITS * STEP
    arriving = deque([step, due, count] for (step, due), count in sorted(ready.items()))
    first = step = arriving[0][0]
    started: Counter[tuple[int, int]] = Counter()
    spare = 0.0
    while arriving:
        spare = spare % 1 + min(batches(scenario, (step - first) * STEP) * a_step, most)
        while arriving and arriving[0][0] <= step and spare >= 1:
            _, due, count = arriving[0]
            taken = min(int(spare), count)
            started[due, step + round(POLL / STEP)] += taken
            spare -= taken
            if taken == count:
                arriving.popleft()
            else:
                arriving[0][2] = count - taken
        step += 1
    return started
