"""Everything a client, a tick, a worker and the dead-letter function may do, in any order."""

import sys

import pytest
from faults import ProcessDied, fails_all, is_down, loses_its_answer, process_dies
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, precondition, rule
from model import ModelTask
from world import World

from minutero.domain.instants import HOUR, MINUTE, SECOND
from minutero.domain.new_task import NewTask
from minutero.errors import Conflict, KeyConflict, PermanentFailure, RetryLater, Unavailable
from minutero.service.dead_letter import Burial
from minutero.service.execute import Verdict

DUES = st.sampled_from([0, SECOND, 2 * MINUTE, 4 * MINUTE, 20 * MINUTE, 2 * HOUR])
PAUSES = st.sampled_from([1, SECOND, 40 * SECOND, MINUTE, 3 * MINUTE, 10 * MINUTE, 3 * HOUR])
MOST_TASKS = 4
VISIBILITY = MINUTE
LONG_PAUSE = 3_600
"""Seconds; longer than SQS can delay a message, so that the worker moves its own task."""

JOBS = [
    "succeeds",
    "skips",
    "fails",
    "gives up",
    "crashes",
    "asks for later",
    "is meddled with",
    "its start is not answered",
    "its end is not answered",
]


def has_room(machine):
    """So that more happens to each task."""
    return len(machine.model) < MOST_TASKS


