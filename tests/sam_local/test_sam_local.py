"""The events of events/ under `sam local`, and its API, before the local stack. sam ends with 0 whatever a
function did, so each test looks at what was answered."""

import json

import pytest

from minutero.aws.queue import parse_message
from tests.sam_local import events, stage
from tests.sam_local.containers import InContainers
from tests.sam_local.emulator import UnderEmulator
from tests.sam_local.functions import FunctionError, told_by

pytestmark = [pytest.mark.stack, pytest.mark.slow]


def body(answer):
    return json.loads(answer["body"])


def tasks_of(name):
    return [parse_message(record["body"])[0].task_id for record in events.read(name)["Records"]]


def test_the_functions_run_in_containers(run):
    if isinstance(run, UnderEmulator):
        pytest.skip(run.where)
    assert isinstance(run, InContainers)


def test_each_event_has_a_function(run):
    assert sorted(events.FUNCTIONS) == sorted(path.stem for path in events.FOLDER.glob("*.json"))


def test_a_tick_looks_through_every_shard(told):
    answer = told["eventbridge_tick"].answer
    assert [one["shard"] for one in answer["shards"]] == [0, 1]
    assert answer["total"]["pages_read"] > 0
    assert '"message":"tick"' in told["eventbridge_tick"].logs


def test_the_worker_runs_the_tasks_of_its_messages(told, run):
    assert told["sqs_tasks"].answer == {"batchItemFailures": []}
    for task_id in tasks_of("sqs_tasks"):
        status, task = run.http("GET", f"/tasks/{task_id}")
        assert (status, task["status"]) == (200, "succeeded")
        assert task["result"] == {"order": 17}


def test_dead_letters_are_listed(told, run):
    assert told["sqs_dead_letters"].answer == {"batchItemFailures": []}
    for task_id in tasks_of("sqs_dead_letters"):
        assert run.http("GET", f"/tasks/{task_id}")[1]["status"] == "dead"


def test_an_audit_finds_nothing_to_repair(told):
    answer = told["eventbridge_audit"].answer
    assert answer["tally"]["claimed"] == 0
    assert '"message":"audit"' in told["eventbridge_audit"].logs


def test_a_task_is_added(told):
    answer = told["http_post_tasks"].answer
    assert answer["statusCode"] == 201
    assert body(answer)["payload"] == {"order": 17}


def test_a_task_is_read(told):
    answer = told["http_get_task"].answer
    assert answer["statusCode"] == 200
    assert body(answer)["status"] == "succeeded"


def test_the_jobs_are_named(told):
    answer = told["http_get_jobs"].answer
    assert answer["statusCode"] == 200
    assert "echo" in body(answer)["jobs"]


def test_a_task_posted_to_the_api_runs_on_the_local_stack(run):
    task = stage.add_and_follow(run)
    assert (task["status"], task["result"]) == ("succeeded", "over sam local")


def test_the_api_refuses_as_on_aws(run):
    status, answer = run.http("POST", "/tasks", {"job": "no_such_job"})
    assert (status, answer["error"]["code"]) == (400, "unknown_job")
    assert run.http("GET", "/no/such/path")[0] == 404


@pytest.mark.parametrize("answer", ["", '{"errorMessage": "no Records", "errorType": "KeyError"}'])
def test_what_a_function_failed_with_is_never_taken_for_its_answer(answer):
    with pytest.raises(FunctionError, match="why it failed"):
        told_by(answer, "why it failed")
