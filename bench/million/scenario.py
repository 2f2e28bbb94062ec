"""What is simulated: the load, the settings of the deployment, and what this machine has measured."""

import json
from dataclasses import dataclass, replace
from pathlib import Path

from bench.million.limits import ACCOUNT_CONCURRENCY, NEW_TABLE, VCPU_MEMORY
from minutero.service.fan_out import groups

RESULTS = Path(__file__).parents[1] / "results.json"


@dataclass(frozen=True, slots=True)
class Cpu:
    """Microseconds of CPU a task, of one core. Where this machine has measured nothing: the requests of a
    task alone, measured when nothing else ran (108 to dispatch it, 1,000 to run it), times 1.3, which is more
    than bench.dispatch and bench.worker find beside their requests."""

    dispatch: float = 140.0
    worker: float = 1_300.0


DISPATCHER_MEMORY = 1_024
WORKER_MEMORY = 512
"""Megabytes, as in template.yaml."""


@dataclass(frozen=True, slots=True)
class Scenario:
    """`tasks` due in each of so many `minutes` in a row, evenly, at whole seconds.

    `phase`: at which second of its minute the tick comes. `table_units`: write units a second that the
    tables are ready for. `pollers`: those of provisioned mode, 0 without it. `creates`: tasks are stored as
    fast as they fall due, at the same time. `job` in seconds. `slowness` is a
    factor on the time that requests are assumed to take.
    """

    tasks: int
    minutes: int = 1
    shards: int = 8
    look_ahead: int = 3
    phase: int = 59
    table_units: int = NEW_TABLE
    creates: bool = False
    queues: int = 1
    concurrency: int = 100
    pollers: int = 0
    account: int = ACCOUNT_CONCURRENCY
    cpu: Cpu = Cpu()
    job: float = 0.0
    slowness: float = 1.0

    @property
    def dispatchers(self) -> int:
        """Calls of the dispatcher that serve one tick."""
        return 1 + len(groups(self.shards)[1])

    @property
    def background(self) -> float:
        """Writes a second of tasks that are stored meanwhile."""
        return self.tasks / 60 if self.creates else 0

    def sizes(self) -> list[int]:
        """Tasks of each shard in one minute."""
        least, more = divmod(self.tasks, self.shards)
        return [least + (shard < more) for shard in range(self.shards)]


def seconds_of_cpu(microseconds: float, memory: int) -> float:
    """How long a function of so much memory takes for it. It has one thread at a time in Python, so more
    than one vCPU is no help."""
    return microseconds / 1_000_000 / min(1, memory / VCPU_MEMORY)


def measured() -> Cpu:
    """As this machine measured it last."""
    found = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    told = {
        name: float(found[name]["cpu_us_per_task"])
        for name in ("dispatch", "worker")
        if "cpu_us_per_task" in found.get(name, {})
    }
    return replace(Cpu(), **told)
