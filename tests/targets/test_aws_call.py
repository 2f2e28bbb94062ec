"""aws.call against a server that speaks as AWS does."""

import json
import re
import uuid
from dataclasses import replace

import pytest
from receiver import hanging, plain, raw, receiving

from minutero import PermanentFailure
from minutero.domain.run import succeeded
from minutero.targets import aws_call
from minutero.testing import job_run

ALLOWED = (
    "ecs:RunTask,iam:PassRole,lambda:InvokeFunction,sqs:SendMessage,events:PutEvents,"
    "states:StartExecution"
)
QUEUE = "https://sqs.us-east-1.amazonaws.com/123456789012/orders"


@pytest.fixture(scope="module")
def aws():
    """One server for all, since opening a client takes a tenth of a second; `answer` is what it says next."""
    with receiving(lambda connection, receiver: receiver.answer(connection, receiver)) as server:
        yield server


@pytest.fixture
def call(aws, monkeypatch):
    """Calls an action of the AWS that answers so; gives the result, and the request that was sent."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("MINUTERO_AWS_CALL_ACTIONS", ALLOWED)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{aws.port}")

    def call(answer, name, parameters, run=None):
        service, action = name.split(".")
        aws.answer = answer
        aws.requests.clear()
        payload = {"service": service, "action": action, "parameters": parameters}
        result = aws_call.call(payload, run or job_run("aws.call"))
        (request,) = aws.requests
        return result, request

    yield call
    assert len(aws.requests) <= 1, "it was asked more than once"


def told(status=200, **members):
    return plain(status, json.dumps(members).encode())


def sent(request):
    return json.loads(request.partition(b"\r\n\r\n")[2])


RUN_TASK = {"cluster": "c", "taskDefinition": "t"}


def test_the_answer_is_the_result_without_its_envelope(call):
    result, request = call(told(tasks=[{"taskArn": "arn:a"}]), "ecs.run_task", RUN_TASK)
    assert result == {"tasks": [{"taskArn": "arn:a"}]}
    assert b"AmazonEC2ContainerServiceV20141113.RunTask" in request


def test_the_token_of_an_action_is_made_of_the_runs_key_and_the_same_for_every_attempt(call):
    tokens = {
        sent(call(told(tasks=[]), "ecs.run_task", RUN_TASK, run)[1])["clientToken"]
        for run in (job_run("aws.call"), job_run("aws.call", attempt=2))
    }
    (token,) = tokens
    assert str(uuid.UUID(token)) == token
    other = job_run("aws.call", task_id="task-2")
    assert sent(call(told(tasks=[]), "ecs.run_task", RUN_TASK, other)[1])["clientToken"] != token


def test_a_token_that_the_payload_gives_is_left_alone(call):
    parameters = {**RUN_TASK, "clientToken": "mine"}
    _, request = call(told(tasks=[]), "ecs.run_task", parameters)
    assert sent(request)["clientToken"] == "mine"


def test_an_execution_is_named_by_the_runs_key_and_what_was_started_before_is_done(call):
    machine = {"stateMachineArn": "arn:aws:states:us-east-1:123456789012:stateMachine:m"}
    answer = told(executionArn="arn:e", startDate=1)
    result, request = call(answer, "states.start_execution", machine)
    assert result["executionArn"] == "arn:e"
    assert uuid.UUID(sent(request)["name"])
    before = told(400, __type="ExecutionAlreadyExists", message="it is there")
    result, request = call(before, "states.start_execution", machine)
    assert result == {"started_before": {"name": sent(request)["name"]}}
    with pytest.raises(PermanentFailure, match="ExecutionAlreadyExists"):
        call(before, "states.start_execution", {**machine, "name": "mine"})


def test_a_fifo_queue_gets_the_runs_key_and_another_does_not(call):
    message = {"MessageBody": "m"}
    fifo = {**message, "QueueUrl": f"{QUEUE}.fifo", "MessageGroupId": "g"}
    _, request = call(told(MessageId="1"), "sqs.send_message", fifo)
    assert uuid.UUID(sent(request)["MessageDeduplicationId"])
    _, request = call(told(MessageId="1"), "sqs.send_message", {**message, "QueueUrl": QUEUE})
    assert "MessageDeduplicationId" not in sent(request)


def test_a_function_is_invoked_and_what_it_answers_is_the_result(call):
    parameters = {"FunctionName": "f", "Payload": '{"a": 1}'}
    result, request = call(plain(200, b'{"b": 2}'), "lambda.invoke", parameters)
    assert json.loads(result["Payload"]) == {"b": 2}
    assert sent(request) == {"a": 1}


def test_an_answer_that_is_long_is_kept_in_part(call):
    result, _ = call(plain(200, b"x" * 100_000), "lambda.invoke", {"FunctionName": "f"})
    assert len(result["Payload"]) == aws_call.BODY_LIMIT
    assert succeeded(result).result


# --- failures that come as success


@pytest.mark.parametrize(
    ("name", "parameters", "answer"),
    [
        ("ecs.run_task", RUN_TASK, told(tasks=[], failures=[{"reason": "RESOURCE:MEMORY"}])),
        (
            "events.put_events",
            {"Entries": [{"Source": "s"}]},
            told(FailedEntryCount=1, Entries=[{"ErrorCode": "InternalFailure"}]),
        ),
        (
            "lambda.invoke",
            {"FunctionName": "f"},
            plain(200, b'{"errorMessage": "no"}', X_Amz_Function_Error="Unhandled"),
        ),
    ],
)
def test_an_answer_that_tells_of_a_failure_is_tried_again(call, name, parameters, answer):
    with pytest.raises(RuntimeError, match="tells of a failure"):
        call(answer, name, parameters)


# --- errors


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "ClientException"),
        (400, "InvalidParameterException"),
        (403, "AccessDeniedException"),
        (404, "ClusterNotFoundException"),
    ],
)
def test_what_aws_refuses_is_permanent(call, status, code):
    with pytest.raises(PermanentFailure, match=code):
        call(told(status, __type=code, message="no"), "ecs.run_task", RUN_TASK)


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "ThrottlingException"),
        (400, "LimitExceededException"),
        (403, "RequestTimeout"),
        (403, "ExpiredTokenException"),
        (409, "ConflictException"),
        (429, "TooManyRequestsException"),
        (500, "ServerException"),
        (503, "ServiceUnavailable"),
    ],
)
def test_what_may_pass_is_tried_again_and_by_the_run_alone(call, status, code):
    with pytest.raises(Exception, match=code) as raised:
        call(told(status, __type=code, message="busy"), "ecs.run_task", RUN_TASK)
    assert not isinstance(raised.value, PermanentFailure)


@pytest.mark.parametrize("answer", [raw(b""), raw(b"HTTP/1.1 2")], ids=["none", "broken"])
def test_no_answer_is_tried_again(call, answer):
    with pytest.raises(Exception, match=r"[Cc]onnection") as raised:
        call(answer, "ecs.run_task", RUN_TASK)
    assert not isinstance(raised.value, PermanentFailure)


def test_an_answer_is_waited_for_as_long_as_the_attempt_has_and_no_longer(call):
    run = replace(job_run("aws.call"), _remaining=lambda: 6.5)
    with pytest.raises(Exception, match=r"[Tt]imeout"):
        call(hanging(), "ecs.run_task", RUN_TASK, run)


@pytest.mark.parametrize(("left", "seconds"), [(6.0, 1), (20.0, 8), (60.0, 32), (900.0, 512)])
def test_the_time_for_an_answer_is_a_power_of_two(left, seconds):
    run = replace(job_run("aws.call"), _remaining=lambda: left)
    assert aws_call._seconds(run) == seconds


def test_an_attempt_without_time_calls_nobody(call):
    with pytest.raises(TimeoutError):
        aws_call._seconds(replace(job_run("aws.call"), _remaining=lambda: 5.5))


# --- what is refused before anything is sent


def refused(name, parameters=None):
    service, _, action = name.partition(".")
    payload = {"service": service, "action": action, "parameters": parameters or {}}
    with pytest.raises(PermanentFailure) as raised:
        aws_call.call(payload, job_run("aws.call"))
    return str(raised.value)


@pytest.mark.parametrize(
    ("name", "action"),
    [
        ("sns.publish", "sns:Publish"),
        ("ecs.stop_task", "ecs:StopTask"),
        ("s3.put_object", "s3:PutObject"),
        ("stepfunctions.stop_execution", "states:StopExecution"),
    ],
)
def test_what_is_not_in_the_list_is_refused_with_what_to_add(call, name, action):
    assert f"add {action} to the stack's parameter AwsCallActions" in refused(name)


@pytest.mark.parametrize("allowed", ["", "ecs:Run", "ecs:*", "ecs:RunTaskSet", "xecs:RunTask"])
def test_nothing_is_allowed_but_what_is_written_in_full(call, monkeypatch, allowed):
    monkeypatch.setenv("MINUTERO_AWS_CALL_ACTIONS", allowed)
    assert "add ecs:RunTask" in refused("ecs.run_task")


@pytest.mark.parametrize("action", ["no_such", "RunTask", "meta", "close", "_make_api_call"])
def test_an_action_that_boto3_does_not_know_is_refused(call, action):
    assert f"ecs has no action {action!r}" in refused(f"ecs.{action}")


@pytest.mark.parametrize("service", ["nobody", "../ecs", "", "x" * 300])
def test_a_service_that_boto3_does_not_know_is_refused(call, service):
    assert "boto3 knows no service" in refused(f"{service}.run_task")


def test_a_parameter_that_the_action_does_not_take_is_refused(call):
    assert "taskDefinition" in refused("ecs.run_task", {"cluster": "c"})


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ([], "must be an object with service, action, parameters"),
        ({"service": "ecs"}, "has no action"),
        ({"service": "ecs", "action": 1}, "action must be text"),
        ({"service": "ecs", "action": "run_task", "parameters": 1}, "must be an object"),
        ({"service": "ecs", "action": "run_task", "region": "x"}, "'region'"),
    ],
)
def test_a_payload_of_another_form_is_refused(payload, message):
    with pytest.raises(PermanentFailure, match=re.escape(message)):
        aws_call.call(payload, job_run("aws.call"))
