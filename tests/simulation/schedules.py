"""Clients of schedules: they make them, and meddle with them while ticks fire them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import get_args

from minutero.domain.instants import MINUTE
from minutero.domain.occurrence import Overlap
from minutero.domain.schedule import Definition, Misfire, MisfirePolicy, Schedule
from minutero.domain.timetable import OnOverlap
from minutero.errors import Conflict, InvalidSchedule, MinuteroError, NotFound, Unavailable
from minutero.service.job_catalog import JobCatalog
from minutero.service.pause_schedule import PauseSchedule
from minutero.service.put_schedule import PutSchedule
from minutero.service.revise_schedule import ReviseSchedule
from minutero.service.run_schedule import RunScheduleNow
from minutero.service.shards import Shards
from tests.simulation.clients import Clients
from tests.simulation.jobs import KINDS
from tests.simulation.schedule_watch import life_of
from tests.simulation.watch import Violation
from tests.simulation.world import World

ZONE = "Europe/Berlin"
ENDLESS = (("rate(12 hours)", "UTC"), ("cron(30 6 5 * ? *)", ZONE))
SHORT = (
    ("rate(1 minute)", "UTC"),
    ("rate(1 minute)", "UTC"),
    ("rate(2 minutes)", "UTC"),
    ("cron(* * * * ? *)", "UTC"),
    ("cron(* 1-3,7-11 * * ? *)", ZONE),
    ("cron(0/2 1-3,7-11 * * ? *)", ZONE),
)
"""Rules that fire within a world's life, and those it sees no second time of: these never end."""

NOTHING_TO_SAY = (NotFound, Conflict, InvalidSchedule, Unavailable)
"""Answers a client can get for asking something of a schedule that is gone, or over."""


@dataclass(frozen=True, slots=True)
class _Services:
    """What one call works with."""

    put: PutSchedule
    pause: PauseSchedule
    revise: ReviseSchedule
    run: RunScheduleNow


