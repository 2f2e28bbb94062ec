"""Clients of the simulation: they add, cancel, move, look, and try again when they get no answer."""

from functools import partial

from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.new_task import NewTask
from minutero.errors import Conflict, MinuteroError, NotFound, Unavailable
from minutero.service.add_task import AddTask
from minutero.service.cancel import CancelTask
from minutero.service.job_catalog import JobCatalog
from minutero.service.move import MoveTask
from minutero.service.send_near import SendNear
from minutero.service.shards import Shards
from tests.simulation.jobs import KINDS, UP_TO
from tests.simulation.watch import Violation
from tests.simulation.world import World

API_TIMEOUT = 10 * SECOND

POPULAR = 0.6
"""How many tasks are due on the full even minute, as people like it: bursts, and full batches."""


class Clients:
    """All clients of one world, calling the API, each call a process."""

    def __init__(self, world: World, span: int) -> None:
        self._world = world
        self._random = world.kernel.random
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

    def plan(self, tasks: int) -> None:
        """Spreads the adding of tasks, and of what is done to some of them, over the span."""
        kernel, chance = self._world.kernel, self._random.random
        for _ in range(tasks):
            when = kernel.now + int(self._span * chance())
            kernel.at(when, self._start_adding)
            if chance() < 0.2:
                kernel.at(when + int(4 * MINUTE * chance()), self._meddle)

    def _call(self, body) -> None:
        # A client with a wrong clock talks to the tables itself; the API's clock is as good as a Lambda's.
        own_tables = self._random.random() < 0.2
        most = self._world.timing.client_clock_margin if own_tables else 0
        skew = self._world.skew(most or 8 * SECOND)
        self._world.spawn(partial(body, most), API_TIMEOUT, skew)

    def _start_adding(self) -> None:
        self._serial += 1
        luck = self._random.random()
        key = f"key-{self._serial}" if luck < 0.2 else ""
        job = self._random.choices(KINDS, cum_weights=UP_TO)[0]
        ahead = self._random.choice((-60, 0, 3, 100, 170, 185, 200, 300)) * SECOND
        run_at = self._world.kernel.now + ahead + self._random.randint(0, 3_000)
        if self._random.random() < POPULAR:
            run_at += -run_at % (2 * MINUTE)
        new = NewTask(
            job,
            run_at=run_at,
            key=key,
            expires_after_seconds=1 if luck > 0.97 else None,
        )
        for _ in range(3 if key and luck < 0.05 else 1):
            self._call(partial(self._add, new, 3 if key else 1))

    def _add(self, new: NewTask, tries: int, _clock_margin: int) -> None:
        for _ in range(tries):
            try:
                task_id = self._add_task(new, "the same body").task.task_id
            except Unavailable:
                continue
            self.added.append(task_id)
            if new.key:
                self._by_key.setdefault(new.key, set()).add(task_id)
            return

    def _meddle(self) -> None:
        if not self.added:
            return
        task_id = self._random.choice(self.added[-30:])
        verb = self._random.choice((self._cancel, self._reschedule, self._run_now, self._redrive))
        for _ in range(2 if self._random.random() < 0.3 else 1):
            self._call(partial(self._try, verb, task_id))

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
        cancel = CancelTask(store, world.clock(), world.timing, clock_margin)
        cancel(task_id)
        world.watch.cancel_confirmed(task_id)

    def _move(self, clock_margin: int) -> MoveTask:
        world, clock = self._world, self._world.clock()
        store = world.port(world.tasks, "tasks")
        near = SendNear(store, world.port(world.queue, "queue"), clock, world.timing)
        ledger = world.port(world.ledger, "ledger")
        return MoveTask(store, ledger, near, clock, world.timing, clock_margin)

    def _reschedule(self, task_id: str, clock_margin: int) -> None:
        ahead = self._random.choice((-30, 5, 120, 190, 300)) * SECOND
        wanted = self._world.kernel.now + ahead
        self._move(clock_margin).reschedule(task_id, lambda now: max(now, wanted))

    def _run_now(self, task_id: str, clock_margin: int) -> None:
        self._move(clock_margin).run_now(task_id)

    def _redrive(self, task_id: str, clock_margin: int) -> None:
        self._move(clock_margin).redrive(task_id)

    def check_keys(self) -> None:
        """A key never makes two tasks."""
        for key, task_ids in self._by_key.items():
            if len(task_ids) > 1:
                raise Violation("keys", f"{key} made {len(task_ids)} tasks")
