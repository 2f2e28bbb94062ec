"""A schedule on the deployed stack: made over HTTP, fired by ticks, paused, run, deleted."""

import json
from datetime import datetime, timedelta

import pytest

from minutero_cli.api_client import ApiError
from minutero_cli.main import run

from .conftest import eventually, instant, late, now

MINUTE = timedelta(minutes=1)


def explained(stack, start, end):
    asked = {"from": instant(start), "to": instant(end)}
    return stack.api.get("/schedules/minutely/explain", asked).body["times"]


def two_that_ran(stack, since):
    """The first two times, once both have run to their end."""
    times = explained(stack, since, now())[:2]
    ended = [one for one in times if one["status"] == "succeeded"]
    return ended if len(ended) == 2 else None


def test_a_schedule_fires_at_consecutive_minutes_and_is_silent_once_it_is_paused(stack, minutely):
    since = datetime.fromisoformat(minutely["created_at"])
    first, second = eventually(lambda: two_that_ran(stack, since), 300)
    assert [one["what"] for one in (first, second)] == ["ran", "ran"]
    at, following = (datetime.fromisoformat(one["scheduled_for"]) for one in (first, second))
    assert at == since.replace(second=0, microsecond=0) + MINUTE
    assert following - at == MINUTE
    for one in (first, second):
        told = stack.get(one["task_id"])
        assert (told["schedule"], told["trigger"]) == ("minutely", "schedule")
        assert told["scheduled_for"] == told["run_at"] == one["scheduled_for"]
        assert (told["attempts"], told["result"]) == (1, 1)
        assert late(told) >= 0

    paused = stack.api.post("/schedules/minutely/pause", {"reason": "quiet"}).body
    assert (paused["enabled"], paused["next_run_at"]) == (False, None)
    begin = now()
    silent = begin.replace(second=0, microsecond=0) + MINUTE
    # Due after that minute: when it has run, whatever was due before has had its chance.
    witness = stack.add("echo", run_at=instant(silent + timedelta(seconds=2)))
    stack.wait(witness["task_id"], seconds=240)
    assert {one["what"] for one in explained(stack, begin, now())} == {"skipped"}
    listed = stack.api.get("/tasks", {"from": instant(silent), "to": instant(silent + MINUTE)}).body
    ours = [task for task in listed["tasks"] if task["schedule"] == "minutely"]
    assert [(task["status"], task["attempts"]) for task in ours] == [("cancelled", 0)] * len(ours)


def test_a_schedule_is_put_run_and_deleted_with_the_rights_of_the_api(stack):
    body = {"job": "tally", "expression": "rate(1 day)", "payload": "x" * 2_000}
    made = [stack.api.put("/schedules/daily", body) for _ in range(2)]
    assert [(one.status, one.body["changed"]) for one in made] == [(201, True), (200, False)]
    task = stack.api.post("/schedules/daily/run").body
    told = stack.wait(task["task_id"])
    assert (told["trigger"], told["result"], told["payload"]) == ("manual", 1, body["payload"])
    edited = stack.api.put("/schedules/daily", {**body, "expression": "rate(2 days)"}).body
    assert (edited["version"], edited["changed"]) == (2, True)
    assert stack.api.post("/schedules/daily/pause").body["next_run_at"] is None
    assert stack.api.post("/schedules/daily/resume", {"from": "backfill"}).body["enabled"]
    assert stack.api.get("/schedules/daily/next", {"n": 2}).body["fire_times"]
    assert "daily" in {one["name"] for one in stack.api.get("/schedules").body["schedules"]}
    assert stack.api.delete("/schedules/daily").body["payload"] == body["payload"]
    with pytest.raises(ApiError) as refused:
        stack.api.get("/schedules/daily")
    assert refused.value.status == 404


def test_the_command_and_the_client_put_the_same_schedule(stack, aws_environment, capsys):
    import minutero

    words = ["schedules", "put", "weekly", "echo", "cron(0 18 ? * FRI *)", "--stack", "minutero"]
    assert run([*words, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    client = minutero.Client()
    again = client.put_schedule("weekly", "echo", "cron(0 18 ? * FRI *)")
    assert (again["changed"], again["version"]) == (False, made["version"])
    assert client.delete_schedule("weekly")["next_run_at"] == made["next_run_at"]
