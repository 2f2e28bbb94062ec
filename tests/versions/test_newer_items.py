"""What a newer version may write, what this one makes of it: nothing crashes, is skipped or done twice."""

import json

import pytest
from deployment import Refused

from minutero.aws.run_record import record_id
from minutero.domain.instants import HOUR, MINUTE
from minutero.domain.task import first_place, run_id_of

pytestmark = pytest.mark.stack

NEWER = {"colour": {"S": "red"}, "shape": {"M": {"corners": {"N": "3"}, "of": {"B": b"\0"}}}}


@pytest.fixture
def now(halves):
    return halves["now"]


@pytest.fixture
def write(deployment, dynamodb):
    """Changes attributes of an item, as a newer version would: `write("tasks", key, colour={"S": "red"})`."""

    def change(table, key, **attributes):
        dynamodb.update_item(
            TableName=deployment.environment[f"MINUTERO_{table.upper()}_TABLE"],
            Key={name: {"S": value} for name, value in key.items()},
            UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in attributes),
            ExpressionAttributeNames={f"#{name}": name for name in attributes},
            ExpressionAttributeValues={f":{name}": value for name, value in attributes.items()},
        )

    return change


@pytest.fixture
def rows(deployment, dynamodb):
    """All items of the Tasks table that are tasks of this id."""

    def of(task):
        name = deployment.environment["MINUTERO_TASKS_TABLE"]
        items = dynamodb.scan(TableName=name, ConsistentRead=True)["Items"]
        return [item for item in items if f"#{task}#" in item["sk"]["S"]]

    return of


def key_of(task):
    place = first_place(task)
    return {"bucket": place.bucket, "sk": place.sk}


def run_of(task):
    return {"id": record_id(run_id_of(task, 0))}


# Endings of a run: what is stored, and the status told.
ENDINGS = {
    "one this version does not know": ({"ending": "paused"}, "claimed"),
    "one it knows, told more exactly": ({"ending": "dead", "exactly": "quarantined"}, "dead"),
    "with members it does not know": ({"ending": "succeeded", "by": {"whom": "x"}}, "succeeded"),
    "none at all": ({}, "claimed"),
}


@pytest.mark.parametrize("how", ENDINGS)
def test_a_run_that_a_newer_version_ended_is_over(now, deployment, write, how):
    data, status = ENDINGS[how]
    task = now.add({"do": ["fail"]})
    bodies = deployment.received()
    now.work(bodies)
    write(
        "runs",
        run_of(task),
        status={"S": "COMPLETED"},
        data={"S": json.dumps(data)},
        ending={"S": "of a newer version"},
        finished_at={"N": str(deployment.now)},
    )
    deployment.now += HOUR
    assert now.work(bodies) == ["known"]
    deployment.dead_messages += bodies
    assert set(now.bury()) == {"not dead"}
    assert now.status(task) == status
    (listed,) = now.call("listed", start="2026-11-29T20:21:00Z", end="2026-11-29T20:32:00Z")
    assert listed["status"] == status
    for change in ("cancel", "run_now", "redrive"):
        with pytest.raises(Refused, match=r"Conflict|Unavailable"):
            now.call(change, task_id=task)
    assert len(deployment.ran) == 1


def test_a_status_of_a_run_that_is_not_known_is_over_too(now, deployment, write):
    task = now.add({"do": ["fail"]})
    bodies = deployment.received()
    now.work(bodies)
    write("runs", run_of(task), status={"S": "PAUSED"})
    deployment.now += HOUR
    assert now.work(bodies) == ["known"]
    assert now.status(task) == "claimed"


def test_a_task_of_an_unknown_state_is_left_alone_by_every_tick_and_audit(now, deployment, write):
    due = deployment.now + 10 * MINUTE
    task = now.add(run_at=due)
    write("tasks", key_of(task), state={"S": "paused"})
    deployment.now = due
    assert now.tick() == {"claimed": 0, "rescued": 0, "buried": 0, "skipped": ""}
    deployment.now += 8 * MINUTE
    now.tick()
    deployment.now += HOUR
    assert now.call("audit") == {"claimed": 0, "sent_again": 0}
    row = deployment.row(deployment.environment["MINUTERO_TASKS_TABLE"], key_of(task))
    assert row["state"] == {"S": "paused"}
    assert (deployment.messages, deployment.ran) == ([], [])
    assert now.status(task) == "scheduled"


def test_a_task_of_an_unknown_state_can_be_changed_by_its_owner(now, deployment, write):
    moved, cancelled = (now.add(run_at=deployment.now + HOUR) for _ in range(2))
    for task in (moved, cancelled):
        write("tasks", key_of(task), state={"S": "paused"})
    now.call("run_now", task_id=moved)
    now.call("cancel", task_id=cancelled)
    assert now.work() == ["ended"]
    assert deployment.succeeded == [moved]
    assert now.status(cancelled) == "cancelled"


