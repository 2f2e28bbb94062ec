"""The life of a task, as `history` tells it."""

from dataclasses import replace

from world import NOW, make_task

from minutero.domain.history import Came, Happened, history_of
from minutero.domain.instants import HOUR, MINUTE, SECOND, format_instant
from minutero.domain.run import Attempt, Ending, Outcome, RunRecord
from minutero.errors import PermanentFailure, RetryLater
from minutero.http.history import history_answer
from minutero.service.read_task import EARLIER


def fails(payload, run):
    raise ValueError("no such wallet")


def gives_up(payload, run):
    raise PermanentFailure("account closed")


def told(world, task):
    return history_answer(world.read_task(task.task_id))


def whats(world, task):
    return [entry["what"] for entry in told(world, task)]


def attempts(world, task):
    return [entry for entry in told(world, task) if entry["what"] == "attempt"]


def at(after=0):
    return format_instant(NOW + after)


def test_a_task_that_a_tick_claimed_is_told_from_its_creation_to_its_end(world):
    def takes_a_second(payload, run):
        world.clock.advance(SECOND)

    world.job("echo", takes_a_second)
    task = world.add(after=5 * MINUTE)
    world.clock.advance(3 * MINUTE)
    world.tick()
    world.clock.advance(2 * MINUTE + 250)
    world.work()
    nothing = {"attempt": None, "failed_at": None, "error": None}
    assert told(world, task) == [
        {"what": "created", "at": at(), **nothing, "run_at": at(5 * MINUTE)},
        {
            "what": "claimed",
            "at": at(3 * MINUTE),
            **nothing,
            "claim_id": world.stored(task).claim_id,
            "early_ms": 2 * MINUTE,
        },
        {"what": "sent", "at": None, **nothing},
        {
            **nothing,
            "what": "attempt",
            "at": at(5 * MINUTE + 250),
            "attempt": 1,
            "came": "ended",
            "ended_at": at(5 * MINUTE + 1250),
        },
        {"what": "succeeded", "at": at(5 * MINUTE + 1250), **nothing},
    ]


def test_a_near_task_is_told_as_sent_when_its_writer_has_sent_it(world):
    task = world.add(after=SECOND)
    claimed, sent = told(world, task)[1:]
    assert (claimed["claim_id"], claimed["early_ms"]) == ("near", SECOND)
    assert (sent["what"], sent["at"]) == ("sent", at())


def test_a_claim_that_came_late_says_by_how_much(world):
    task = world.add_crashed()
    world.clock.advance(MINUTE)
    world.tick()
    assert told(world, task)[1]["early_ms"] == -MINUTE


def test_what_is_claimed_is_told_as_sent_only_when_its_claim_is_closed(world):
    task = world.add(after=5 * MINUTE)
    world.clock.advance(3 * MINUTE)
    world.store.next("close_claim", lambda real, claim: None)
    world.tick()
    assert whats(world, task) == ["created", "claimed"]
    for claim in world.open_claims():
        world.store.close_claim(claim)
    assert whats(world, task) == ["created", "claimed", "sent"]


def test_each_attempt_has_its_start_its_end_and_its_error(world):
    def takes_a_second_and_fails(payload, run):
        world.clock.advance(SECOND)
        fails(payload, run)

    world.job("echo", takes_a_second_and_fails)
    task = world.add()
    world.work()
    world.clock.advance(MINUTE)
    world.job("echo", lambda payload, run: "done")
    world.work()
    first, second = attempts(world, task)
    assert (first["attempt"], first["at"], first["came"]) == (1, at(), "failed")
    assert first["failed_at"] == first["ended_at"] == at(SECOND)
    assert first["error"] == "ValueError: no such wallet"
    assert (second["attempt"], second["at"]) == (2, at(MINUTE + SECOND))
    assert (second["came"], second["error"], second["failed_at"]) == ("ended", None, None)


def test_an_attempt_that_runs_is_told_without_an_end(world):
    seen = []
    task = world.add()
    world.job("echo", lambda payload, run: seen.extend(attempts(world, task)))
    world.work()
    [running] = seen
    assert (running["came"], running["at"], running["ended_at"]) == ("running", at(), None)


def test_an_attempt_that_never_told_its_end_is_told_as_broken_off(world):
    task = world.add()
    until = NOW + MINUTE
    world.ledger.start(task.run_id, "crashes", NOW, until, task.keep_until)
    world.clock.set(until + 1)
    assert [one["came"] for one in attempts(world, task)] == ["broken off"]
    world.work()
    first, second = attempts(world, task)
    assert (first["came"], first["at"], first["ended_at"]) == ("broken off", at(), None)
    assert (second["attempt"], second["at"], second["came"]) == (2, at(MINUTE + 1), "ended")


def test_the_attempt_a_task_died_with_has_the_error(world):
    world.job("echo", gives_up)
    task = world.add()
    world.work()
    [attempt] = attempts(world, task)
    assert (attempt["came"], attempt["error"]) == ("failed", "PermanentFailure: account closed")
    end = told(world, task)[-1]
    assert (end["what"], end["at"], end["error"]) == ("dead", at(), attempt["error"])


def test_a_death_from_outside_is_not_told_of_the_last_attempt(world):
    world.job("echo", fails)
    task = world.add()
    world.work()
    world.bury_message(task.pointer)
    assert [one["came"] for one in attempts(world, task)] == ["failed"]
    assert whats(world, task)[-1] == "dead"


