"""Bodies that are no strict JSON, or of another shape."""

import json

import pytest
from bad_values import FIELDS, LATER

BAD_JSON = {
    "nothing": "",
    "white space": " ",
    "null": "null",
    "text": "hello",
    "a list": "[]",
    "a task in a list": '[{"job": "echo"}]',
    "a string": '"x"',
    "a number": "1",
    "half an object": "{",
    "a byte order mark": "\ufeff{}",
    "two values": '{"job": "echo"} {}',
    "single quotes": "{'job': 'echo'}",
    "a trailing comma": '{"job": "echo",}',
    "a comment": '{"job": "echo"} // now',
    "NaN": '{"job": "echo", "payload": NaN}',
    "Infinity": '{"job": "echo", "payload": [Infinity]}',
    "-Infinity": '{"job": "echo", "delay_seconds": -Infinity}',
    "a number beyond the floats": '{"job": "echo", "payload": 1e999}',
    "such a delay": '{"job": "echo", "delay_seconds": 1e400}',
    "such a time": '{"job": "echo", "run_at": 1e400}',
    "a member twice": '{"job": "echo", "job": "echo"}',
    "a member twice, once escaped": '{"job": "echo", "j\\u006fb": "echo"}',
    "a member twice within": '{"job": "echo", "payload": {"a": 1, "a": 1}}',
    "a lone surrogate": '{"job": "echo", "payload": "\\ud800"}',
    "a low one": '{"job": "echo", "payload": "\\udc00x"}',
    "one in a name": '{"job": "echo", "payload": {"\\udfff": 1}}',
    "two in the wrong order": '{"job": "echo", "payload": "\\udc00\\ud800"}',
    "one in a key": '{"job": "echo", "key": "\\ud800"}',
    "an integer without end": f'{{"job": "echo", "payload": {"9" * 4_300}}}',
    "such an integer for attempts": f'{{"job": "echo", "max_attempts": -{"9" * 100_000}}}',
    "open brackets": '{"job": "echo", "payload": ' + "[" * 100_000,
    "brackets": f'{{"job": "echo", "payload": {"[" * 100_000}{"]" * 100_000}}}',
    "brackets alone": "[" * 100_000 + "]" * 100_000,
    "objects": '{"a":' * 100_000,
    "a raw control character": '{"job": "ec\nho"}',
    "a raw NUL": '{"job": "ec\x00ho"}',
    "a NUL": "\x00",
    "a form": "job=echo&payload=1",
    "markup": "<job>echo</job>",
}
BAD_BYTES = {
    "no UTF-8": b'{"job": "\xff"}',
    "half a character": b'{"job": "\xc3"}',
    "a surrogate as UTF-8": b'{"job": "echo", "payload": "\xed\xa0\x80"}',
    "an overlong NUL": b'{"job": "echo", "payload": "\xc0\x80"}',
    "UTF-16": '{"job": "echo"}'.encode("utf-16"),
    "Latin-1": '{"job": "echo", "payload": "é"}'.encode("latin-1"),
    "gzip": b"\x1f\x8b\x08\x00",
}
DOORS = [
    ("POST", "/tasks"),
    ("POST", "/tasks/batch"),
    ("PATCH", "/tasks/{}"),
    ("POST", "/dead/redrive"),
    ("PUT", "/schedules/nightly"),
]


@pytest.fixture
def send(http, task_id):
    """A raw body for a door -> (status, error)."""

    def call(method, path, raw=None, **more):
        status, told = http(method, path.format(task_id), raw=raw, **more)
        return status, told["error"]

    return call


@pytest.mark.parametrize("as_base64", [False, True], ids=["as text", "as base64"])
@pytest.mark.parametrize(("method", "path"), DOORS)
def test_what_is_no_strict_json_is_refused_and_nothing_is_stored(
    send, unchanged, method, path, as_base64
):
    for name, raw in BAD_JSON.items():
        status, error = send(method, path, raw, as_base64=as_base64)
        assert status == 400, (name, error)
        assert error["code"].startswith(("invalid_", "unknown_field")), name
        assert len(error["message"]) < 300, name
    assert unchanged()


