"""One delivery of a message: what is run, what comes back, what is acknowledged."""

import json
import math
from datetime import UTC, datetime

import pytest
from faults import ProcessDied, fails_all, is_down, loses_its_answer, process_dies, refuses_all
from world import NOW

from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.run import Ending, Outcome
from minutero.errors import PermanentFailure, RetryLater, Unavailable
from minutero.http.answers import task_answer
from minutero.service.execute import ATTEMPTS_SPENT, Verdict
from minutero.service.letters import letter_of


def fails(payload, run):
    raise ValueError("no such wallet")


def gives_up(payload, run):
    raise PermanentFailure("account closed")


def asks_for(seconds):
    def later(payload, run):
        raise RetryLater(seconds)

    return later


def dies(payload, run):
    raise ProcessDied


@pytest.fixture
def task(world):
    """A task that is due now, its message taken from the queue."""
    task = world.add(payload='{"n": 1}')
    world.memory.queue.receive(NOW)
    world.queue.calls.clear()
    return task


# --- what the job is called with


def test_a_job_is_called_with_its_payload_and_run(world, task):
    seen = []

    def job(payload, run):
        seen.append((payload, run, run.remaining()))
        world.clock.advance(10 * SECOND)
        seen.append(run.remaining())
        world.clock.advance(10 * MINUTE)
        seen.append(run.remaining())
        return {"ok": True}

    world.job("echo", job)
    assert world.deliver(task) is Verdict.ENDED
    (payload, run, remaining), later, overdue = seen
    assert payload == {"n": 1}
    assert (run.task_id, run.key, run.attempt) == (task.task_id, task.task_id, 1)
    assert run.run_at == run.scheduled_for == datetime.fromtimestamp(NOW / 1000, UTC)
    assert (run.trigger, run.is_catch_up) == ("task", False)
    assert (remaining, later, overdue) == (60, 50, 0)
    assert world.record(task).outcome == Outcome(Ending.SUCCEEDED, '{"ok":true}')


def test_a_task_without_a_payload_calls_its_job_with_none(world):
    world.job("echo", lambda payload, run: [payload])
    bare = world.add()
    world.deliver(bare)
    assert json.loads(world.record(bare).outcome.result) == [None]


def test_the_key_to_pass_on_never_changes(world, task):
    keys = []

    def job(payload, run):
        keys.append((run.key, run.attempt))
        raise ValueError

    world.job("echo", job)
    for _ in range(2):
        world.deliver(task)
    moved = world.move.reschedule(task.task_id, lambda now: now)
    world.deliver(moved)
    assert keys == [(task.task_id, 1), (task.task_id, 2), (task.task_id, 1)]


# --- early


@pytest.mark.parametrize(("ahead", "delay"), [(1, 1), (1000, 1), (1001, 2), (HOUR, 900)])
def test_an_early_message_is_sent_again_and_runs_nothing(world, ahead, delay):
    early = world.add(after=ahead)
    world.queue.calls.clear()
    assert world.deliver(early) is Verdict.RESENT
    [[message]] = world.queue.called("send")[0]
    assert (message.pointer, message.delay) == (early.pointer, delay)
    assert world.runs == []
    assert world.record(early) is None


def test_a_message_that_says_it_is_due_does_not_make_its_task_early(world):
    early = world.add(after=MINUTE)
    pointer = type(early.pointer)(early.place, NOW - 1)
    assert world.deliver(early, pointer) is Verdict.RESENT
    assert world.runs == []


# --- duplicates


def test_a_duplicate_of_a_finished_run_is_known_and_runs_nothing(world, task):
    assert world.deliver(task) is Verdict.ENDED
    record = world.record(task)
    world.clock.advance(DAY)
    assert world.deliver(task) is Verdict.KNOWN
    assert len(world.runs) == 1
    assert world.record(task) == record
    assert world.queue.calls == []


def test_a_duplicate_of_a_running_run_is_sent_again_for_the_rest_of_its_time(world, task):
    verdicts = []

    def job(payload, run):
        world.clock.advance(20 * SECOND)
        verdicts.append(world.deliver(task))

    world.job("echo", job)
    assert world.deliver(task) is Verdict.ENDED
    assert verdicts == [Verdict.RESENT]
    assert len(world.runs) == 1
    # 60 s of its process and 30 s for skewed clocks, 20 s of them gone.
    assert world.waiting()[0].delay in (70, 71)