class Machine(RuleBasedStateMachine):
    """`now` is every process's clock. What SQS does not get acknowledged waits in `kept`."""

    tasks = Bundle("tasks")

    def __init__(self):
        super().__init__()
        self.world = World(shards=2)
        self.world.job("echo", self._job)
        self.model = {}
        self.keys = {}
        self.kept = []
        self.received = []
        self.behaviour = "succeeds"

    @property
    def now(self):
        return self.world.clock.now()

    # --- clients

    @precondition(has_room)
    @rule(
        target=tasks,
        after=DUES,
        max_attempts=st.integers(1, 3),
        expires_after=st.sampled_from([None, None, 30]),
        fault=st.sampled_from(["", "", "not sent", "not marked"]),
    )
    def add(self, after, max_attempts, expires_after, fault):
        """A fault after the task is stored changes nothing for the client."""
        self._break(fault)
        new = NewTask(
            "echo",
            delay=after,
            max_attempts=max_attempts,
            expires_after_seconds=expires_after,
        )
        added = self._add(new)
        self.world.queue.heal()
        self.world.store.heal()
        assert added.created
        return self._accepted(added.task, after)

    @precondition(has_room)
    @rule(
        target=tasks,
        key=st.sampled_from(["k", "l"]),
        tenant=st.sampled_from(["", "acme"]),
        body=st.sampled_from(["this", "that"]),
        after=DUES,
        lost=st.booleans(),
    )
    def add_with_key(self, key, tenant, body, after, lost):
        """One key one task, whatever was lost on the way; each tenant has its own keys."""
        new = NewTask("echo", delay=after, key=key, tenant=tenant)
        holder, held_body = self.keys.get((tenant, key), (None, body))
        if lost:
            self.world.store.next("put_keyed", loses_its_answer)
            with pytest.raises(Unavailable):
                self._add(new, body)
        if held_body != body:
            with pytest.raises(KeyConflict) as conflict:
                self._add(new, body)
            assert conflict.value.task_id == holder.task_id
            return holder
        added = self._add(new, body)
        if holder is not None:
            assert (added.created, added.task.task_id) == (False, holder.task_id)
            return holder
        assert added.created is not lost
        task = self._accepted(added.task, after)
        self.keys[tenant, key] = (task, body)
        return task

    @rule(task=tasks, lost=st.booleans())
    def cancel(self, task, lost):
        """409 exactly when it is running or over; cancelling again is none."""
        allowed = task.is_open(self.now) or task.ending == "cancelled"
        if lost:
            self.world.store.next("cancel", loses_its_answer)
            with pytest.raises(Unavailable):
                self.world.cancel(task.task_id)
        self._told(allowed, self.world.cancel, task.task_id)
        if allowed:
            task.ends("cancelled")

    @rule(task=tasks, after=DUES)
    def reschedule(self, task, after):
        due = self.now + after
        allowed = task.is_open(self.now)
        self._told(allowed, self.world.move.reschedule, task.task_id, lambda now: now + after)
        if allowed:
            task.moves(due)

    @rule(task=tasks)
    def run_now(self, task):
        allowed = task.is_open(self.now)
        self._told(allowed, self.world.move.run_now, task.task_id)
        if allowed:
            task.moves(self.now)

    @rule(task=tasks)
    def redrive(self, task):
        self._redrive(task)

    @precondition(lambda self: self._dead())
    @rule(which=st.integers(0, 9))
    def redrive_what_is_dead(self, which):
        dead = self._dead()
        self._redrive(dead[which % len(dead)])

    def _redrive(self, task):
        allowed = task.ending == "dead"
        self._told(allowed, self.world.move.redrive, task.task_id)
        if allowed:
            task.moves(self.now)

    def _dead(self):
        return [task for task in self.model.values() if task.ending == "dead"]

    # --- time and ticks

    @rule(pause=PAUSES)
    def time_passes(self, pause):
        self.world.clock.advance(pause)

    @rule(owner=st.sampled_from(["one", "other"]))
    def tick(self, owner):
        self.world.tick(owner=owner)

    @rule(owner=st.sampled_from(["one", "other"]), fault=st.sampled_from([process_dies, fails_all]))
    def tick_that_cannot_send(self, owner, fault):
        self.world.queue.always("send", fault)
        try:
            self.world.tick(owner=owner)
        except ProcessDied:
            pass
        finally:
            self.world.queue.heal()

    # --- workers

    @precondition(lambda self: self._next_message() is not None)
    @rule(behaviour=st.sampled_from(JOBS))
    def work(self, behaviour):
        """On the next message, as soon as it is visible."""
        self.world.clock.set(max(self.now, self._next_message()))
        self._deliver(self._receive(), behaviour)

    @precondition(lambda self: len(self.world.queue))
    @rule(behaviour=st.sampled_from(JOBS))
    def work_too_early(self, behaviour):
        """A queue that thinks nothing of delays."""
        self._deliver(self.world.memory.queue.receive(self.now + HOUR), behaviour)

    @precondition(lambda self: self.received)
    @rule(which=st.integers(0, 9), behaviour=st.sampled_from(JOBS))
    def work_on_a_duplicate(self, which, behaviour):
        """SQS may deliver any message once more, also one that was acknowledged."""
        self._deliver(self.received[-1 - which % len(self.received)], behaviour, keep=False)

    @precondition(lambda self: self.kept)
    @rule()
    def sqs_gives_up(self):
        """A message received too often is moved to the dead-letter queue."""
        _, message = self.kept.pop(0)
        self.world.memory.queue.send_dead(message)

    @precondition(lambda self: self.world.dead)
    @rule()
    def bury(self):
        self._bury()

    def _bury(self):
        message = self.world.dead.pop(0)
        task = self.model[message.pointer.task_id]
        burial = self.world.bury_message(message.pointer)
        if message.pointer.run_id != task.run_id:
            assert burial in {Burial.NOT_DEAD, Burial.ORPHAN}
        elif task.is_running(self.now):
            assert burial is Burial.KEPT
            self.world.dead.append(message)
        elif task.ending in {"", "dead"}:
            assert burial is Burial.LISTED
            task.ends("dead")
        else:
            assert burial is Burial.NOT_DEAD

    # --- what always holds

    @invariant()
    def every_accepted_task_is_found_and_told_as_it_is(self):
        for task in self.model.values():
            view = self.world.read_task(task.task_id)
            assert view.task.task_id == task.task_id
            assert view.status in task.statuses(self.now), f"{task} is {view.status}"

    @invariant()
    def nothing_is_stored_that_nobody_added(self):
        items = [
            item for bucket in self.world.memory.tasks.buckets.values() for item in bucket.values()
        ]
        assert {item.task_id for item in items if hasattr(item, "task_id")} == self.model.keys()

    def teardown(self):
        """In the end all is over: nothing was lost, and what was redriven ran."""
        if sys.exc_info()[0] is not None:
            return
        for _ in range(60):
            self.world.tick()
            while (self._next_message() or self.now + 1) <= self.now:
                self._deliver(self._receive(), "succeeds")
            for _ in range(len(self.world.dead)):
                self._bury()
            self.every_accepted_task_is_found_and_told_as_it_is()
            waiting = [task for task in self.model.values() if not task.ending]
            if not waiting:
                return
            times = [*(task.due for task in waiting), self._next_message() or 0]
            self.world.clock.set(min([self.now + 10 * MINUTE, *(t for t in times if t > self.now)]))
            self.world.clock.advance(SECOND)
        raise AssertionError(f"lost: {waiting}")

    # --- the parts

    def _add(self, new, body_hash=""):
        return self.world.add_task(new, body_hash)

    def _accepted(self, stored, after):
        task = ModelTask(
            f"task {len(self.model) + 1}",
            stored.task_id,
            self.now + after,
            stored.max_attempts,
            stored.expires_after_seconds,
        )
        self.model[task.task_id] = task
        return task

    def _break(self, fault):
        if fault == "not sent":
            self.world.queue.always("send", fails_all)
        elif fault == "not marked":
            self.world.store.always("mark_sent", is_down)

    def _told(self, allowed, call, *args):
        if allowed:
            call(*args)
            return
        with pytest.raises(Conflict):
            call(*args)

    def _next_message(self):
        """When the next message becomes visible, None when there is none."""
        waiting = self.world.memory.queue.next_visible()
        times = [visible for visible, _ in self.kept] + ([] if waiting is None else [waiting])
        return min(times, default=None)

    def _receive(self):
        message = self.world.memory.queue.receive(self.now)
        if message is None:
            message = self.kept.pop(0)[1]
        self.received.append(message)
        return message

    def _deliver(self, message, behaviour, *, keep=True):
        """One delivery, held against the model; kept for later when it is not acknowledged."""
        self.behaviour = behaviour
        if behaviour == "its start is not answered":
            self.world.ledger.next("start", loses_its_answer)
        elif behaviour == "its end is not answered":
            self.world.ledger.next("finish", loses_its_answer)
        task, pointer = self.model[message.pointer.task_id], message.pointer
        runs = len(self.world.runs)
        expected, starts, why = self._expect(task, pointer, behaviour)
        deadline = self.now + self.world.timing.worker_timeout
        try:
            stored = self.world.store.get(pointer.place)
            verdict = self.world.execute(pointer, stored, deadline)
        except (ProcessDied, Unavailable):
            verdict = Verdict.KEPT
        self.world.ledger.heal()
        started = len(self.world.runs) - runs
        assert started == starts, f"{task} ({why}) started {started} times, not {starts}"
        assert verdict in expected, f"{task} ({why}): {verdict}"
        if keep and verdict is Verdict.KEPT:
            self.kept.append((self.now + VISIBILITY, message))
            self.kept.sort(key=lambda one: one[0])

    def _expect(self, task, pointer, behaviour):
        """(verdicts, starts of the job, why) of one delivery; the model goes on to what it leads to."""
        unanswered = {Verdict.KEPT} if behaviour == "its start is not answered" else None
        if pointer.run_id != task.run_id:
            gone = {Verdict.ORPHAN, Verdict.KNOWN, Verdict.RESENT}
            return gone | (unanswered or set()), 0, "moved away"
        if self.now < max(task.due, pointer.due):
            return {Verdict.RESENT}, 0, "not due"
        if not task.is_open(self.now):
            known = Verdict.KNOWN if task.ending else Verdict.RESENT
            return unanswered or {known}, 0, task.ending or "running"
        return self._expect_a_start(task, behaviour)

    def _expect_a_start(self, task, behaviour):
        timing = self.world.timing
        task.starts(self.now + timing.worker_timeout + timing.run_margin)
        if behaviour == "its start is not answered":
            return {Verdict.KEPT}, 0, behaviour
        ending, starts = self._ending(task, behaviour)
        if ending:
            task.ends(ending)
            unsaid = behaviour == "its end is not answered"
            return {Verdict.KEPT if unsaid else Verdict.ENDED}, starts, behaviour
        if behaviour == "crashes":
            return {Verdict.KEPT}, 1, behaviour
        task.fails()
        if behaviour == "asks for later":
            task.moves(self.now + LONG_PAUSE * SECOND, attempts_before=task.attempt)
        return {Verdict.RESENT}, 1, behaviour

    def _ending(self, task, behaviour):
        """How this attempt ends its run ("" if it does not), and the starts of the job."""
        if task.attempt > task.max_attempts:
            return "dead", 0
        if task.has_expired(self.now):
            return "expired", 0
        if behaviour == "crashes":
            return "", 1
        if behaviour in {"fails", "asks for later"}:
            return "dead" if task.attempt == task.max_attempts else "", 1
        return {"gives up": "dead", "skips": "skipped"}.get(behaviour, "succeeded"), 1

    def _job(self, payload, run):
        match self.behaviour:
            case "skips":
                run.skip("nothing to do")
            case "fails":
                raise ValueError("no such wallet")
            case "gives up":
                raise PermanentFailure("account closed")
            case "crashes":
                raise ProcessDied
            case "asks for later":
                raise RetryLater(LONG_PAUSE)
            case "is meddled with":
                move = self.world.move
                self._told(False, self.world.cancel, run.task_id)
                self._told(False, move.reschedule, run.task_id, lambda now: now + HOUR)
                self._told(False, move.run_now, run.task_id)
                self._told(False, move.redrive, run.task_id)
