"""Clients of the simulation: they add, cancel, move, look, and try again when they get no answer."""

from bisect import bisect
from functools import partial

from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.new_task import NewTask
from minutero.domain.run import Ending
from minutero.errors import Conflict, MinuteroError, NotFound, Unavailable
from minutero.service.add_task import Added, AddTask
from minutero.service.add_tasks import AddTasks, Wanted
from minutero.service.cancel import CancelTask
from minutero.service.dead_list import DeadList
from minutero.service.job_catalog import JobCatalog
from minutero.service.move import MoveTask
from minutero.service.read_task import ReadTask
from minutero.service.send_near import SendNear
from minutero.service.shards import Shards
from minutero.testing.memory import one_by_one
from tests.simulation.jobs import KINDS, UP_TO
from tests.simulation.watch import Violation
from tests.simulation.world import World

API_TIMEOUT = 10 * SECOND

BODY = "the same body"

BATCHES = 0.15
"""How many calls add several tasks at once: half of the tasks come so."""

OF_THE_DEAD = 0.3
"""How often it is one of the dead that is meddled with: two clients want one thing each."""

POPULAR = 0.6
"""How many tasks are due on the full even minute, as people like it: bursts, and full batches."""


class Clients:
    """All clients of one world, calling the API, each call a process."""

    def __init__(self, world: World, span: int) -> None:
        self._world = world
        self._kernel = world.kernel
        self._span = span
        self.added: list[str] = []
        self._by_key: dict[str, set[str]] = {}
        self._serial = 0
        # One for all, as a warm function has it, with what it remembers of the settings.
        settings = world.port(world.settings, "settings")
        self._add_task = AddTask(
            world.port(world.tasks, "tasks"),
            world.port(world.queue, "queue"),
            Shards(settings, world.weather.shards),
            JobCatalog(settings),
            world.clock(),
            world.timing,
        )
        self._add_tasks = AddTasks(
            self._add_task, world.port(world.tasks, "tasks"), one_by_one, world.clock()
        )

    def plan(self, tasks: int) -> None:
        """Spreads the adding of tasks, and of what is done to some of them, over the span."""
        kernel, chance = self._kernel, self._kernel.chance
        outage = max(self._span, self._world.weather.outage)
        while tasks > 0:
            # Half of them come at first; half as long as nobody dispatches.
            span = self._span if chance() < 0.5 else outage
            when = kernel.now + int(span * chance())
            together = kernel.between(2, 12) if chance() < BATCHES else 1
            kernel.at(when, self._add if together == 1 else partial(self._add_many, together))
            for _ in range(together):
                if chance() < 0.2:
                    kernel.at(when + int(4 * MINUTE * chance()), self._meddle)
            tasks -= together

    def call(self, body) -> None:
        """A process of a client; `body` is told how far its clock may be off."""
        # A client with a wrong clock talks to the tables itself; the API's clock is as good as a Lambda's.
        own_tables = self._kernel.chance() < 0.2
        most = self._world.timing.client_clock_margin if own_tables else 0
        skew = self._world.skew(most or 8 * SECOND)
        self._world.spawn(partial(body, most), API_TIMEOUT, skew)

    def _add(self) -> None:
        new = self._new()
        twice_or_more = new.key and self._kernel.chance() < 0.25
        for _ in range(3 if twice_or_more else 1):
            self.call(partial(self._try_to_add, new, 3 if new.key else 1))

    def _add_many(self, tasks: int) -> None:
        news = [self._new() for _ in range(tasks)]
        self.call(partial(self._try_to_add_many, news))

    def _new(self) -> NewTask:
        self._serial += 1
        luck = self._kernel.chance()
        key = f"key-{self._serial}" if luck < 0.2 else ""
        job = KINDS[bisect(UP_TO, UP_TO[-1] * self._kernel.chance())]
        ahead = self._kernel.one_of((-60, 0, 3, 100, 170, 185, 200, 300)) * SECOND
        run_at = self._kernel.now + ahead + self._kernel.between(0, 3_000)
        if self._kernel.chance() < POPULAR:
            run_at += -run_at % (2 * MINUTE)
        return NewTask(
            job, run_at=run_at, key=key, expires_after_seconds=1 if luck > 0.97 else None
        )

    def _try_to_add(self, new: NewTask, tries: int, _clock_margin: int) -> None:
        for _ in range(tries):
            try:
                self._was_added(new, self._add_task(new, BODY))
            except Unavailable:
                continue
            return

    def _try_to_add_many(self, news: list[NewTask], _clock_margin: int) -> None:
        try:
            ends = self._add_tasks([Wanted(new, BODY) for new in news])
        except Unavailable:
            return
        for new, end in zip(news, ends, strict=True):
            if isinstance(end, Added):
                self._was_added(new, end)

    def _was_added(self, new: NewTask, added: Added) -> None:
        task_id = added.task.task_id
        self.added.append(task_id)
        if new.key:
            self._by_key.setdefault(new.key, set()).add(task_id)

    def _meddle(self) -> None:
        if not self.added:
            return
        ended = self._world.watch.ended
        dead = [task_id for task_id in self.added[-30:] if ended.get(task_id) is Ending.DEAD]
        if dead and self._kernel.chance() < OF_THE_DEAD:
            task_id = self._kernel.one_of(dead)
            for verb in (self._redrive, self._discard):
                self.call(partial(self._try, verb, task_id))
        else:
            self.meddle_with(self._kernel.one_of(self.added[-30:]))

    def meddle_with(self, task_id: str) -> None:
        """Cancels or moves a task."""
        verb = self._kernel.one_of((self._cancel, self._reschedule, self._run_now, self._redrive))
        for _ in range(2 if self._kernel.chance() < 0.3 else 1):
            self.call(partial(self._try, verb, task_id))

    def _try(self, verb, task_id: str, clock_margin: int) -> None:
        try:
            verb(task_id, clock_margin)
        except (Conflict, Unavailable):
            return
        except NotFound as error:
            raise Violation("lost", f"an accepted task is not found: {error}") from error
        except MinuteroError as error:
            raise Violation("error", f"{type(error).__name__}: {error}") from error

    def _cancel(self, task_id: str, clock_margin: int) -> None:
        world = self._world
        store = world.port(world.tasks, "tasks")
        cancel = CancelTask(store, world.pass_on(), world.clock(), world.timing, clock_margin)
        cancel(task_id)
        world.watch.cancel_confirmed(task_id)

    def _move(self, clock_margin: int) -> MoveTask:
        world, clock = self._world, self._world.clock()
        store = world.port(world.tasks, "tasks")
        near = SendNear(store, world.port(world.queue, "queue"), clock, world.timing)
        ledger = world.port(world.ledger, "ledger")
        return MoveTask(store, ledger, near, world.pass_on(), clock, world.timing, clock_margin)

    def _reschedule(self, task_id: str, clock_margin: int) -> None:
        ahead = self._kernel.one_of((-30, 5, 120, 190, 300)) * SECOND
        wanted = self._kernel.now + ahead
        self._move(clock_margin).reschedule(task_id, lambda now: max(now, wanted))

    def _run_now(self, task_id: str, clock_margin: int) -> None:
        self._move(clock_margin).run_now(task_id)

    def _redrive(self, task_id: str, clock_margin: int) -> None:
        self._move(clock_margin).redrive(task_id)

    def _discard(self, task_id: str, clock_margin: int) -> None:
        world = self._world
        store, clock = world.port(world.tasks, "tasks"), world.clock()
        reads = ReadTask(store, world.port(world.ledger, "ledger"), clock)
        shards = Shards(world.port(world.settings, "settings"), world.weather.shards)
        move, timing = self._move(clock_margin), world.timing
        dead = DeadList(store, reads, move, shards, clock, timing, one_by_one)
        try:
            dead.discard(task_id)
        except NotFound:
            # Almost all of them: it is not dead.
            return
        world.watch.discarded.add(task_id)

    def check_keys(self) -> None:
        """A key never makes two tasks."""
        for key, task_ids in self._by_key.items():
            if len(task_ids) > 1:
                raise Violation("keys", f"{key} made {len(task_ids)} tasks")
