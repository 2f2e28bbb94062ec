"""The jobs of the simulation: what a body may do to its run."""

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from minutero.domain.occurrence import Trigger
from minutero.errors import PermanentFailure, RetryLater
from minutero.jobs import Job, JobRegistry, Run
from tests.simulation.kernel import Killed
from tests.simulation.slots import pay

if TYPE_CHECKING:
    from tests.simulation.world import World

KINDS = (
    "quick",
    "slow",
    "fails_once",
    "always_fails",
    "hopeless",
    "later",
    "much_later",
    "killer",
    "stubborn",
    "skips",
)
UP_TO = tuple(accumulate((100, 4, 6, 2, 2, 2, 0.3, 1, 1, 1)))
"""How often each kind is drawn, added up."""


def registry_of(world: "World") -> JobRegistry:
    """Each kind of job, telling the watch of each start."""
    registry = JobRegistry()
    for kind in KINDS:
        registry.add(Job(kind, _job(kind, world)))
    return registry


def _job(kind: str, world: "World") -> Any:
    kernel = world.kernel
    behaves = _BEHAVIOURS[kind]

    def body(_payload: Any, run: Run) -> Any:
        world.watch.body_started(run.task_id, kernel.own_now())
        kernel.note(run.task_id.encode())
        if world.weather.slots:
            pay(run)
        if run.trigger is Trigger.TASK and run.task_id not in world.watch.occurrences:
            return behaves(world, run)
        with world.schedule_watch.running(run):
            return behaves(world, run)

    return body


def _quick(world: "World", run: Run) -> str:
    return "done"


def _slow(world: "World", run: Run) -> str:
    # Far over the time-out at first; a later attempt is fast enough.
    most = 6 * world.timing.worker_timeout if run.attempt == 1 else 5_000
    for _ in range(3):
        world.kernel.pause(world.kernel.between(0, most // 3))
    return "done slowly"


def _fails_once(world: "World", run: Run) -> str:
    world.kernel.pause(50)
    if run.attempt == 1:
        raise ValueError("the first attempt fails")
    return "done at last"


def _always_fails(world: "World", run: Run) -> str:
    raise ValueError("never works")


def _hopeless(world: "World", run: Run) -> str:
    raise PermanentFailure("cannot be done")


def _later(world: "World", run: Run) -> str:
    if run.attempt < 3:
        raise RetryLater(30)
    return "done later"


def _much_later(world: "World", run: Run) -> str:
    if run.attempt == 1:
        raise RetryLater(1_000)
    return "done much later"


def _killer(world: "World", run: Run) -> str:
    if run.attempt < 3:
        raise Killed
    return "survived"


def _stubborn(world: "World", run: Run) -> str:
    """Its first attempt lives on while others overtake it; its second dies."""
    if run.attempt == 1:
        world.kernel.pause(world.kernel.between(45_000, 120_000))
    if run.attempt == 2:
        world.kernel.pause(world.kernel.between(0, 8_000))
        raise Killed
    return "done by its third attempt"


def _skips(world: "World", run: Run) -> str:
    run.skip("nothing to do")


_BEHAVIOURS = {
    "quick": _quick,
    "slow": _slow,
    "fails_once": _fails_once,
    "always_fails": _always_fails,
    "hopeless": _hopeless,
    "later": _later,
    "much_later": _much_later,
    "killer": _killer,
    "stubborn": _stubborn,
    "skips": _skips,
}
