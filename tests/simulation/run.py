"""Run seeds: one seed is one world, from its first client to its last message."""

import gc
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from minutero.domain.instants import HOUR, MINUTE, SECOND, parse_instant
from minutero.service import audit, rearm
from tests.simulation.clients import Clients
from tests.simulation.faults import Rates
from tests.simulation.kernel import Kernel
from tests.simulation.schedules import ScheduleClients
from tests.simulation.watch import Violation
from tests.simulation.world import START, Weather, World

SPAN = 4 * MINUTE
TASKS = 140, 280
FEWER = 40, 80
"""Tasks of one world, from and to; those where there are schedules, too."""

SHARE = 12
"""One world in so many has schedules: an occurrence takes longer than a task of its own."""

CLOCKS_CHANGE = {
    0: parse_instant("2027-03-28T01:00:00Z"),
    1: parse_instant("2027-10-31T01:00:00Z"),
}
"""Europe's, forward and back: https://www.iana.org/time-zones"""

NORMALLY_SLOW = 0.02
LONGEST_END = 3 * HOUR
"""How long a world may go on after its clients, in quiet, before what is left counts as lost."""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one seed; `broken` is the invariant that did not hold, if any."""

    seed: int
    tasks: int
    bodies: int
    digest: int
    schedules: int
    occurrences: int
    broken: str = ""
    detail: str = ""


def run_seed(seed: int, season: Callable[[Weather], Weather] = lambda usual: usual) -> Result:
    """The same seed gives the same result, digest included. A `season` changes each seed's weather."""
    with _one_collection():
        return _run(seed, season)


def _run(seed: int, season: Callable[[Weather], Weather]) -> Result:
    kernel = Kernel(seed, _start(seed) + seed % 60 * SECOND)
    with _seeded_secrets(kernel), _early_looks():
        weather = season(_weather(kernel, seed))
        world = World(kernel, weather)
        clients = Clients(world, SPAN)
        clients.plan(kernel.between(*(FEWER if weather.schedules else TASKS)))
        ScheduleClients(world, clients, SPAN).plan(weather.schedules)
        _plan_ticks(kernel, world)
        broken = detail = ""
        try:
            _play(kernel, world)
            clients.check_keys()
            world.check_end()
        except Violation as violation:
            broken, detail = violation.invariant, str(violation)
        finally:
            kernel.close()
        of_schedules = world.schedule_watch
        return Result(
            seed,
            len(world.watch.due),
            world.watch.bodies,
            kernel.digest,
            len(of_schedules.versions),
            len(of_schedules.links),
            broken,
            detail,
        )


def _start(seed: int) -> int:
    """Some worlds with schedules see the clocks of Europe change."""
    odd = seed % SHARE == SHARE - 1
    return CLOCKS_CHANGE.get(seed // SHARE % 5, START) - 4 * MINUTE if odd else START


def _weather(kernel: Kernel, seed: int) -> Weather:
    chance = kernel.chance
    shards = 1 if chance() < 0.8 else 2
    rates = Rates(slow=kernel.one_of((*[NORMALLY_SLOW] * 3, 0.2)))
    rates = rates.times(kernel.one_of((0, 1, 1, 1, 4)))
    if chance() < 0.15:
        begins = kernel.now + int(SPAN * chance())
        rates = replace(rates, brownout=(begins, begins + 2 * MINUTE))
    outage = _outage(chance)
    return Weather(
        true_clocks=chance() < 0.5,
        shards=shards,
        grows_to=shards + 1 if chance() < 0.1 else shards,
        # Two items a page and seconds a call would be more than any tick can walk in its time.
        page=20 if rates.slow > NORMALLY_SLOW else kernel.one_of((2, 5, 20)),
        outage=outage,
        zombies=0.5 if chance() < 0.2 else 0.02,
        doubled=0.8 if outage else 0.1,
        leases=chance() < 0.7,
        rates=rates,
        slots=seed % SHARE == 1,
        schedules=kernel.between(2, 6) if seed % SHARE == SHARE - 1 else 0,
    )


def _outage(chance: Callable[[], float]) -> int:
    luck = chance()
    if luck < 0.01:
        return int((2 + chance()) * HOUR)
    return int((HOUR if luck < 0.08 else 15 * MINUTE) * chance()) if luck < 0.15 else 0


def _plan_ticks(kernel: Kernel, world: World) -> None:
    """EventBridge: each minute, mostly; it goes on ticking until the world is over."""
    outage_from = kernel.now + 2 * MINUTE
    outage_until = outage_from + world.weather.outage

    def minute() -> None:
        kernel.at(kernel.now + MINUTE, minute)
        if kernel.chance() < 0.05:
            world.audit()
        if outage_from <= kernel.now < outage_until or (world.quiet and not world.needs_a_tick()):
            return
        luck = 1.0 if world.quiet else kernel.chance()
        if luck < 0.08:
            return
        late = kernel.between(0, 70_000) if luck < 0.16 else kernel.between(0, 900)
        kernel.at(kernel.now + late, world.tick)
        if luck > 1 - world.weather.doubled and not world.quiet:
            kernel.at(kernel.now + late + kernel.between(0, 2_000), world.tick)

    def grow() -> None:
        world.wanted_shards = world.weather.grows_to

    kernel.at(kernel.now + kernel.between(0, MINUTE), minute)
    kernel.at(kernel.now + 3 * MINUTE, grow)


def _play(kernel: Kernel, world: World) -> None:
    clients_end = kernel.now + max(SPAN, 2 * MINUTE + world.weather.outage)
    kernel.run(clients_end + 3 * MINUTE)
    world.quiet = True
    end = kernel.now + LONGEST_END
    while kernel.now < end and not world.is_over():
        kernel.run(kernel.now + MINUTE)


@contextmanager
def _one_collection() -> Iterator[None]:
    """A world becomes garbage all at once, at its end. Looking for garbage every few hundred objects took a
    fifth of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.collect(0)


@contextmanager
def _early_looks() -> Iterator[None]:
    """The audit's looks, minutes after the bucket instead of an hour and a day: within a world's life."""
    looks = {"hour": 7 * MINUTE, "day": 9 * MINUTE}
    with (
        _exchanged(audit, LOOKS=looks, SENT_BY_THEN=5 * MINUTE),
        _exchanged(rearm, EVERY=SECOND, OVERDUE=10 * MINUTE),
    ):
        yield


@contextmanager
def _seeded_secrets(kernel: Kernel) -> Iterator[None]:
    """Ids drawn from the seed, so that a run repeats to the letter."""
    some_bytes = kernel.some_bytes
    with _exchanged(secrets, token_bytes=some_bytes, token_hex=lambda size: some_bytes(size).hex()):
        yield


@contextmanager
def _exchanged(module: ModuleType, **others: Any) -> Iterator[None]:
    # Lighter than `patch`, whose import alone takes a fifth of a process's start.
    own = {name: getattr(module, name) for name in others}
    vars(module).update(others)
    try:
        yield
    finally:
        vars(module).update(own)
