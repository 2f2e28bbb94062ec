"""One task's way through the deployed stack."""

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

from .conftest import AHEAD, eventually, late


def test_near_tasks_succeed_and_never_start_early(stack):
    """How late they are depends on the machine: it is printed, for whoever measures (pytest -rP)."""
    for _warm_up_first in range(2):
        tasks = [stack.add(payload={"n": n}, delay_seconds=n / 2) for n in range(11)]
        told = [stack.wait(task["task_id"]) for task in tasks]
    assert {one["status"] for one in told} == {"succeeded"}
    assert [one["result"] for one in told] == [task["payload"] for task in tasks]
    lateness = [late(one) for one in told]
    print("lateness in ms:", sorted(lateness))
    assert min(lateness) >= 0


def test_a_delayed_task_waits_claimed_and_has_not_begun(stack):
    task = stack.add(delay_seconds=AHEAD)
    told = stack.get(task["task_id"])
    assert told["status"] == "claimed"
    assert told["timeline"]["started_at"] is None
    assert late(stack.wait(task["task_id"])) >= 0


def test_eight_posts_of_one_key_at_once_make_one_task(stack):
    body = {"job": "tally", "key": "order-17", "payload": {"a": 1}, "delay_seconds": 3}
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda _: stack.api.post("/tasks", body), range(8)))
    assert sorted(answer.status for answer in answers) == [200] * 7 + [201]
    (task_id,) = {answer.body["task_id"] for answer in answers}
    assert stack.wait(task_id)["result"] == 1


def test_a_failed_attempt_is_followed_by_another_under_the_same_run_key(stack):
    task = stack.add("fail_first")
    told = stack.wait(task["task_id"])
    assert told["status"] == "succeeded"
    assert told["attempts"] == 2
    assert told["result"]["attempt"] == 2
    history = told["history"]
    first, second = (entry for entry in history if entry["what"] == "attempt")
    assert (first["attempt"], first["came"]) == (1, "failed")
    assert "the first attempt fails" in first["error"]
    moments = [one[name] for one in (first, second) for name in ("at", "ended_at")]
    times = [datetime.fromisoformat(at) for at in moments]
    assert times == sorted(times)
    assert [entry["what"] for entry in history] == [
        *("created", "claimed", "sent", "attempt", "attempt", "succeeded")
    ]


def test_a_task_whose_attempts_are_spent_is_dead_and_listed(stack):
    task = stack.add("fail_always", max_attempts=2, tenant="acme")
    told = stack.wait(task["task_id"])
    assert told["status"] == "dead"
    assert told["attempts"] == 2
    assert "attempt 2 fails" in told["error"]
    row = eventually(lambda: dead_row(stack, told))
    assert row["job"]["S"] == "fail_always"
    assert row["tenant"]["S"] == "acme"
    assert "attempt 2 fails" in row["reason"]["S"]


def test_a_permanent_failure_is_dead_at_once(stack):
    task = stack.add("give_up", max_attempts=20)
    told = stack.wait(task["task_id"])
    assert told["status"] == "dead"
    assert told["attempts"] == 1
    assert eventually(lambda: dead_row(stack, told))


def dead_row(stack, told):
    """The task's row in the list of dead letters."""
    day = told["timeline"]["finished_at"][:10]
    for shard in range(2):
        found = stack.client("dynamodb").query(
            TableName=stack.outputs["TasksTableName"],
            KeyConditionExpression="#bucket = :dead",
            ExpressionAttributeNames={"#bucket": "bucket"},
            ExpressionAttributeValues={":dead": {"S": f"dead#{day}#{shard:02d}"}},
        )["Items"]
        for row in found:
            if told["task_id"] in row["sk"]["S"]:
                return row
    return None


def test_a_message_delivered_many_times_runs_its_task_once(stack):
    from minutero.aws.queue import encode_message
    from minutero.domain.instants import parse_instant
    from minutero.domain.task import Pointer, first_place

    task = stack.add("tally", delay_seconds=2)
    pointer = Pointer(first_place(task["task_id"]), parse_instant(task["run_at"]))
    send(stack, encode_message(pointer), 5)
    assert stack.wait(task["task_id"])["result"] == 1
    send(stack, encode_message(pointer), 5)
    eventually(lambda: nothing_waits(stack))
    told = stack.client("dynamodb").get_item(
        TableName=stack.outputs["RunsTableName"], Key={"id": {"S": f"tally#{task['task_id']}"}}
    )
    assert told["Item"]["calls"]["N"] == "1"
    assert stack.get(task["task_id"])["attempts"] == 1


def send(stack, body, times):
    stack.client("sqs").send_message_batch(
        QueueUrl=stack.outputs["TasksQueueUrl"],
        Entries=[{"Id": str(number), "MessageBody": body} for number in range(times)],
    )


def nothing_waits(stack):
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    told = stack.client("sqs").get_queue_attributes(
        QueueUrl=stack.outputs["TasksQueueUrl"], AttributeNames=names
    )["Attributes"]
    return all(told[name] == "0" for name in names)


def test_the_jobs_of_a_module_that_cannot_be_imported_are_missing_and_no_others(stack):
    brought_along = ["aws.call", "http.post", "leaderboard_close", "echo"]
    of_the_test = ["fail_always", "fail_first", "give_up", "tally"]
    assert stack.api.get("/jobs").body["jobs"] == sorted(brought_along + of_the_test)
