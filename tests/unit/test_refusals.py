"""Each error a client may meet, as HTTP tells it."""

import pytest
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from minutero.errors import (
    Conflict,
    InvalidInput,
    JobsUnknown,
    KeyConflict,
    MinuteroError,
    NotFound,
    PermanentFailure,
    Unavailable,
    UnknownJob,
)
from minutero.http.refusals import TOLD, Refusal, refusal_of

TASK = "1AGsMiU0ABxESExQVFhcYGRob"

REFUSED = [
    (InvalidInput("invalid_run_at", "send a time", "run_at"), 400, "invalid_run_at"),
    (UnknownJob("no_such_job", frozenset({"echo"})), 400, "unknown_job"),
    (InvalidInput("payload_too_large", "send less", "payload"), 413, "payload_too_large"),
    (InvalidInput("body_too_large", "send less"), 413, "body_too_large"),
    (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "?"), 400, "invalid_json"),
    (RequestValidationError([{"loc": ("body",), "type": "json_invalid"}]), 400, "invalid_json"),
    (NotFound(f"no task {TASK}"), 404, "not_found"),
    (Conflict(f"task {TASK} is running"), 409, "conflict"),
    (KeyConflict("order-17", TASK), 409, "conflict"),
    (Unavailable("arn:aws:dynamodb:eu-west-1:1234:table/Tasks throttled"), 503, "unavailable"),
    (JobsUnknown(), 503, "jobs_unknown"),
]


@pytest.mark.parametrize(("error", "status", "code"), REFUSED, ids=lambda value: str(value)[:40])
def test_each_error_has_its_status_and_its_code(error, status, code):
    refusal = refusal_of(error)
    assert (refusal.status, refusal.code) == (status, code)
    assert set(refusal.body()) == {"error"}
    assert refusal.body()["error"]["code"] == code
    assert refusal.body()["error"]["message"]


def test_only_what_did_not_answer_says_when_to_try_again():
    retried = {code for error, _, code in REFUSED if refusal_of(error).retry_after}
    assert retried == {"unavailable", "jobs_unknown"}


def test_a_message_of_awss_is_for_the_log_and_not_for_a_client():
    told = str(refusal_of(Unavailable("arn:aws:dynamodb:eu-west-1:1234:table/Tasks")).body())
    assert "arn" not in told
    assert "send the request again" in told


def test_the_field_is_named_where_one_is_at_fault_and_left_out_where_none_is():
    assert Refusal(400, "invalid_run_at", "send a time", "run_at").body()["error"] == {
        "code": "invalid_run_at",
        "message": "send a time",
        "field": "run_at",
    }
    assert "field" not in Refusal(404, "not_found", "no task").body()["error"]


def test_a_key_conflict_names_the_task_that_has_the_key():
    message = refusal_of(KeyConflict("order-17", TASK)).message
    assert "order-17" in message
    assert TASK in message


@pytest.mark.parametrize("error", [error for error, _, _ in REFUSED], ids=lambda e: str(e)[:40])
def test_whatever_has_a_refusal_is_told(error):
    assert isinstance(error, TOLD)


@pytest.mark.parametrize(
    "error", [KeyError("bucket"), MinuteroError("?"), PermanentFailure("x"), ValueError("x")]
)
def test_our_own_faults_are_no_refusals(error):
    """They are a 500 and a trace in the log."""
    assert not isinstance(error, TOLD)
    with pytest.raises(type(error)) as raised:
        refusal_of(error)
    assert raised.value is error