def test_a_run_whose_process_died_runs_again_after_its_time_and_the_crash_counts(world, task):
    world.job("echo", dies)
    with pytest.raises(ProcessDied):
        world.deliver(task)
    assert world.status(task) == "running"
    assert world.deliver(task) is Verdict.RESENT
    world.job("echo", lambda payload, run: "done")
    world.clock.advance(90 * SECOND)
    assert world.deliver(task) is Verdict.RESENT
    world.clock.advance(1)
    assert world.status(task) == "retrying"
    assert world.deliver(task) is Verdict.ENDED
    assert [attempt for _, attempt, _ in world.runs] == [1, 2]
    assert world.record(task).attempts == 2


def test_a_run_that_dies_each_time_is_dead_without_one_start_more(world, task):
    world.job("echo", dies)
    for _ in range(5):
        with pytest.raises(ProcessDied):
            world.deliver(task)
        world.clock.advance(91 * SECOND)
    assert world.deliver(task) is Verdict.ENDED
    assert len(world.runs) == 5
    assert world.record(task).outcome == Outcome(Ending.DEAD, reason=ATTEMPTS_SPENT)
    assert [message.reason for message in world.dead] == [ATTEMPTS_SPENT]


# --- failures


@pytest.mark.parametrize(("chance", "delay"), [(0, 1), (1, 2)])
def test_a_failed_attempt_is_tried_again_after_a_pause(world, task, chance, delay):
    world.job("echo", fails)
    world.chance = chance
    assert world.deliver(task) is Verdict.RESENT
    [message] = world.waiting()
    assert (message.pointer.place, message.pointer.due) == (task.place, NOW + delay * SECOND)
    assert message.delay == delay
    [failure] = world.record(task).failures
    assert (failure.number, failure.at, failure.error) == (1, NOW, "ValueError: no such wallet")


def test_the_pauses_between_attempts_grow(world, task):
    world.job("echo", fails)
    world.chance = 1
    delays = []
    pointer = task.pointer
    for _ in range(4):
        assert world.deliver(task, pointer) is Verdict.RESENT
        [message] = world.waiting()
        delays.append(message.delay)
        world.clock.advance(message.delay * SECOND)
        pointer = world.memory.queue.receive(world.clock.now()).pointer
    assert delays == [2, 4, 8, 16]
    assert [attempt for _, attempt, _ in world.runs] == [1, 2, 3, 4]


def test_a_retry_that_comes_too_soon_waits_for_its_time(world, task):
    world.job("echo", fails)
    world.chance = 1
    world.deliver(task)
    retry = world.waiting()[0].pointer
    world.clock.advance(SECOND)
    assert world.deliver(task, retry) is Verdict.RESENT
    assert len(world.runs) == 1


def test_the_last_attempt_ends_as_dead_and_its_message_goes_to_the_dead_letters(world):
    task = world.add(max_attempts=3)
    world.job("echo", fails)
    verdicts = [world.deliver(task) for _ in range(3)]
    assert verdicts == [Verdict.RESENT, Verdict.RESENT, Verdict.ENDED]
    assert world.record(task).outcome == Outcome(Ending.DEAD, reason="ValueError: no such wallet")
    [message] = world.dead
    assert (message.pointer, message.reason) == (task.pointer, "ValueError: no such wallet")
    assert world.status(task) == "dead"


def test_one_attempt_means_one(world):
    task = world.add(max_attempts=1)
    world.job("echo", fails)
    assert world.deliver(task) is Verdict.ENDED
    assert len(world.runs) == 1


def test_a_permanent_failure_is_dead_at_once(world, task):
    world.job("echo", gives_up)
    assert world.deliver(task) is Verdict.ENDED
    assert world.record(task).outcome.ending is Ending.DEAD
    assert [message.reason for message in world.dead] == ["PermanentFailure: account closed"]


def test_who_finds_a_run_dead_sends_it_to_the_dead_letters_again(world, task):
    """Whoever ended it may have crashed before it did."""
    world.job("echo", gives_up)
    world.queue.next("send_dead", is_down)
    with pytest.raises(Unavailable):
        world.deliver(task)
    assert world.dead == []
    assert world.deliver(task) is Verdict.KNOWN
    assert [message.pointer for message in world.dead] == [task.pointer]
    assert len(world.runs) == 1


def test_a_late_message_of_a_discarded_run_is_acknowledged_and_goes_nowhere(world, task):
    world.job("echo", gives_up)
    world.deliver(task)
    letter = letter_of(task, world.record(task), world.timing)
    assert world.memory.tasks.discard(letter)
    world.dead.clear()
    assert world.deliver(task) is Verdict.KNOWN
    assert world.dead == []
    assert len(world.runs) == 1


def test_an_error_of_this_package_within_a_job_is_a_failed_attempt(world, task):
    world.job("echo", lambda payload, run: is_down(None))
    assert world.deliver(task) is Verdict.RESENT
    assert world.record(task).failures[0].error == "Unavailable: down"


