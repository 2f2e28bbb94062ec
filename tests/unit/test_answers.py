"""The shapes of the API's answers."""

import json

from world import NOW

from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.schedule import Definition, Misfire
from minutero.domain.task import first_place
from minutero.errors import PermanentFailure
from minutero.http.answers import added_answer, task_answer


def answer(world, task):
    told = task_answer(world.read_task(task.task_id))
    assert json.loads(json.dumps(told, ensure_ascii=False)) == told
    return told


def fails(payload, run):
    raise ValueError("no such wallet")


def test_a_task_just_added_is_told_as_scheduled_even_when_it_was_sent(world):
    task = world.add(payload='{"any":"JSON"}', key="k", tenant="acme", expires_after_seconds=600)
    assert world.status(task) == "claimed"
    assert added_answer(task) == {
        "task_id": task.task_id,
        "job": "echo",
        "payload": {"any": "JSON"},
        "run_at": "2026-11-29T20:21:00Z",
        "key": "k",
        "tenant": "acme",
        "max_attempts": 5,
        "expires_after_seconds": 600,
        "schedule": None,
        "scheduled_for": None,
        "trigger": "task",
        "is_catch_up": False,
        "status": "scheduled",
    }


def test_a_task_that_waits_has_no_more_than_its_creation(world):
    task = world.add(after=60 * MINUTE)
    assert answer(world, task) == {
        "task_id": task.task_id,
        "job": "echo",
        "payload": None,
        "run_at": "2026-11-29T21:21:00Z",
        "key": None,
        "tenant": None,
        "max_attempts": 5,
        "expires_after_seconds": None,
        "schedule": None,
        "scheduled_for": None,
        "trigger": "task",
        "is_catch_up": False,
        "status": "scheduled",
        "attempts": 0,
        "result": None,
        "error": None,
        "note": None,
        "lateness_ms": None,
        "timeline": {
            "created_at": "2026-11-29T20:21:00Z",
            "claimed_at": None,
            "started_at": None,
            "finished_at": None,
        },
        "history": [
            {
                "what": "created",
                "at": "2026-11-29T20:21:00Z",
                "attempt": None,
                "failed_at": None,
                "error": None,
                "run_at": "2026-11-29T21:21:00Z",
            }
        ],
    }


def test_a_task_that_succeeded_shows_its_result_its_times_and_its_lateness(world):
    def takes_a_second(payload, run):
        world.clock.advance(SECOND)
        return {"sum": 0}

    world.job("echo", takes_a_second)
    task = world.add(after=10 * SECOND)
    world.clock.advance(10 * SECOND + 250)
    world.work()
    told = answer(world, task)
    assert (told["status"], told["result"], told["error"]) == ("succeeded", {"sum": 0}, None)
    assert (told["attempts"], told["lateness_ms"]) == (1, 250)
    assert told["timeline"] == {
        "created_at": "2026-11-29T20:21:00Z",
        "claimed_at": "2026-11-29T20:21:00Z",
        "started_at": "2026-11-29T20:21:10.250Z",
        "finished_at": "2026-11-29T20:21:11.250Z",
    }


def test_a_falsy_result_is_told(world):
    world.job("echo", lambda payload, run: 0)
    task = world.add()
    world.work()
    assert answer(world, task)["result"] == 0


def test_a_result_that_was_dropped_leaves_a_note(world):
    world.job("echo", lambda payload, run: object())
    task = world.add()
    world.work()
    told = answer(world, task)
    assert (told["status"], told["result"]) == ("succeeded", None)
    assert told["note"].startswith("result dropped")


def test_a_task_that_retries_shows_each_failure(world):
    world.job("echo", fails)
    task = world.add()
    world.work()
    told = answer(world, task)
    assert (told["status"], told["attempts"]) == ("retrying", 1)
    assert told["error"] == "ValueError: no such wallet"
    assert told["history"][-1] == {
        "what": "attempt",
        "at": "2026-11-29T20:21:00Z",
        "attempt": 1,
        "came": "failed",
        "ended_at": "2026-11-29T20:21:00Z",
        "failed_at": "2026-11-29T20:21:00Z",
        "error": "ValueError: no such wallet",
    }


def test_a_task_that_succeeded_in_the_end_keeps_its_history_and_shows_no_error(world):
    world.job("echo", fails)
    task = world.add()
    world.work()
    world.job("echo", lambda payload, run: "done")
    world.clock.advance(MINUTE)
    world.work()
    told = answer(world, task)
    assert (told["status"], told["attempts"], told["error"]) == ("succeeded", 2, None)
    errors = [entry["error"] for entry in told["history"] if entry["error"]]
    assert errors == ["ValueError: no such wallet"]


def test_a_dead_task_shows_why(world):
    def gives_up(payload, run):
        raise PermanentFailure("account closed")

    world.job("echo", gives_up)
    task = world.add()
    world.work()
    told = answer(world, task)
    assert (told["status"], told["error"]) == ("dead", "PermanentFailure: account closed")
    assert told["timeline"]["finished_at"] == "2026-11-29T20:21:00Z"


def test_a_skipped_task_shows_why(world):
    world.job("echo", lambda payload, run: run.skip("a holiday"))
    task = world.add()
    world.work()
    told = answer(world, task)
    assert (told["status"], told["error"]) == ("skipped", "a holiday")


def test_a_claim_that_became_a_move_is_told_no_more(world):
    """`claimed_at` belongs to the claimed; a scheduled task has none, whatever its item once held."""
    task = world.add_crashed()
    assert world.stored(task).claimed_at is None
    assert answer(world, task)["timeline"]["claimed_at"] is None
    assert task.created_at == NOW


def test_an_occurrence_tells_its_schedule_its_time_and_what_made_it(world):
    said = Definition("echo", "rate(1 minute)", jitter_seconds=30)
    link = world.put_schedule("nightly", said).schedule.pending
    task = world.store.get(first_place(link.task_id))
    told = answer(world, task)
    assert told["status"] == "claimed"
    assert {**told, "status": "scheduled"} == {**told, **added_answer(task)}
    assert (told["schedule"], told["trigger"], told["is_catch_up"]) == (
        "nightly",
        "schedule",
        False,
    )
    assert told["scheduled_for"] == "2026-11-29T20:22:00Z" < told["run_at"]


def test_a_task_of_run_now_is_of_its_schedule_and_no_occurrence_of_its_chain(world):
    world.put_schedule("nightly", Definition("echo", "rate(1 day)"))
    told = answer(world, world.run_schedule("nightly"))
    assert (told["schedule"], told["trigger"]) == ("nightly", "manual")
    assert told["scheduled_for"] == told["run_at"] == "2026-11-29T20:21:00Z"


def test_what_makes_up_for_a_time_that_is_past_says_so(world):
    misfire = Misfire("all", grace_seconds=0)
    said = Definition("echo", "rate(10 minutes)", misfire=misfire)
    world.put_schedule("nightly", said)
    world.clock.advance(30 * MINUTE)
    world.tick()
    world.work()
    told = [task_answer(world.read_task(task_id)) for task_id, _, _ in world.runs]
    assert {one["scheduled_for"]: one["is_catch_up"] for one in told} == {
        "2026-11-29T20:31:00Z": True,
        "2026-11-29T20:41:00Z": True,
        "2026-11-29T20:51:00Z": False,
    }
