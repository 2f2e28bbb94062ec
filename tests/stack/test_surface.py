"""The whole surface for tasks, on the deployed stack: each call with the API function's own role."""

import time
from datetime import timedelta

import pytest

from minutero_cli.api_client import ApiError

from .conftest import AHEAD, eventually, instant, now


def listed(stack, start, end, **more):
    """All pages of a list."""
    found, token = [], None
    while True:
        query = {"from": instant(start), "to": instant(end), "next_token": token, **more}
        page = stack.api.get("/tasks", query).body
        found += page["tasks"]
        token = page["next_token"]
        if token is None:
            return found


def dead_tasks(stack, count):
    added = [stack.add("give_up", payload=n)["task_id"] for n in range(count)]
    for task_id in added:
        stack.wait(task_id)
    eventually(lambda: {one["task_id"] for one in letters(stack)} >= set(added))
    return added


def letters(stack, **query):
    return stack.api.get("/dead", {"job": "give_up", **query}).body["dead"]


def test_a_batch_of_500_is_stored_whole(stack):
    """How long its answer takes depends on the machine: it is printed."""
    start = now() + timedelta(hours=30)
    tasks = [
        {"job": "echo", "payload": {"n": n}, "run_at": instant(start + timedelta(seconds=n))}
        for n in range(500)
    ]
    began = time.monotonic()
    results = stack.api.post("/tasks/batch", {"tasks": tasks}).body["results"]
    print(f"a batch of 500: {time.monotonic() - began:.2f} s")
    assert {one["status"] for one in results} == {201}
    end = start + timedelta(seconds=500)
    told = listed(stack, start, end, limit=200)
    assert [task["task_id"] for task in told] == [one["task_id"] for one in results]
    assert [task["payload"]["n"] for task in told] == list(range(500))


def test_a_near_batch_runs_whole_and_never_early(stack):
    keyed = [{"job": "tally", "key": f"batch-{n}", "delay_seconds": 2} for n in range(3)]
    tasks = [{"job": "tally", "delay_seconds": 2}] * 27 + keyed
    results = stack.api.post("/tasks/batch", {"tasks": tasks}).body["results"]
    told = [stack.wait(one["task_id"]) for one in results]
    assert [task["result"] for task in told] == [1] * 30
    assert min(task["lateness_ms"] for task in told) >= 0
    again = stack.api.post("/tasks/batch", {"tasks": keyed}).body["results"]
    assert [(one["status"], one["task_id"]) for one in again] == [
        (200, one["task_id"]) for one in results[27:]
    ]


def test_a_cancelled_task_does_not_run_though_its_message_waits(stack):
    task_id = stack.add("tally", delay_seconds=AHEAD)["task_id"]
    assert stack.api.delete(f"/tasks/{task_id}").body["status"] == "cancelled"
    other = stack.wait(stack.add("echo", delay_seconds=AHEAD + 1)["task_id"])
    assert other["status"] == "succeeded"
    told = stack.get(task_id)
    assert (told["status"], told["attempts"]) == ("cancelled", 0)


def test_a_rescheduled_task_runs_once_at_its_new_time(stack):
    task_id = stack.add("tally", delay_seconds=AHEAD, payload="x" * 2_000)["task_id"]
    told = stack.api.patch(f"/tasks/{task_id}", {"delay_seconds": AHEAD + 2}).body
    assert told["task_id"] == task_id
    done = stack.wait(task_id)
    assert done["result"] == 1
    assert done["lateness_ms"] >= 0
    assert done["run_at"] == told["run_at"]


def test_a_far_task_is_run_now(stack):
    task_id = stack.add("tally", delay_seconds=86_400, key="run-me-now")["task_id"]
    assert stack.api.post(f"/tasks/{task_id}/run").status == 202
    assert stack.wait(task_id)["result"] == 1
    assert stack.api.get("/tasks", {"key": "run-me-now"}).body["task_id"] == task_id


def test_the_dead_are_listed_redriven_by_filter_and_discarded(stack):
    start = instant(now())
    first, second, third = dead_tasks(stack, 3)
    assert stack.api.get(f"/dead/{first}").body["task"]["status"] == "dead"
    assert stack.api.delete(f"/dead/{first}").body["task_id"] == first
    asked = {"job": "give_up", "from": start}
    counted = stack.api.post("/dead/redrive", {**asked, "dry_run": True}).body
    assert (counted["matched"], counted["redriven"]) == (2, 0)
    done = stack.api.post("/dead/redrive", asked).body
    assert (done["matched"], done["redriven"], done["failed"]) == (2, 2, [])
    # They give up again, and are listed anew.
    found = eventually(lambda: new if len(new := letters(stack, **{"from": start})) == 2 else None)
    assert {one["task_id"] for one in found} == {second, third}
    assert stack.api.post(f"/tasks/{second}/redrive").status == 202
    with pytest.raises(ApiError) as refused:
        stack.api.post(f"/tasks/{first}/redrive")
    assert refused.value.status == 409


def test_the_numbers_tell_how_far_the_watermark_is(stack):
    stack.add("echo", delay_seconds=600)
    told = stack.api.get(
        "/stats", {"from": instant(now()), "to": instant(now() + timedelta(hours=1))}
    )
    assert told.body["shards"] == 2
    assert told.body["backlog"]["counts"]["scheduled"] >= 1
    assert told.body["queue"].keys() == {"ready", "delayed", "in_flight"}
    lag = eventually(lambda: stack.api.get("/stats").body["watermark"]["lag_seconds"])
    assert lag > 0


def test_the_api_documents_itself(stack):
    assert "/tasks/{task_id}" in stack.api.get("/openapi.json").body["paths"]
    assert "swagger" in stack.api.get("/docs").text.lower()