def test_a_message_of_a_task_in_an_unknown_state_runs_it(now, deployment, write):
    """Whoever sent it meant it to run; the run record alone says whether it may."""
    task = now.add()
    write("tasks", key_of(task), state={"S": "sent twice over"})
    assert now.work() == ["ended"]
    assert deployment.succeeded == [task]
    assert now.status(task) == "succeeded"


@pytest.mark.parametrize("how", ["rescheduled", "moved by its worker", "redriven"])
def test_a_move_takes_the_attributes_of_a_newer_version_along(now, deployment, write, rows, how):
    task = now.add({"do": {"rescheduled": [], "redriven": ["refuse"]}.get(how, ["fail for long"])})
    write("tasks", key_of(task), **NEWER)
    if how == "rescheduled":
        now.call("reschedule", task_id=task, run_at=deployment.now + HOUR)
    else:
        now.work()
    if how == "redriven":
        now.call("redrive", task_id=task)
    (here,) = (row for row in rows(task) if row["state"] != {"S": "moved"})
    assert here["sk"]["S"].endswith("#0001")
    assert {name: here[name] for name in NEWER} == NEWER
    # Twice: the place it leaves now is not the first one.
    now.call("cancel" if how == "rescheduled" else "run_now", task_id=task)
    (last,) = (row for row in rows(task) if row["state"] != {"S": "moved"})
    assert {name: last[name] for name in NEWER} == NEWER


def test_attributes_of_a_newer_version_are_in_nobodys_way(now, deployment, write, dynamodb):
    due = deployment.now + 10 * MINUTE
    task = now.add({"do": ["fail", "refuse"], "long": "x" * 5_000}, run_at=due, key="k")
    written = dynamodb.scan(TableName=deployment.environment["MINUTERO_TASKS_TABLE"])["Items"]
    for row in written:
        write("tasks", {"bucket": row["bucket"]["S"], "sk": row["sk"]["S"]}, **NEWER)
    step = {"shards": {"N": "1"}, "since": {"N": str(deployment.now - MINUTE)}, **NEWER}
    write("tasks", {"bucket": "settings", "sk": "shards"}, steps={"L": [{"M": step}]})
    now.tick()
    write("cursors", {"shard": "00"}, **NEWER, audited={"M": {"week": {"N": "1"}}})
    deployment.now = due
    assert now.tick()["claimed"] == 1
    now.work()
    write("runs", run_of(task), **NEWER)
    deployment.now += 15 * MINUTE
    now.work()
    assert now.bury() == ["listed"]
    assert now.call("dead") == [task]
    (listed,) = now.call("listed", start="2026-11-29T20:21:00Z", end="2026-11-29T20:32:00Z")
    assert listed["status"] == "dead"
    assert [one["came"] for one in listed["history"] if one["attempt"]] == ["failed", "failed"]
    assert now.add({"do": ["fail", "refuse"], "long": "x" * 5_000}, run_at=due, key="k") == task


def test_members_of_a_newer_message_are_in_nobodys_way(now, deployment):
    task = now.add()
    (body,) = deployment.received()
    newer = json.dumps({**json.loads(body), "trace": {"id": [1]}, "reason": "r"})
    assert now.work([newer]) == ["ended"]
    assert deployment.succeeded == [task]


def test_a_message_of_a_newer_version_is_kept_for_one_and_spoils_no_other(now, deployment):
    tasks = [now.add(), now.add()]
    bodies = deployment.received()
    newer = json.dumps({"v": 2, "whatever": "it says"})
    assert now.work([bodies[0], newer, bodies[1]]) == ["ended", "kept by Kept", "ended"]
    deployment.dead_messages = [newer]
    assert now.bury() == ["kept by Kept"]
    assert deployment.succeeded == tasks


def test_rows_of_a_newer_kind_hold_up_no_bucket(now, deployment, write):
    due = deployment.now + 10 * MINUTE
    task = now.add(run_at=due)
    bucket = key_of(task)["bucket"]
    for sk in ("00#a-kind#of#row", "~~a-kind", "a-kind"):
        write("tasks", {"bucket": bucket, "sk": sk}, state={"S": "a-kind"}, **NEWER)
    deployment.now = due
    assert now.tick() == {"claimed": 1, "rescued": 0, "buried": 0, "skipped": ""}
    assert now.work() == ["ended"]
    deployment.now += 8 * MINUTE
    now.tick()
    cursor = deployment.row(deployment.environment["MINUTERO_CURSORS_TABLE"], {"shard": "00"})
    assert int(cursor["watermark"]["N"]) >= due - MINUTE
    (listed,) = now.call("listed", start="2026-11-29T20:21:00Z", end="2026-11-29T20:32:00Z")
    assert listed["task_id"] == task
