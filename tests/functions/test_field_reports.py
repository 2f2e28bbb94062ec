"""What went wrong for others, at the handlers. docs/field-reports.md lists the reports."""

import base64
import json
import warnings
from collections import Counter

import botocore.client
import pytest

from minutero.aws.queue import encode_message
from minutero.domain.new_task import FURTHEST
from minutero.domain.task import Pointer, new_task_id, place_of

pytestmark = pytest.mark.usefixtures("deployed")

EVENT_LIMIT = 6 * 1024 * 1024
"""Bytes of an event: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html"""

NOW = 1_796_000_000_000


@pytest.fixture
def result_of(http, worker, batch, messages):
    """Adds a task, runs it and tells what became of it."""

    def call(job, payload=None):
        status, added = http("POST", "/tasks", {"job": job, "payload": payload})
        assert status == 201
        assert added["payload"] == payload
        worker(batch(messages()))
        return http("GET", f"/tasks/{added['task_id']}")[1]

    return call


# --- payloads and results


@pytest.mark.parametrize(
    "payload",
    [
        {"price": 30.40, "x": 0.1, "big": 1e30},
        {"lat": 33.10318374633789},
        [5e-324, -1.7976931348623157e308, 9_007_199_254_740_993, 10**4_000, -0.0],
        {"text": "30.40", "none": None, "": {"": [[], {}]}},
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_job_gets_the_very_numbers_that_were_sent(result_of, payload):
    """B134, B135: as DynamoDB's own numbers they raise errors or change."""
    told = result_of("echo", payload)
    assert told["payload"] == payload
    assert repr(told["result"]) == repr(payload)


def test_a_result_that_is_not_json_ends_the_run_once(result_of, register, worker, batch, messages):
    """B166: the worker died after the side effect, and did it again."""
    runs = []
    register("odds", lambda payload, run: runs.append(run.attempt) or {"odds": float("nan")})
    told = result_of("odds")
    assert (told["status"], told["result"], runs) == ("succeeded", None, [1])
    assert "dropped" in told["note"]
    assert messages() == []


def test_a_payload_over_its_limit_is_refused_before_anything_is_written(http, monkeypatch):
    """B148: an item may have 400 KB, and the limit is well below."""
    written = writes(monkeypatch)
    for size in (409_000, 420_000):
        status, told = http("POST", "/tasks", {"job": "echo", "payload": "x" * size})
        assert (status, told["error"]["code"]) == (413, "payload_too_large")
        assert "262144" in told["error"]["message"]
    assert not written


# --- keys and names


def test_the_order_of_members_makes_no_other_request_at_any_depth(http):
    """B129: the raw body was hashed."""
    one = '{"job": "echo", "key": "k", "payload": {"a": 1, "b": {"c": 2, "d": 3}}}'
    other = '{ "payload":{"b":{"d":3,"c":2},"a":1},"key":"k","job":"\\u0065cho"}'
    first, again = (http("POST", "/tasks", raw=raw) for raw in (one, other))
    assert (first[0], again[0]) == (201, 200)
    assert first[1]["task_id"] == again[1]["task_id"]


def test_a_key_with_another_time_is_a_conflict_and_the_first_stands(http):
    """B131: it must be an error, not a replay."""
    body = {"job": "echo", "key": "k1", "run_at": "2030-01-01T10:00:00Z"}
    _, first = http("POST", "/tasks", body)
    status, told = http("POST", "/tasks", body | {"run_at": "2030-01-01T11:00:00Z"})
    assert (status, told["error"]["code"]) == (409, "conflict")
    assert first["task_id"] in told["error"]["message"]
    assert http("GET", f"/tasks/{first['task_id']}")[1]["run_at"] == "2030-01-01T10:00:00Z"
    assert http("POST", "/tasks", body)[1]["task_id"] == first["task_id"]


@pytest.mark.parametrize("letter", ["x", "é", "\U0001f600"])
def test_the_longest_key_fits_whatever_its_letters_and_one_more_is_refused(http, letter):
    """B149: DynamoDB's keys are limited in bytes, and an emoji has four."""
    body = {"job": "echo", "key": letter * 256, "tenant": "t" * 128}
    status, added = http("POST", "/tasks", body)
    assert (status, added["key"]) == (201, letter * 256)
    assert http("POST", "/tasks", body)[1]["task_id"] == added["task_id"]
    for more in (257, 1_100):
        status, told = http("POST", "/tasks", body | {"key": letter * more})
        assert (status, told["error"]["code"]) == (400, "invalid_key")
        assert "256" in told["error"]["message"]
    assert http("POST", "/tasks", {"job": letter * 1_100})[0] == 400
    assert http("GET", f"/tasks/{letter * 1_100}")[0] == 404


# --- requests


def test_a_body_is_read_in_base64_too(http):
    """B158."""
    status, told = http("POST", "/tasks", {"job": "echo", "payload": "✓"}, as_base64=True)
    assert (status, told["payload"]) == (201, "✓")


@pytest.mark.parametrize("as_base64", [False, True])
@pytest.mark.parametrize("body", [None, "", "hello", "[]", '"x"', "{", "\ufeff{}", "0", "nul"])
def test_a_body_that_is_no_object_has_the_one_shape_of_errors(
    api_app, event, context, body, as_base64
):
    """B160."""
    encoded = base64.b64encode(body.encode()).decode() if as_base64 and body else body
    request = event("http_post_tasks") | {"body": encoded, "isBase64Encoded": as_base64}
    answer = api_app.handler(request, context())
    assert answer["statusCode"] == 400
    told = json.loads(answer["body"])
    assert told.keys() == {"error"}
    assert told["error"].keys() <= {"code", "message", "field"}
    assert len(told["error"]["message"]) > 10


def test_ten_of_the_largest_messages_are_far_below_an_events_limit(template):
    """B168: ten messages of SQS's own limit would be 10 MB."""
    task_id = new_task_id(NOW + FURTHEST, 65_535)
    pointer = Pointer(
        place_of(task_id, 9_999, NOW + FURTHEST), NOW + FURTHEST, "t" * 128, large=True
    )
    events = template["Resources"]["WorkerFunction"]["Properties"]["Events"].values()
    (size,) = (one["Properties"]["BatchSize"] for one in events if one["Type"] == "SQS")
    assert size * len(encode_message(pointer, "r" * 1_000)) < EVENT_LIMIT // 100


# --- writes and warnings


def writes(monkeypatch):
    """Counts how often each item of each table is written from now on."""
    counts = Counter()
    real = botocore.client.BaseClient._make_api_call

    def items(operation, request):
        if operation in ("PutItem", "UpdateItem", "DeleteItem"):
            yield request
        for action in request.get("TransactItems", ()):
            yield from action.values()
        for table, requests in request.get("RequestItems", {}).items():
            if operation == "BatchWriteItem":
                yield from ({"TableName": table, **one["PutRequest"]} for one in requests)

    def call(client, operation, request):
        for item in items(operation, request):
            keys = item.get("Key") or item["Item"]
            told = {name: keys[name] for name in ("bucket", "sk", "id", "shard") if name in keys}
            counts[f"{item['TableName']} {sorted(told.items())}"] += 1
        return real(client, operation, request)

    monkeypatch.setattr(botocore.client.BaseClient, "_make_api_call", call)
    return counts


def test_no_row_is_written_by_every_task(http, worker, batch, messages, monkeypatch):
    """B142: a row of counts was throttled."""
    http("POST", "/tasks", {"job": "echo"})
    messages()
    written = writes(monkeypatch)
    tasks = 12
    for n in range(tasks):
        http("POST", "/tasks", {"job": "echo", "key": f"k{n}", "payload": "x" * 1_000})
    while bodies := messages():
        worker(batch(bodies))
    assert sum(written.values()) >= 5 * tasks
    assert max(written.values()) < tasks / 2


def test_powertools_finds_nothing_to_warn_of(result_of):
    """B125: without the Lambda context its records never expire, and all it does is warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert result_of("echo", 1)["status"] == "succeeded"
