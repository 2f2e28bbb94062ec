"""The fields of a new task."""

from itertools import product

import pytest
from bad_values import FIELDS, SOON

WHOLE = ["POST /tasks", "POST /tasks/batch", "add_tasks"]
"""The doors that take a body as it is."""

ALL = [*WHOLE, "add_task", "task_item"]


@pytest.mark.parametrize("field", FIELDS)
def test_a_bad_field_is_refused_by_name_and_nothing_is_stored(doors, unchanged, field):
    # A task of the caller's own transaction has no key.
    for door, value in product(ALL if field != "key" else ALL[:-1], FIELDS[field]):
        status, error = doors[door]({"job": "echo", field: value})
        told = (status, error["code"], error["field"])
        assert told == (400, f"invalid_{field}", field), f"{door} {value!r:.60}: {error}"
        assert len(error["message"]) < 300
        assert error["message"].isprintable()
    assert unchanged()


def test_a_number_sent_as_a_time_is_told_to_be_sent_as_text(doors):
    for door, value in product(ALL, [1_793_511_000, 1_793_511_000_000, "1793511000000"]):
        message = doors[door]({"job": "echo", "run_at": value})[1]["message"]
        assert "since 1970; send RFC 3339 text: 2026-11-01T05:30:00Z" in message
    for door, value in product(ALL, [0, 5, True, 10**400]):
        assert "send text such as" in doors[door]({"job": "echo", "run_at": value})[1]["message"]


def test_a_field_there_is_not_is_refused_by_name(doors, unchanged):
    names = ["runat", "Job", "", "payload ", "\x00", "x" * 5_000, "__proto__", "tags"]
    for door, field in product(WHOLE, names):
        status, error = doors[door]({"job": "echo", field: []})
        assert (status, error["code"]) == (400, "unknown_field"), (door, field[:20])
        assert error.get("field", "") == field[:80]
        assert len(error["message"]) < 200
    assert unchanged()


def test_a_task_without_a_job_is_refused(doors, unchanged):
    for door, body in product(WHOLE, [{}, {"job": None}, {"payload": 1}]):
        status, error = doors[door](body)
        assert (status, error["code"], error["field"]) == (400, "invalid_job", "job"), door
    assert unchanged()


def test_a_time_and_a_delay_at_once_are_refused(doors, unchanged):
    for door in ALL:
        status, error = doors[door]({"job": "echo", "run_at": SOON, "delay_seconds": 0})
        assert (status, error["code"]) == (400, "invalid_run_at"), door
        assert "send one" in error["message"]
    assert unchanged()


def test_a_job_that_is_not_deployed_is_refused_and_those_that_are_named(
    doors, unchanged, job_names
):
    for door in ALL:
        status, error = doors[door]({"job": "ecko"})
        assert (status, error["code"], error["field"]) == (400, "unknown_job", "job"), door
        assert f"deployed: {', '.join(sorted(job_names))}" in error["message"]
    assert unchanged()


def test_a_payload_that_is_nested_too_deep_is_refused_by_name(doors, unchanged):
    for door, deep in product(ALL, [33, 500]):
        payload = 1
        for level in range(deep):
            payload = [payload] if level % 2 else {"in": payload}
        status, error = doors[door]({"job": "echo", "payload": payload})
        told = (status, error["code"], error["field"])
        assert told == (400, "invalid_payload", "payload"), (door, deep)
        assert "32 levels" in error["message"]
    assert unchanged()


def test_a_payload_over_its_limit_is_too_large(doors, unchanged):
    for door in WHOLE:
        status, error = doors[door]({"job": "echo", "payload": "x" * 262_143})
        assert (status, error["code"], error["field"]) == (413, "payload_too_large", "payload")
    assert unchanged()


def test_an_entry_that_is_no_object_is_refused_and_spoils_no_other(doors, unchanged):
    for door, body in product(["POST /tasks/batch", "add_tasks"], [None, [], "echo", 5, True, 1.5]):
        status, error = doors[door](body)
        assert (status, error["code"]) == (400, "invalid_body"), (door, body)
    assert unchanged()


def test_control_characters_may_be_in_a_payload(http):
    """DynamoDB keeps them, NUL too; only names and keys have to be printable."""
    payload = {"a\x00b": "\x00\x1b\x7f\u2028\ufeff", "": [""]}
    status, told = http("POST", "/tasks", {"job": "echo", "payload": payload})
    assert status == 201
    assert http("GET", f"/tasks/{told['task_id']}")[1]["payload"] == payload