class ScheduleClients:
    """The clients of one world that have schedules; `until` is when its rules end."""

    def __init__(self, world: World, clients: Clients, span: int) -> None:
        self._world = world
        self._kernel = world.kernel
        self._clients = clients
        self._until = world.kernel.now + max(span, world.weather.outage) + 2 * MINUTE
        settings = world.port(world.settings, "settings")
        self._shards = Shards(settings, world.weather.shards)
        self._catalog = JobCatalog(settings)

    def plan(self, schedules: int) -> None:
        """Spreads their making, and what is done to each, over the time until the rules end."""
        kernel = self._kernel
        span = self._until - 2 * MINUTE - kernel.now
        for number in range(schedules):
            name = f"schedule-{number}"
            made_at = kernel.now + int(min(span, 3 * MINUTE) * kernel.chance())
            kernel.at(made_at, partial(self._make, name))
            for _ in range(kernel.between(0, 5)):
                when = made_at + int((span + MINUTE) * kernel.chance())
                kernel.at(when, partial(self._meddle, name))

    def _make(self, name: str) -> None:
        said = self._definition()
        enabled = None if self._kernel.chance() < 0.9 else False
        for _ in range(2 if self._kernel.chance() < 0.2 else 1):
            self._call(partial(self._put, name, said, enabled))

    def _definition(self) -> Definition:
        kernel = self._kernel
        chance, one_of = kernel.chance, kernel.one_of
        endless = chance() < 0.1
        expression, zone = one_of(ENDLESS if endless else SHORT)
        policy = one_of(get_args(MisfirePolicy))
        cap = kernel.between(1, 4)
        return Definition(
            job="quick" if chance() < 0.7 else one_of(KINDS),
            expression=expression,
            timezone=zone,
            start_at=kernel.now + int(2 * MINUTE * chance()) if chance() < 0.15 else None,
            end_at=None if endless else self._until - int(2 * MINUTE * chance()),
            jitter_seconds=one_of((0, 0, 20, 59)),
            on_overlap=one_of(get_args(OnOverlap)),
            misfire=Misfire(policy, one_of((0, 20, 60, 300)), cap),
            overlap=one_of(get_args(Overlap)),
            tenant=one_of(("", "acme")),
        )

    def _meddle(self, name: str) -> None:
        kernel = self._kernel
        verb = kernel.one_of(
            (
                self._edit,
                self._edit,
                self._pause,
                self._pause_for_a_while,
                self._resume,
                self._run,
                self._delete,
                self._occurrence,
                self._occurrence,
            )
        )
        for _ in range(2 if kernel.chance() < 0.2 else 1):
            verb(name)

    # --- what is asked for; each call is a process

    def _edit(self, name: str) -> None:
        known = self._world.schedules.schedules.get(name)
        said = self._definition()
        if known is not None and self._kernel.chance() < 0.6:
            # Another payload, or another policy: the times stay.
            said = replace(known.definition, payload='{"n": 2}', misfire=said.misfire)
        enabled = self._kernel.one_of((None, None, True, False))
        self._call(partial(self._put, name, said, enabled))

    def _pause(self, name: str) -> None:
        reason = self._kernel.one_of(("", "holiday"))

        def pause(services: _Services) -> None:
            self._confirmed(services.pause.pause(name, reason))

        self._call(pause)

    def _pause_for_a_while(self, name: str) -> None:
        self._pause(name)
        later = self._kernel.now + int(3 * MINUTE * self._kernel.chance())
        self._kernel.at(later, partial(self._resume, name))

    def _resume(self, name: str) -> None:
        since = self._kernel.one_of(("now", "backfill"))

        def resume(services: _Services) -> None:
            self._confirmed(services.pause.resume(name, since))

        self._call(resume)

    def _run(self, name: str) -> None:
        self._call(lambda services: services.run(name))

    def _delete(self, name: str) -> None:
        def delete(services: _Services) -> None:
            doomed = self._world.schedules.schedules.get(name)
            services.revise.delete(name)
            left = self._world.schedules.schedules.get(name)
            if doomed is not None and left is not None and life_of(doomed) == life_of(left):
                raise Violation("confirmed", f"{name} was told deleted, and is there")

        self._call(delete)
        if self._kernel.chance() < 0.6:
            later = self._kernel.now + int(MINUTE * self._kernel.chance())
            self._kernel.at(later, partial(self._make, name))

    def _occurrence(self, name: str) -> None:
        """Cancels or moves one: the pending one, or one that has fired."""
        known = self._world.schedules.schedules.get(name)
        if known is None:
            return
        links = [link.task_id for link in known.fired]
        links += [known.pending.task_id] * 2 if known.pending is not None else []
        if links:
            self._clients.meddle_with(self._kernel.one_of(links))

    # --- the calls

    def _call(self, body: Callable[[_Services], object]) -> None:
        self._clients.call(partial(self._try, body))

    def _try(self, body: Callable[[_Services], object], clock_margin: int) -> None:
        try:
            body(self._services(clock_margin))
        except NOTHING_TO_SAY:
            return
        except MinuteroError as error:
            raise Violation("error", f"{type(error).__name__}: {error}") from error

    def _services(self, clock_margin: int) -> _Services:
        world = self._world
        revise = world.revise(self._shards, clock_margin)
        near = revise.send_fired.send_near
        return _Services(
            PutSchedule(revise, self._catalog),
            PauseSchedule(revise),
            revise,
            RunScheduleNow(
                revise.schedules, revise.store, near, self._shards, revise.clock, world.timing
            ),
        )

    def _put(self, name: str, said: Definition, enabled: bool | None, services: _Services) -> None:
        self._confirmed(services.put(name, said, enabled=enabled).schedule)

    def _confirmed(self, schedule: Schedule) -> None:
        self._world.schedule_watch.confirmed(schedule)