def test_a_cancelled_task_says_when(world):
    task = world.add(after=HOUR)
    world.clock.advance(MINUTE)
    world.cancel(task.task_id)
    assert whats(world, task) == ["created", "cancelled"]
    assert told(world, task)[-1]["at"] == at(MINUTE)


def test_a_skipped_task_says_why(world):
    world.job("echo", lambda payload, run: run.skip("a holiday"))
    task = world.add()
    world.work()
    end = told(world, task)[-1]
    assert (end["what"], end["error"]) == ("skipped", "a holiday")


def test_a_moved_task_tells_when_it_was_due_before_and_since(world):
    task = world.add(after=HOUR)
    for hours in (2, 3):
        world.clock.advance(MINUTE)
        world.move.reschedule(task.task_id, lambda now, hours=hours: NOW + hours * HOUR)
    told_of = [(one["what"], one["at"], one["run_at"]) for one in told(world, task)]
    assert told_of == [
        ("created", at(), at(HOUR)),
        ("moved", at(MINUTE), at(2 * HOUR)),
        ("moved", at(2 * MINUTE), at(3 * HOUR)),
    ]


def test_a_task_that_was_claimed_before_it_was_moved_still_says_so(world):
    task = world.add(after=2 * MINUTE)
    world.move.reschedule(task.task_id, lambda now: now + HOUR)
    assert whats(world, task) == ["created", "claimed", "sent", "moved"]


def test_a_redriven_task_keeps_its_death_and_its_attempts_begin_anew(world):
    world.job("echo", gives_up)
    task = world.add()
    world.work()
    world.bury_message(task.pointer)
    world.job("echo", lambda payload, run: "done")
    world.clock.advance(HOUR)
    world.move.redrive(task.task_id)
    world.work()
    assert whats(world, task) == [
        *("created", "claimed", "sent", "attempt", "dead", "redriven"),
        *("claimed", "sent", "attempt", "succeeded"),
    ]
    assert [one["attempt"] for one in attempts(world, task)] == [1, 1]
    died, redriven = told(world, task)[4:6]
    assert (died["at"], died["error"]) == (at(), "PermanentFailure: account closed")
    assert (redriven["at"], redriven["run_at"]) == (at(HOUR), at(HOUR))


def test_a_task_that_its_worker_put_off_counts_its_attempts_on(world):
    def asks_for_long(payload, run):
        raise RetryLater(1_000)

    world.job("echo", asks_for_long)
    task = world.add(max_attempts=3)
    world.play(minutes=60)
    assert [one["attempt"] for one in attempts(world, task)] == [1, 2, 3]
    assert whats(world, task).count("moved") == 2
    assert all("1000 s" in one["error"] for one in attempts(world, task))


def test_a_discarded_task_is_dead_and_says_that_it_is_discarded(world):
    world.job("echo", gives_up)
    task = world.add()
    world.work()
    world.bury_message(task.pointer)
    letter = next(iter(world.memory.tasks.letters.values()))
    world.store.discard(letter)
    assert whats(world, task)[-3:] == ["attempt", "dead", "discarded"]
    assert attempts(world, task)[0]["error"] == "PermanentFailure: account closed"


def test_of_many_moves_the_last_ones_are_told_and_the_read_stays_one(world):
    task = world.add(after=HOUR)
    for minute in range(EARLIER + 5):
        world.move.reschedule(task.task_id, lambda now, more=minute: now + 2 * HOUR + more)
    world.ledger.calls.clear()
    entries = told(world, task)
    assert len(entries) == 1 + EARLIER
    assert entries[0]["run_at"] is None
    assert world.ledger.names("get", "get_many") == ["get", "get_many"]


def test_a_task_that_waits_costs_no_read_more_than_before(world):
    task = world.add(after=HOUR)
    world.store.calls.clear()
    world.ledger.calls.clear()
    assert whats(world, task) == ["created"]
    assert world.store.names("get", "open_claims") == ["get"]
    assert world.ledger.names("get", "get_many") == ["get"]


def test_where_an_older_version_started_some_attempts_what_is_known_is_told():
    task = make_task(attempts_before=0)
    run = RunRecord(
        task.run_id,
        attempts=3,
        in_progress_until=NOW + HOUR,
        started_at=NOW,
        failures=(Attempt(1, NOW + 1, "no"), Attempt(2, NOW + 9, "no")),
        starts=(NOW + 60,),
    )
    known = [one for one in history_of(task, run, NOW + 70) if one.what is Happened.ATTEMPT]
    assert [(one.attempt, one.at, one.came) for one in known] == [
        (1, NOW, Came.FAILED),
        (2, None, Came.FAILED),
        (3, NOW + 60, Came.RUNNING),
    ]


def test_a_move_by_an_older_version_is_told_without_what_it_left_out():
    task = replace(make_task(), run_no=1)
    before = RunRecord(task.run_id, 0, 0, Outcome(Ending.SUPERSEDED), finished_at=NOW + 5)
    events = history_of(task, None, NOW + 9, [before])
    assert [(one.what, one.at, one.run_at) for one in events] == [
        (Happened.CREATED, NOW, None),
        (Happened.MOVED, NOW + 5, NOW),
    ]
