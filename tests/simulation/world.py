"""One simulated deployment: its stores, its functions as processes, its clients, and the end of it all."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from minutero.domain.buckets import minute_of
from minutero.domain.exchanged import Cursor, Growth
from minutero.domain.instants import HOUR, MINUTE, SECOND
from minutero.domain.lifecycle import Status
from minutero.domain.run import Ending
from minutero.domain.schedule import PARTITIONS
from minutero.domain.task import OpenClaim, State, Task
from minutero.domain.timing import Timing
from minutero.errors import MinuteroError, Unavailable
from minutero.ports import Clock
from minutero.service.audit import Auditor
from minutero.service.dead_letter import Burial, BuryMessage
from minutero.service.dispatch import Dispatcher
from minutero.service.execute import Execute, Verdict
from minutero.service.fire import FireOccurrences
from minutero.service.letters import ending_of
from minutero.service.overlap import OneAtATime
from minutero.service.pass_on import PassOn
from minutero.service.read_task import ReadTask
from minutero.service.rearm import Rearm
from minutero.service.revise_schedule import ReviseSchedule
from minutero.service.send_fired import SendFired
from minutero.service.send_near import SendNear
from minutero.service.shards import Shards
from minutero.testing.memory import LedgerRunOnce, MemorySettingsStore, one_by_one
from tests.simulation.faults import Faulty, Rates
from tests.simulation.jobs import registry_of
from tests.simulation.kernel import Kernel, Process
from tests.simulation.schedule_stores import WatchedLocks, WatchedSchedules
from tests.simulation.schedule_watch import ScheduleWatch
from tests.simulation.slots import WatchedSlots
from tests.simulation.stores import Message, SimQueue, WatchedCursors, WatchedLedger, WatchedTasks
from tests.simulation.watch import Violation, Watch

START = 1_800_000_000_000
TIMING = Timing(worker_timeout=10 * SECOND)
VISIBILITY = 6 * TIMING.worker_timeout
AFTERWARDS = 12 * MINUTE
"""From the end of the last task to the last look: longer than buckets take to be settled and audited."""
FAR = 2 * HOUR
"""What is due so long from now is not waited for: the next occurrence of a rule with a long period."""

FINAL = frozenset(Status) - {
    Status.SCHEDULED,
    Status.CLAIMED,
    Status.RUNNING,
    Status.RETRYING,
}


@dataclass(frozen=True, slots=True)
class Weather:
    """What a seed's deployment has to live with. Times in milliseconds.

    `zombies` is the chance that a worker outlives its time-out, `doubled` that a tick comes twice. Without
    `leases` any dispatcher gets any shard: safety must not depend on them.
    """

    true_clocks: bool
    shards: int
    grows_to: int
    page: int
    outage: int
    zombies: float
    doubled: float
    leases: bool
    rates: Rates
    schedules: int
    slots: bool


class World:
    """Built for one seed; `functions` and clients are processes over faulty ports."""

    def __init__(self, kernel: Kernel, weather: Weather) -> None:
        self.kernel = kernel
        self.weather = weather
        self.timing = TIMING
        self._clock = _CurrentClock(kernel)
        self._ports: dict[str, Faulty] = {}
        self.watch = Watch(kernel, true_clocks=weather.true_clocks)
        self.ledger = WatchedLedger(self.watch)
        self.cursors = WatchedCursors(self.watch, leases=weather.leases)
        self.tasks = WatchedTasks(self.ledger, self.cursors, kernel, weather.rates, weather.page)
        self.cursors.tasks = self.tasks
        self.schedule_watch = ScheduleWatch(
            kernel, self.watch, TIMING, true_clocks=weather.true_clocks
        )
        self.schedules = WatchedSchedules(self.tasks, self.ledger, self.schedule_watch)
        self.locks = WatchedLocks()
        self.slots = WatchedSlots(self.watch)
        self.queue = SimQueue(kernel, weather.rates, VISIBILITY)
        self.queue.deliver = self._deliver
        self.queue.deliver_dead = self._deliver_dead
        self.settings = MemorySettingsStore()
        self.jobs = registry_of(self)
        self.settings.announce_jobs(self.jobs.names())
        self.settings.grow(Growth(weather.shards, kernel.now - 5 * MINUTE))
        self.wanted_shards = weather.shards
        self.quiet = False
        self._execute = self._worker()
        self._serial = 0

    # --- ports as a process has them

    def port(self, target: Any, name: str) -> Any:
        """A port of the world, with its faults."""
        if name not in self._ports:
            self._ports[name] = Faulty(target, name, self.kernel, self.weather.rates)
        return self._ports[name]

    def clock(self) -> Clock:
        """The clock of whichever process is running."""
        return self._clock

    def skew(self, most: int) -> int:
        """A process's clock error: none in a seed with true clocks."""
        if self.weather.true_clocks:
            return 0
        return self.kernel.between(-most, most)

    def spawn(self, body: Callable[[], None], lives: int, skew: int) -> Process:
        """A process; in quiet times nothing goes wrong with it."""
        return self.kernel.spawn(body, skew, lives, faulty=not self.quiet)

    def overtime(self) -> int:
        """How much longer than its time-out a worker lives, once in a while."""
        chance = self.kernel.chance
        return int(120_000 * chance()) if chance() < self.weather.zombies else 0

    # --- the tick

    def tick(self) -> None:
        """One run of the dispatcher."""
        self._serial += 1
        owner = f"tick{self._serial}"
        self.spawn(
            partial(self._tick, owner), self.timing.dispatcher_timeout, self.skew(8 * SECOND)
        )

    def _tick(self, owner: str) -> None:
        clock = self.clock()
        counts = Shards(self.port(self.settings, "settings"), self.wanted_shards)
        dispatcher = Dispatcher(
            self.port(self.tasks, "tasks"),
            self.port(self.queue, "queue"),
            self.port(self.cursors, "cursors"),
            clock,
            self.timing,
            one_by_one,
            self.fire(),
            owner,
        )
        now = clock.now()
        deadline = now + self.timing.dispatcher_timeout - 5 * SECOND
        try:
            growth = counts.for_dispatch(now)
            dispatcher.tick(range(growth[-1].shards), growth, deadline)
        except Unavailable:
            return

    def fire(self) -> FireOccurrences:
        """What takes the steps of schedules."""
        schedules = self.port(self.schedules, "schedules")
        return FireOccurrences(schedules, self.clock(), self.timing, one_by_one)

    def revise(self, shards: Shards, clock_margin: int = 0) -> ReviseSchedule:
        """What puts another version of a schedule in the place of the one there is."""
        store, clock = self.port(self.tasks, "tasks"), self.clock()
        near = SendNear(store, self.port(self.queue, "queue"), clock, self.timing)
        return ReviseSchedule(
            self.port(self.schedules, "schedules"),
            store,
            self.port(self.ledger, "ledger"),
            SendFired(self.fire(), near, shards, clock),
            shards,
            clock,
            self.timing,
            clock_margin,
        )

    def pass_on(self) -> PassOn:
        """What goes before a cancel or a move."""
        counts = Shards(self.port(self.settings, "settings"), self.wanted_shards)
        return PassOn(self.fire(), counts, self.clock())

    # --- the worker

    def _deliver(self, messages: list[Message]) -> None:
        size = self.kernel.between(1, 10)
        for start in range(0, len(messages), size):
            batch = messages[start : start + size]
            acknowledged: list[Message] = []
            process = self.spawn(
                partial(self._work, batch, acknowledged),
                self.timing.worker_timeout + self.overtime(),
                self.skew(8 * SECOND),
            )
            process.on_end = partial(self._worked, acknowledged)

    def _worked(self, acknowledged: list[Message], whole: bool) -> None:
        # Lambda deletes the messages of a batch after the function has answered, or none of them.
        for message in acknowledged if whole else ():
            self.queue.acknowledge(message)

    def _worker(self) -> Execute:
        # Stateless, so that one does for all workers.
        return Execute(
            self.port(self.tasks, "tasks"),
            self.port(self.queue, "queue"),
            LedgerRunOnce(self.port(self.ledger, "ledger"), self.clock()),
            OneAtATime(self.port(self.locks, "locks"), self.clock(), self.timing),
            self.port(self.slots, "slots"),
            self.jobs,
            self.clock(),
            self.timing,
            self.kernel.chance,
        )

    def _work(self, batch: list[Message], acknowledged: list[Message]) -> None:
        execute, store, clock = self._execute, self._execute.store, self._execute.clock
        deadline = clock.now() + self.timing.worker_timeout
        try:
            tasks = store.get_many([message.outgoing.pointer for message in batch])
        except Unavailable:
            return
        for message in batch:
            pointer = message.outgoing.pointer
            try:
                early = pointer.due > clock.now() and message.receives == 1
                verdict = execute(pointer, tasks.get(pointer.place), deadline)
                if early and verdict is Verdict.RESENT:
                    self.watch.arrived_early(pointer.task_id)
            except Unavailable:
                continue
            if verdict is Verdict.ENDED:
                self._check_let_go(tasks.get(pointer.place))
            if verdict is not Verdict.KEPT:
                acknowledged.append(message)

    def _check_let_go(self, task: Task | None) -> None:
        of = None if task is None else task.occurrence
        if of and of.overlap != "allow" and task.task_id not in self.locks.let_go_by:
            raise Violation("locked", f"{task.task_id} has ended and keeps its schedule waiting")

    # --- the dead-letter function

    def _deliver_dead(self, message: Message) -> None:
        self.spawn(partial(self._bury, message), 30 * SECOND, self.skew(8 * SECOND))

    def _bury(self, message: Message) -> None:
        bury = BuryMessage(
            self.port(self.tasks, "tasks"),
            self.port(self.ledger, "ledger"),
            self.clock(),
            self.timing,
            lambda body: (message.outgoing.pointer, body),
        )
        try:
            if bury(message.outgoing.pointer) is not Burial.KEPT:
                self.queue.acknowledge(message)
        except Unavailable:
            return

    # --- the auditor

    def audit(self) -> None:
        """One visit of the auditor."""
        self.spawn(self._audit, self.timing.dispatcher_timeout, self.skew(8 * SECOND))

    def _audit(self) -> None:
        clock = self.clock()
        auditor = Auditor(
            self.port(self.tasks, "tasks"),
            self.port(self.ledger, "ledger"),
            self.port(self.queue, "queue"),
            self.port(self.cursors, "cursors"),
            clock,
            self.timing,
            one_by_one,
            self.fire(),
            self.queue.oldest,
        )
        deadline = clock.now() + self.timing.dispatcher_timeout - 5 * SECOND
        report = auditor.audit(sorted(self.cursors.cursors), deadline)
        if self.schedules.schedules:
            report.rearmed = self._rearm(deadline)
        if report.tally.claimed or report.rearmed or (report.sent_again and not self._some_wait()):
            # What it repairs should never have happened: else mutants would hide behind the repairs.
            raise Violation("lost", f"the audit had to repair {report}")

    def _rearm(self, deadline: int) -> int:
        revise = self.revise(Shards(self.port(self.settings, "settings"), self.wanted_shards))
        try:
            return Rearm(revise).look(self.clock().now(), deadline)
        except Unavailable:
            return 0

    def _some_wait(self) -> bool:
        """An occurrence waits for another of its schedule: it is claimed, shows no run, and its message is
        sent again and again. An audit that looks after minutes takes it for lost: one message more."""
        of = (task.occurrence for task in self.pending())
        return any(one is not None and one.overlap == "queue" for one in of)

    # --- the end

    def is_over(self) -> bool:
        """Nothing waits in a queue, nobody works, and every task has ended."""
        return not self.queue.waiting and not self.kernel.alive and not self.pending()

    def pending(self) -> list[Task]:
        """Tasks that have not ended, but for those of schedules that are due after the world's end."""
        return [
            item
            for bucket in self.tasks.buckets.values()
            for item in bucket.values()
            if isinstance(item, Task)
            and item.state is not State.MOVED
            and item.task_id not in self.watch.ended
            and item.run_at < self.kernel.now + FAR
        ]

    def needs_a_tick(self) -> bool:
        """There is something for a tick to do, or will be before the next."""
        reach = self.kernel.now + self.timing.look_ahead + 2 * MINUTE
        return any(
            isinstance(item, OpenClaim) or (item.state is State.SCHEDULED and item.run_at < reach)
            for bucket in self.tasks.buckets.values()
            for item in bucket.values()
        )

    def check_end(self) -> None:
        """Every task is final and found by its id, and the dead are listed. A last tick settles all buckets;
        the audit finds nothing to repair in them."""
        if lost := self.pending():
            raise Violation("lost", f"{len(lost)} tasks, the first {lost[0]}")
        reads = ReadTask(self.tasks, self.ledger, self.clock())
        for task_id, ending in self.watch.ended.items():
            self._check_status(task_id, ending, reads)
        for run_id in self.tasks.letters:
            if ending_of(self.ledger.get(run_id)) is not Ending.DEAD:
                raise Violation("dead", f"{run_id} is listed and is not dead")
        self.schedule_watch.check_end(self.schedules)
        self.slots.check_end()
        self._check_that_all_is_settled()

    def _check_status(self, task_id: str, ending: Ending, reads: ReadTask) -> None:
        try:
            view = reads(task_id)
        except MinuteroError as error:
            raise Violation(
                "lost", f"{task_id} ended {ending} and cannot be read: {error}"
            ) from None
        if view.status not in FINAL:
            raise Violation("lost", f"{task_id} ended {ending} and reads as {view.status}")
        if task_id in self.watch.cancelled and view.status is not Status.CANCELLED:
            raise Violation("cancelled", f"{task_id} was cancelled and reads as {view.status}")
        is_off = ending_of(view.run) is Ending.DISCARDED
        listed = view.task.run_id in self.tasks.letters
        if view.status is Status.DEAD and listed is is_off:
            raise Violation("lost", f"{task_id} is dead, listed {listed}, discarded {is_off}")

    def _check_that_all_is_settled(self) -> None:
        self.kernel.now += AFTERWARDS
        self._tick("the last but one")
        if self._behind():
            # It found work, and what is served is settled by the next at the latest.
            self._tick("the last")
        if behind := self._behind():
            raise Violation("stuck", f"nothing is left to do, and the watermark stays: {behind}")
        # An audit looks at the schedules of one partition, whichever is due then.
        for _ in range(PARTITIONS if self.schedules.schedules else 1):
            self.kernel.now += SECOND
            self._audit()

    def _behind(self) -> list[Cursor]:
        settled = minute_of(self.kernel.now - self.timing.settle_grace) - MINUTE
        cursors = self.cursors.cursors.values()
        return [cursor for cursor in cursors if cursor.watermark < settled]


class _CurrentClock:
    """The clock of the process that asks."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self.now = kernel.own_now

    def sleep(self, ms: int) -> None:
        self._kernel.pause(ms)
