"""A whole deployment in memory, under a clock that is moved by hand."""

from collections import defaultdict

from faults import Faulty, is_down

from minutero.domain.buckets import bucket_name
from minutero.domain.exchanged import Growth
from minutero.domain.instants import MINUTE, SECOND, parse_instant
from minutero.domain.new_task import NewTask
from minutero.domain.task import Task, new_task_id, place_of
from minutero.domain.timing import Timing
from minutero.jobs import Job, JobRegistry
from minutero.service.add_task import AddTask
from minutero.service.audit import Auditor
from minutero.service.cancel import CancelTask
from minutero.service.claim_batch import ClaimBatch
from minutero.service.dead_letter import BuryMessage
from minutero.service.dispatch import Dispatcher
from minutero.service.execute import Execute
from minutero.service.explain import ExplainSchedule
from minutero.service.fire import FireOccurrences
from minutero.service.job_catalog import JobCatalog
from minutero.service.move import MoveTask
from minutero.service.overlap import OneAtATime
from minutero.service.pass_on import PassOn
from minutero.service.pause_schedule import PauseSchedule
from minutero.service.put_schedule import PutSchedule
from minutero.service.read_task import ReadTask
from minutero.service.rearm import Rearm
from minutero.service.revise_schedule import ReviseSchedule
from minutero.service.run_schedule import RunScheduleNow
from minutero.service.send_fired import SendFired
from minutero.service.send_near import SendNear
from minutero.service.shards import Shards
from minutero.testing import Memory, SettableClock
from minutero.testing.memory import LedgerRunOnce, MemoryScheduleStore, MemoryTaskStore, one_by_one

NOW = parse_instant("2026-11-29T20:21:00Z")
ENOUGH = 45 * SECOND
"""The time of a tick, before no batch is begun any more."""


def make_task(**more):
    """A task value due now, never stored."""
    task_id = new_task_id(NOW, 8)
    fields = {"run_at": NOW, "created_at": NOW, "keep_until": 0, **more}
    return Task(task_id, 0, place_of(task_id, 0, NOW), "echo", **fields)


class Counted:
    """A meter that keeps each value it was told, by metric."""

    def __init__(self):
        self.values = defaultdict(list)

    def add(self, metric, value=1):
        self.values[metric].append(value)

    def totals(self):
        """What is not nothing, added up."""
        return {metric: sum(values) for metric, values in self.values.items() if any(values)}