def test_a_job_that_is_not_deployed_is_a_failed_attempt(world, task):
    world.registry._jobs.clear()
    assert world.deliver(task) is Verdict.RESENT
    assert "'echo'" in world.record(task).failures[0].error
    for _ in range(4):
        world.deliver(task)
    assert world.status(task) == "dead"


# --- RetryLater


@pytest.mark.parametrize(("seconds", "delay"), [(0, 0), (0.25, 1), (30, 30), (900, 900)])
def test_a_job_says_when_it_wants_to_be_tried_again(world, task, seconds, delay):
    world.job("echo", asks_for(seconds))
    assert world.deliver(task) is Verdict.RESENT
    [message] = world.waiting()
    assert message.delay == delay
    assert message.pointer.due == NOW + seconds * SECOND
    assert world.record(task).attempts == 1


def test_a_retry_beyond_the_longest_delay_moves_the_task_and_carries_its_attempts(world, task):
    world.job("echo", asks_for(901))
    assert world.deliver(task) is Verdict.RESENT
    assert len(world.queue) == 0
    moved = world.read_task(task.task_id).task
    assert (moved.run_no, moved.run_at, moved.attempts_before) == (1, NOW + 901 * SECOND, 1)
    assert world.record(task).outcome.ending is Ending.SUPERSEDED
    assert world.deliver(task) is Verdict.KNOWN
    world.job("echo", lambda payload, run: run.attempt)
    world.play(minutes=16)
    assert [(attempt, at - NOW) for _, attempt, at in world.runs] == [(1, 0), (2, 901 * SECOND)]
    assert world.status(task) == "succeeded"


def test_attempts_of_a_task_that_moved_itself_are_counted_on(world):
    task = world.add(max_attempts=3)
    world.job("echo", asks_for(1000))
    world.play(minutes=60)
    assert [attempt for _, attempt, _ in world.runs] == [1, 2, 3]
    assert world.status(task) == "dead"
    assert len(world.dead) == 1


def test_the_errors_of_a_task_that_moved_itself_stay_in_its_history(world):
    task = world.add(max_attempts=3)
    world.job("echo", asks_for(1000))
    world.play(minutes=20)
    told = task_answer(world.read_task(task.task_id))
    failed = [entry for entry in told["history"] if entry["failed_at"]]
    assert [entry["attempt"] for entry in failed] == [1, 2]
    assert all("1000 s" in entry["error"] for entry in failed)
    assert told["error"] == failed[-1]["error"]


def test_attempts_of_a_task_that_moved_itself_are_told(world):
    task = world.add()
    world.job("echo", asks_for(1000))
    world.work()
    assert task_answer(world.read_task(task.task_id))["attempts"] == 1
    world.job("echo", lambda payload, run: None)
    world.play(minutes=18)
    assert task_answer(world.read_task(task.task_id))["attempts"] == 2


@pytest.mark.parametrize("seconds", [-1, -1e300, math.nan, math.inf, "5", None])
def test_a_retry_at_no_time_at_all_is_a_failed_attempt(world, task, seconds):
    """It must come again in some seconds: neither at once, nor never."""
    world.job("echo", asks_for(seconds))
    assert world.deliver(task) is Verdict.RESENT
    [message] = world.waiting()
    assert 0 <= message.delay <= 2
    assert world.record(task).attempts == 1


# --- other ends


def test_a_run_that_skips_ends_as_skipped(world, task):
    world.job("echo", lambda payload, run: run.skip("a holiday"))
    assert world.deliver(task) is Verdict.ENDED
    assert world.record(task).outcome == Outcome(Ending.SKIPPED, reason="a holiday")
    assert world.dead == []


def test_a_reason_of_any_length_can_be_stored(world, task):
    world.job("echo", lambda payload, run: run.skip("x" * 1_000_000 + "\ud800"))
    world.deliver(task)
    reason = world.record(task).outcome.reason
    assert len(reason.encode()) <= 2000


def test_a_task_that_starts_too_late_expires(world):
    task = world.add(expires_after_seconds=60)
    world.clock.advance(60 * SECOND + 1)
    assert world.deliver(task) is Verdict.ENDED
    assert world.runs == []
    assert world.status(task) == "expired"


def test_a_task_that_starts_just_in_time_does_not(world):
    task = world.add(expires_after_seconds=60)
    world.clock.advance(60 * SECOND)
    world.deliver(task)
    assert world.status(task) == "succeeded"


def test_only_the_first_start_can_be_too_late(world):
    task = world.add(expires_after_seconds=60)
    world.job("echo", fails)
    world.deliver(task)
    world.job("echo", lambda payload, run: None)
    world.clock.advance(HOUR)
    world.deliver(task)
    assert world.status(task) == "succeeded"


