"""The tick on the deployed stack."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from .conftest import eventually, late, now

FUTURE_TASKS = 20_000


def test_a_tick_reads_as_much_with_20000_future_tasks_stored_as_with_none(stack):
    before = idle_pages(stack)
    store_future_tasks(stack, FUTURE_TASKS)
    assert idle_pages(stack) == before
    print("pages an idle tick reads:", before)  # a measurement


def idle_pages(stack):
    """Pages read by an idle tick: the second within one minute, when the watermark has moved for it."""

    def look():
        minute = now().minute
        stack.local.tick()
        told = stack.local.tick()
        leased = any(shard["skipped"] for shard in told["shards"])
        return told if now().minute == minute and not leased else None

    told = eventually(look)
    assert told["total"]["claimed"] == 0 or told["total"]["pages_read"]
    return told["total"]["pages_read"]


def store_future_tasks(stack, count):
    """As their writers store them, spread over an hour beyond the look-ahead, in both shards."""
    from minutero.domain.task import new_task_id, place_of

    dynamodb = stack.client("dynamodb")
    start = int(now().timestamp() * 1000) + 10 * 60_000

    def item(number):
        run_at = start + number * 180
        task_id = new_task_id(run_at, 2)
        place = place_of(task_id, 0, run_at)
        return {
            "bucket": {"S": place.bucket},
            "sk": {"S": place.sk},
            "state": {"S": "scheduled"},
            "job": {"S": "echo"},
            "run_at": {"N": str(run_at)},
            "created_at": {"N": str(start)},
            "max_attempts": {"N": "5"},
        }

    def write(first):
        puts = [{"PutRequest": {"Item": item(number)}} for number in range(first, first + 25)]
        answer = dynamodb.batch_write_item(RequestItems={stack.outputs["TasksTableName"]: puts})
        assert not answer["UnprocessedItems"]

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, range(0, count, 25)))


def test_a_task_that_was_stored_and_never_sent_is_sent_by_a_tick(stack):
    """As if its writer had crashed between the two."""
    from minutero.domain.task import new_task_id, place_of

    run_at = int((now() + timedelta(seconds=3)).timestamp() * 1000)
    task_id = new_task_id(run_at, 2)
    place = place_of(task_id, 0, run_at)
    item = {
        "bucket": {"S": place.bucket},
        "sk": {"S": place.sk},
        "state": {"S": "scheduled"},
        "job": {"S": "tally"},
        "run_at": {"N": str(run_at)},
        "created_at": {"N": str(run_at - 3000)},
        "expires_at": {"N": str(run_at // 1000 + 86_400)},
        "max_attempts": {"N": "5"},
    }
    stack.client("dynamodb").put_item(TableName=stack.outputs["TasksTableName"], Item=item)
    told = stack.local.tick()
    json.dumps(told)
    assert stack.row(task_id)["state"]["S"] == "claimed"
    done = stack.wait(task_id)
    assert done["result"] == 1
    assert late(done) >= 0


def test_a_tick_tells_what_it_claimed_and_sent(stack):
    told = stack.local.tick()
    assert set(told["total"]) >= {"claimed", "sent", "rescued", "buried", "left_open", "pages_read"}
    assert told["total"]["left_open"] == 0
    assert [shard["shard"] for shard in told["shards"]] == [0, 1]


@pytest.mark.slow
def test_a_task_beyond_the_look_ahead_is_sent_by_a_tick_alone_and_runs_in_time(stack, far_task):
    added, told_at_once = far_task
    assert told_at_once["status"] == "scheduled"

    def ticked():
        stack.local.tick()
        return stack.get(added["task_id"])["status"] != "scheduled"

    eventually(ticked, seconds=60)
    assert stack.row(added["task_id"])["claim_id"]["S"] != "near"
    done = stack.wait(added["task_id"], seconds=100)
    assert done["status"] == "succeeded"
    print("lateness of a task a tick has sent, in ms:", late(done))
    assert late(done) >= 0