class World:
    """One deployment. Its stores, queue, cursors and settings can be told to fail (`faults.Faulty`).

    `runs` lists each start of a job as (task id, attempt, milliseconds); what a job does is
    `world.jobs["echo"] = lambda payload, run: ...`.
    """

    def __init__(self, now=NOW, shards=1, page=500, timing=None):
        self.clock = SettableClock(now)
        self.timing = timing or Timing()
        self.memory = Memory()
        self.memory.tasks = MemoryTaskStore(self.memory.ledger, page)
        self.memory.schedules = MemoryScheduleStore(self.memory.tasks, self.memory.ledger)
        self.memory.queue.clock = self.clock
        self.memory.settings.grow(Growth(shards, now - 60 * MINUTE))
        self.store = Faulty(self.memory.tasks)
        self.schedules = Faulty(self.memory.schedules)
        self.locks = Faulty(self.memory.locks)
        self.slots = Faulty(self.memory.slots)
        self.queue = Faulty(self.memory.queue)
        self.cursors = Faulty(self.memory.cursors)
        self.settings = Faulty(self.memory.settings)
        self.ledger = Faulty(self.memory.ledger)
        self.shards = Shards(self.settings, shards)
        self.catalog = JobCatalog(self.settings)
        self.runs = []
        self.meter = Counted()
        self.registry = JobRegistry()
        self.jobs = {}
        self.job("echo", lambda payload, run: payload)
        self.chance = 0.5
        self.oldest_message = lambda now: now

    def job(self, name, function, *, result_required=False):
        """Deploys a job, or another body for it."""
        self.jobs[name] = function

        def record(payload, run):
            self.runs.append((run.task_id, run.attempt, self.clock.now()))
            return self.jobs[name](payload, run)

        record.__qualname__ = name
        self.registry.add(Job(name, record, result_required))
        self.memory.settings.announce_jobs(self.registry.names())

    # --- the services

    @property
    def add_task(self):
        return AddTask(
            self.store, self.queue, self.shards, self.catalog, self.clock, self.timing, self.meter
        )

    @property
    def read_task(self):
        return ReadTask(self.store, self.ledger, self.clock)

    @property
    def run_once(self):
        return LedgerRunOnce(self.ledger, self.clock)

    @property
    def execute(self):
        return Execute(
            store=self.store,
            queue=self.queue,
            run_once=self.run_once,
            one_at_a_time=OneAtATime(self.locks, self.clock, self.timing),
            slots=self.slots,
            jobs=self.registry,
            clock=self.clock,
            timing=self.timing,
            chance=lambda: self.chance,
            meter=self.meter,
        )

    @property
    def fire(self):
        return FireOccurrences(self.schedules, self.clock, self.timing, one_by_one, self.meter)

    @property
    def pass_on(self):
        return PassOn(self.fire, self.shards, self.clock)

    @property
    def send_near(self):
        return SendNear(self.store, self.queue, self.clock, self.timing, self.meter)

    @property
    def revise(self):
        send = SendFired(self.fire, self.send_near, self.shards, self.clock)
        return ReviseSchedule(
            self.schedules, self.store, self.ledger, send, self.shards, self.clock, self.timing
        )

    @property
    def put_schedule(self):
        return PutSchedule(self.revise, self.catalog)

    @property
    def pause_schedule(self):
        return PauseSchedule(self.revise)

    @property
    def explain(self):
        return ExplainSchedule(self.schedules, self.store, self.ledger, self.clock)

    @property
    def rearm(self):
        return Rearm(self.revise)

    @property
    def run_schedule(self):
        return RunScheduleNow(
            self.schedules,
            self.store,
            self.send_near,
            self.shards,
            self.clock,
            self.timing,
            self.meter,
        )

    @property
    def bury_message(self):
        return BuryMessage(self.store, self.ledger, self.clock, self.timing, None, self.meter)

    @property
    def cancel(self):
        return CancelTask(self.store, self.pass_on, self.clock, self.timing)

    @property
    def move(self):
        return MoveTask(
            self.store, self.ledger, self.send_near, self.pass_on, self.clock, self.timing
        )

    @property
    def auditor(self):
        return Auditor(
            store=self.store,
            ledger=self.ledger,
            queue=self.queue,
            cursors=self.cursors,
            clock=self.clock,
            timing=self.timing,
            parallel=one_by_one,
            fire=self.fire,
            oldest_message=self.oldest_message,
        )

    def dispatcher(self, owner="dispatcher-1"):
        return Dispatcher(
            store=self.store,
            queue=self.queue,
            cursors=self.cursors,
            clock=self.clock,
            timing=self.timing,
            parallel=one_by_one,
            fire=self.fire,
            owner=owner,
        )

    def batch(self, enough=ENOUGH):
        """A ClaimBatch whose time is up `enough` milliseconds from now."""
        until = self.clock.now() + enough
        return ClaimBatch(self.dispatcher(), 1, lambda: self.clock.now() >= until)

    # --- what happens

    def add(self, job="echo", *, after=None, at=None, body_hash="", **more):
        """Adds a task due `after` milliseconds from now, or `at` an instant, or now."""
        run_at = self.clock.now() + after if after is not None else at
        return self.add_task(NewTask(job, run_at=run_at, **more), body_hash).task

    def add_crashed(self, **more):
        """Adds a task whose writer dies once it is stored: near, and still `scheduled`."""
        queue, self.queue = self.queue, Faulty(None)
        self.queue.always("send", is_down)
        try:
            return self.add(**more)
        finally:
            self.queue = queue

    def tick(self, enough=ENOUGH, owner="dispatcher-1"):
        """One tick over all shards; its reports by shard."""
        now = self.clock.now()
        growth = self.shards.for_dispatch(now)
        reports = self.dispatcher(owner).tick(range(growth[-1].shards), growth, now + enough)
        return {report.shard: report for report in reports}

    def deliver(self, task, pointer=None):
        """One delivery of a task's message to a worker, as often as one likes."""
        deadline = self.clock.now() + self.timing.worker_timeout
        return self.execute(pointer or task.pointer, self.store.get(task.place), deadline)

    def work(self):
        """Delivers every message that is visible now, once; what became of each."""
        visible = []
        while (message := self.memory.queue.receive(self.clock.now())) is not None:
            visible.append(message.pointer)
        deadline = self.clock.now() + self.timing.worker_timeout
        return [self.execute(p, self.store.get(p.place), deadline) for p in visible]

    def play(self, minutes):
        """Ticks each minute and works each second."""
        for second in range(minutes * 60):
            if second % 60 == 0:
                self.tick()
            self.work()
            self.clock.advance(SECOND)

    # --- what came of it

    def stored(self, task):
        return self.memory.tasks.get(task.place)

    def status(self, task):
        return self.read_task(task.task_id).status

    def record(self, task):
        return self.memory.ledger.get(task.run_id)

    def bucket(self, ms, shard=0):
        return bucket_name(ms, shard)

    def open_claims(self):
        """All open claims there are."""
        buckets = self.memory.tasks.buckets
        return [claim for bucket in buckets for claim in self.memory.tasks.open_claims(bucket)]

    def waiting(self):
        """The messages in the queue, soonest first, left there."""
        return [
            message for _, _, message in sorted(self.memory.queue._waiting, key=lambda w: w[:2])
        ]

    def waiting_ids(self):
        return [message.pointer.task_id for message in self.waiting()]

    def watermark(self, shard=0):
        return self.memory.cursors.cursors[shard].watermark

    @property
    def dead(self):
        """The dead-letter queue."""
        return self.memory.queue.dead