def test_a_required_result_that_is_missing_is_a_failure(world):
    world.job("close", lambda payload, run: None, result_required=True)
    task = world.add("close")
    assert world.deliver(task) is Verdict.RESENT
    assert "result is required" in world.record(task).failures[0].error
    world.job("close", lambda payload, run: 0, result_required=True)
    assert world.deliver(task) is Verdict.ENDED


def test_a_result_that_cannot_be_stored_does_not_run_the_job_again(world, task):
    world.job("echo", lambda payload, run: object())
    assert world.deliver(task) is Verdict.ENDED
    assert world.deliver(task) is Verdict.KNOWN
    assert len(world.runs) == 1
    assert world.record(task).outcome.note.startswith("result dropped")


def test_a_cancelled_run_never_starts(world, task):
    world.cancel(task.task_id)
    assert world.deliver(task) is Verdict.KNOWN
    assert world.runs == []


def test_a_message_without_a_task_is_an_orphan(world, task):
    deadline = NOW + MINUTE
    assert world.execute(task.pointer, None, deadline) is Verdict.ORPHAN
    assert world.runs == []
    assert world.queue.calls == []


# --- fences


@pytest.mark.parametrize("end", ["succeeds", "fails"])
def test_a_run_overtaken_after_its_time_is_kept_and_writes_nothing(world, task, end):
    def overstays(payload, run):
        if run.attempt == 1:
            world.clock.advance(91 * SECOND)
            assert world.deliver(task) is Verdict.ENDED
            if end == "fails":
                raise ValueError("too late")
        return run.attempt

    world.job("echo", overstays)
    assert world.deliver(task) is Verdict.KEPT
    record = world.record(task)
    assert (record.outcome.result, record.failures) == ("2", ())
    assert world.deliver(task) is Verdict.KNOWN


def held_up_after_its_start(world, ms, meanwhile=lambda: None):
    """The next start takes effect, and the process goes on only so much later."""

    def start(real, *args):
        record = real(*args)
        world.clock.advance(ms)
        meanwhile()
        return record

    world.ledger.next("start", start)


def test_an_attempt_held_up_until_another_has_ended_its_run_does_not_begin(world, task):
    held_up_after_its_start(world, 91 * SECOND, lambda: world.deliver(task))
    assert world.deliver(task) is Verdict.KEPT
    assert [attempt for _, attempt, _ in world.runs] == [2]


def test_an_attempt_held_up_until_its_time_is_over_fails_and_is_followed_by_another(world, task):
    held_up_after_its_start(world, 60 * SECOND)
    assert world.deliver(task) is Verdict.RESENT
    assert world.runs == []
    assert "its time was over" in world.record(task).failures[0].error
    world.clock.advance(MINUTE)
    world.work()
    assert [attempt for _, attempt, _ in world.runs] == [2]


@pytest.mark.parametrize("fault", [fails_all, refuses_all])
def test_a_retry_that_cannot_be_sent_keeps_its_message(world, task, fault):
    world.job("echo", fails)
    world.queue.always("send", fault)
    assert world.deliver(task) is Verdict.KEPT


@pytest.mark.parametrize("fault", [fails_all, refuses_all])
def test_an_early_message_that_cannot_be_sent_again_is_kept(world, fault):
    early = world.add(after=MINUTE)
    world.queue.always("send", fault)
    assert world.deliver(early) is Verdict.KEPT


@pytest.mark.parametrize("fault", [is_down, loses_its_answer])
def test_a_queue_that_does_not_answer_keeps_the_message_and_the_failure_is_counted(
    world, task, fault
):
    world.job("echo", fails)
    world.queue.always("send", fault)
    with pytest.raises(Unavailable):
        world.deliver(task)
    assert world.record(task).attempts == 1
    assert len(world.record(task).failures) == 1


@pytest.mark.parametrize("fault", [is_down, loses_its_answer, process_dies])
def test_a_ledger_that_does_not_answer_the_start_runs_nothing(world, task, fault):
    world.ledger.next("start", fault)
    with pytest.raises((Unavailable, ProcessDied)):
        world.deliver(task)
    assert world.runs == []
    world.clock.advance(91 * SECOND)
    assert world.deliver(task) is Verdict.ENDED


def test_the_run_is_held_until_the_end_of_its_process_and_a_margin(world, task):
    held = []
    world.job("echo", lambda payload, run: held.append(world.record(task).in_progress_until))
    world.deliver(task)
    assert held == [NOW + 60 * SECOND + 30 * SECOND]


def test_a_run_record_is_kept_for_the_retention_from_its_start(world, task):
    world.clock.advance(2 * DAY)
    world.deliver(task)
    assert world.memory.ledger.keep_until[task.run_id] == (NOW + 32 * DAY) // SECOND