@pytest.mark.parametrize(("method", "path"), DOORS)
def test_bytes_that_are_no_utf_8_are_refused(send, unchanged, method, path):
    for name, raw in BAD_BYTES.items():
        status, error = send(method, path, raw, as_base64=True)
        assert (status, error["code"]) == (400, "invalid_json"), name
        assert "UTF-8" in error["message"], name
    assert unchanged()


@pytest.mark.parametrize(("method", "path"), DOORS)
def test_a_request_without_a_body_is_refused(send, unchanged, method, path):
    status, error = send(method, path)
    assert status == 400
    assert error["message"]
    assert unchanged()


@pytest.mark.parametrize(("method", "path"), DOORS)
def test_a_body_over_its_limit_in_bytes_is_too_large(send, unchanged, method, path):
    for letter in "xé":
        text = letter * (5 * 1024 * 1024 // len(letter.encode()) + 1)
        status, error = send(method, path, json.dumps({"job": text}, ensure_ascii=False))
        assert (status, error["code"]) == (413, "body_too_large")
    assert unchanged()


def test_a_body_is_json_whatever_its_sender_calls_it(api_app, event, context):
    """curl's -d says that it is a form."""
    kinds = ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "\x00", ""]
    kinds += ["multipart/form-data; boundary=x", "Application/JSON;charset=UTF-8", "text/xml"]
    for kind in kinds:
        request = event("http_post_tasks") | {"headers": {"content-type": kind}}
        for body, status in [('{"job": "echo"}', 201), ("job=echo", 400), ("--x\r\n--x--", 400)]:
            answer = api_app.handler(request | {"body": body}, context())
            assert answer["statusCode"] == status
            assert answer["headers"]["Content-Type"] == "application/json"
            if status == 400:
                assert json.loads(answer["body"])["error"]["code"] == "invalid_json"


# --- batches, moves, redrives


def test_a_batch_of_nothing_or_too_much_is_refused_whole(http, unchanged):
    for tasks in [None, [], {}, "echo", 5, [{"job": "echo"}] * 501]:
        status, told = http("POST", "/tasks/batch", {"tasks": tasks})
        assert status == 400
        assert (told["error"]["code"], told["error"]["field"]) == ("invalid_tasks", "tasks")
    assert unchanged()


def test_a_batch_of_another_shape_is_refused_whole(http, unchanged):
    for body, field in [
        ({}, "tasks"),
        ({"task": []}, "tasks"),
        ({"tasks": [{"job": "echo"}], "atomic": True}, "atomic"),
    ]:
        status, told = http("POST", "/tasks/batch", body)
        assert (status, told["error"]["field"]) == (400, field)
    assert unchanged()


MOVES = [
    ({}, "invalid_run_at"),
    ({"run_at": None}, "invalid_run_at"),
    ({"run_at": None, "delay_seconds": None}, "invalid_run_at"),
    ({"run_at": LATER, "delay_seconds": 60}, "invalid_run_at"),
    ({"payload": 1}, "unknown_field"),
    ({"run_at": LATER, "job": "echo"}, "unknown_field"),
    *[({"run_at": value}, "invalid_run_at") for value in FIELDS["run_at"]],
    *[({"delay_seconds": value}, "invalid_delay_seconds") for value in FIELDS["delay_seconds"]],
]


def test_a_bad_move_is_refused_and_moves_nothing(http, task_id, unchanged):
    for body, code in MOVES:
        status, told = http("PATCH", f"/tasks/{task_id}", body)
        assert (status, told["error"]["code"]) == (400, code), f"{body!r:.60}"
    assert unchanged()


REDRIVES = [
    ("dry_run", 1),
    ("dry_run", "true"),
    ("limit", True),
    ("limit", "5"),
    ("limit", 0),
    ("limit", 501),
    ("limit", 5.5),
    ("job", "a b"),
    ("job", 5),
    ("from", 1_793_511_000_000),
    ("from", "2026-12-01T09:00:00"),
    ("to", "soon"),
    ("to", True),
    ("start", LATER),
    ("tenant", "acme"),
]


def test_a_bad_redrive_is_refused_by_name(http, unchanged):
    for field, value in REDRIVES:
        status, told = http("POST", "/dead/redrive", {field: value})
        assert (status, told["error"]["field"]) == (400, field), value
    assert unchanged()
