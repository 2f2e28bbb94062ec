"""During a deployment the old and the new version are alive at once, on one store. Each test is played twice:
once the old one begins, once the new one."""

import pytest
from deployment import PACKAGES, Refused

from minutero.domain.instants import HOUR, MINUTE, SECOND

pytestmark = pytest.mark.stack

SMALL = {"note": "ñ"}
LARGE = {"note": "ñ" * 5_000}
BODIES = [
    {"job": "echo"},
    {"job": "echo", "payload": {"b": [1, 2.5, None, True, "ñ\n"], "a": {}}, "tenant": "acme"},
    {"job": "echo", "payload": "x" * 5_000, "key": "order-17", "delay_seconds": 1.5},
    {"job": "echo", "run_at": "2026-12-01T03:00:00-06:00", "max_attempts": 3},
]


def test_each_process_has_the_version_it_should_have(halves):
    for name, half in halves.items():
        assert half.call("where").startswith(str(PACKAGES[name]))


def test_added_by_one_claimed_by_the_other_and_run_by_either(one, other, deployment):
    due = deployment.now + 10 * MINUTE
    wanted = {"run_at": due, "tenant": "acme", "expires_after_seconds": 600}
    added = [(half, payload) for half in (one, other) for payload in (SMALL, LARGE)]
    tasks = {half.add(payload, **wanted): payload for half, payload in added}
    deployment.now = due
    assert other.tick()["claimed"] == 4
    bodies = deployment.received()
    assert one.work(bodies[::2]) + other.work(bodies[1::2]) == ["ended"] * 4
    assert other.work(bodies) == one.work(bodies) == ["known"] * 4
    assert sorted(deployment.succeeded) == sorted(tasks)
    for task, payload in tasks.items():
        assert one.read(task) == other.read(task)
        assert one.read(task)["payload"] == one.read(task)["result"] == payload


def test_a_near_task_of_one_is_no_work_for_the_others_tick(one, other, deployment):
    task = one.add(delay_seconds=20)
    deployment.now += 20 * SECOND
    assert other.tick()["claimed"] == 0
    assert other.work() == ["ended"]
    assert deployment.succeeded == [task]


def test_a_key_used_with_one_is_known_to_the_other(one, other):
    for at, body in enumerate(BODIES):
        wanted = {name: value for name, value in body.items() if name != "job"}
        wanted["key"] = f"key-{at}"
        task = one.call("add", **wanted)["task_id"]
        assert other.call("add", **wanted)["task_id"] == task
        with pytest.raises(Refused, match="KeyConflict"):
            other.call("add", **{**wanted, "payload": "another"})


def test_both_hash_a_body_alike(one, other):
    for body in BODIES:
        assert one.call("hash", body=body) == other.call("hash", body=body)


def test_what_is_added_in_a_batch_is_claimed_and_run_by_the_old_one(halves, deployment):
    before, now = halves["before"], halves["now"]
    due = "2026-11-29T20:31:00Z"
    added = now.call("add_many", tasks=[{"payload": p, "run_at": due} for p in (SMALL, LARGE)])
    deployment.now += 10 * MINUTE
    assert before.tick()["claimed"] == 2
    assert before.work() == ["ended", "ended"]
    assert sorted(deployment.succeeded) == sorted(task["task_id"] for task in added)


def test_nothing_starts_early_whoever_sent_it(one, other, deployment):
    one.add(run_at=deployment.now + 3 * MINUTE)
    (early,) = (message.body for message in deployment.messages)
    deployment.messages.clear()
    assert other.work([early]) == ["resent"]
    assert deployment.ran == []
    deployment.now += 3 * MINUTE
    assert one.work() == ["ended"]


def test_a_batch_that_one_died_with_is_rescued_by_the_other(one, other, deployment):
    due = deployment.now + 10 * MINUTE
    tasks = [one.add(run_at=due) for _ in range(30)]
    deployment.now = due
    one.tick(dies=True)
    assert deployment.received() == []
    deployment.now += 60 * SECOND
    assert "leased" in other.tick()["skipped"]
    deployment.now += 61 * SECOND
    assert other.tick()["rescued"] == 30
    other.work()
    assert sorted(deployment.succeeded) == sorted(tasks)


def test_two_ticks_at_once_take_each_task_once(one, other, deployment):
    due = deployment.now + 10 * MINUTE
    tasks = [one.add(run_at=due) for _ in range(30)]
    deployment.now = due
    for half in (one, other):
        half.ask("tick")
    claimed = [half.answer()["claimed"] for half in (one, other)]
    assert sum(claimed) == len(tasks)
    bodies = deployment.received()
    assert len(bodies) == len(tasks)
    one.work(bodies)
    assert sorted(deployment.succeeded) == sorted(tasks)


def test_an_attempt_that_failed_with_one_is_repeated_by_the_other(one, other, deployment):
    task = one.add({"do": ["fail", "fail"]})
    assert one.work() == ["resent"]
    assert one.status(task) == other.status(task) == "retrying"
    for half in (other, one):
        deployment.now += 15 * MINUTE
        half.work()
    assert [(run["attempt"], run["did"]) for run in deployment.ran] == [
        (1, "fail"),
        (2, "fail"),
        (3, "succeed"),
    ]
    assert one.read(task) == other.read(task)
    assert [failure["attempt"] for failure in one.read(task)["history"]] == [1, 2]


def test_a_run_that_one_died_with_is_finished_by_the_other(one, other, deployment):
    task = one.add({"do": ["die"]})
    bodies = deployment.received()
    one.work(bodies)
    assert other.status(task) == "running"
    assert other.work(bodies) == ["resent"]
    with pytest.raises(Refused, match="Conflict"):
        other.call("cancel", task_id=task)
    deployment.now += 2 * MINUTE
    assert other.work() == ["ended"]
    assert [run["attempt"] for run in deployment.ran] == [1, 2]
    assert one.read(task) == other.read(task)


def test_a_task_that_one_moved_is_followed_by_the_other(one, other, deployment):
    task = one.add(LARGE, run_at=deployment.now, key="k")
    late = deployment.received()
    due = deployment.now + 20 * MINUTE
    other.call("reschedule", task_id=task, run_at=due)
    assert one.work(late) == other.work(late) == ["known"]
    assert one.read(task) == other.read(task)
    assert one.status(task) == "scheduled"
    one.call("reschedule", task_id=task, run_at=due + MINUTE)
    deployment.now = due + MINUTE
    assert other.tick()["claimed"] == 1
    assert one.work() == ["ended"]
    assert deployment.succeeded == [task]
    assert other.read(task)["result"] == LARGE


def test_a_long_pause_that_one_took_is_ended_by_the_other(one, other, deployment):
    task = one.add({"do": ["fail for long"]})
    assert one.work() == ["resent"]
    assert one.read(task) == other.read(task)
    deployment.now += 20 * MINUTE
    assert other.tick()["claimed"] == 1
    assert other.work() == ["ended"]
    told = one.read(task)
    assert told == other.read(task)
    assert (told["attempts"], len(told["history"])) == (2, 1)


def test_a_task_that_one_cancelled_is_not_run_by_the_other(one, other, deployment):
    waiting = other.add(run_at=deployment.now + 10 * MINUTE)
    sent = other.add()
    for task in (waiting, sent):
        one.call("cancel", task_id=task)
        other.call("cancel", task_id=task)
        assert one.status(task) == other.status(task) == "cancelled"
    assert other.work() == ["known"]
    deployment.now += 10 * MINUTE
    assert other.tick()["claimed"] == 0
    assert deployment.ran == []


def test_a_run_that_died_with_one_is_listed_and_redriven_by_the_other(
    one, other, halves, deployment
):
    task = one.add({"do": ["refuse"]})
    bodies = deployment.received()
    assert one.work(bodies) == ["ended"]
    # Whoever finds it dead sends it there again: the first may have died before it could.
    assert other.work(bodies) == ["known"]
    assert other.bury() == ["listed", "listed"]
    assert one.status(task) == other.status(task) == "dead"
    assert halves["now"].call("dead") == [task]
    other.call("redrive", task_id=task)
    assert halves["now"].call("dead") == []
    with pytest.raises(Refused, match="Conflict"):
        one.call("redrive", task_id=task)
    one.work()
    assert [run["did"] for run in deployment.ran] == ["refuse", "refuse"]


def test_a_message_that_kills_workers_is_buried_by_either(one, other, deployment):
    task = one.add({"do": ["die"] * 5})
    bodies = deployment.received()
    one.work(bodies)
    deployment.dead_messages += bodies
    assert other.bury() == ["kept by Kept"]
    deployment.now += 2 * MINUTE
    deployment.dead_messages += bodies * 2
    assert other.bury() == ["listed", "listed"]
    deployment.dead_messages += bodies
    assert one.bury() == ["listed"]
    assert one.read(task) == other.read(task)
    assert one.work(bodies) == ["known"]


def test_what_one_lost_the_others_audit_sends_again(one, other, deployment):
    due = deployment.now + 10 * MINUTE
    task = one.add(run_at=due)
    deployment.now = due
    one.tick()
    deployment.received()
    deployment.now += 8 * MINUTE
    one.tick()
    deployment.now += HOUR
    assert other.call("audit") == {"claimed": 0, "sent_again": 1}
    assert one.call("audit") == {"claimed": 0, "sent_again": 0}
    assert one.work() == ["ended"]
    assert deployment.succeeded == [task]


def test_a_discarded_run_is_dead_to_the_old_version_and_in_nobodys_way(halves, deployment):
    before, now = halves["before"], halves["now"]
    task = before.add({"do": ["refuse"]})
    bodies = deployment.received()
    before.work(bodies)
    assert before.bury() == ["listed"]
    now.call("discard", task_id=task)
    assert before.status(task) == now.status(task) == "dead"
    for half in (before, now):
        assert half.work(bodies) == ["known"]
    assert before.bury() in ([], ["not dead"])
    deployment.dead_messages += bodies
    assert before.bury() == ["not dead"]
    for change in ("redrive", "cancel", "run_now"):
        with pytest.raises(Refused, match=r"Conflict|Unavailable"):
            before.call(change, task_id=task)
    assert now.call("dead") == []
    assert len(deployment.ran) == 1
