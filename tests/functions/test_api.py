from datetime import UTC, datetime, timedelta

import pytest

pytestmark = pytest.mark.usefixtures("deployed")


def soon(seconds):
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_a_task_is_created_and_can_be_read(http):
    status, told = http("POST", "/tasks", {"job": "echo", "payload": {"a": [1, None, "é"]}})
    assert status == 201
    assert told["status"] == "scheduled"
    assert told["payload"] == {"a": [1, None, "é"]}
    assert told["run_at"].endswith("Z")
    status, read = http("GET", f"/tasks/{told['task_id']}")
    assert status == 200
    assert read["task_id"] == told["task_id"]
    assert read["payload"] == told["payload"]
    assert read["attempts"] == 0
    assert [entry["what"] for entry in read["history"]] == ["created", "claimed", "sent"]
    assert read["timeline"]["created_at"] is not None
    assert read["lateness_ms"] is None


def test_a_near_task_is_sent_at_once_and_a_far_one_is_not(http, messages):
    http("POST", "/tasks", {"job": "echo", "delay_seconds": 0})
    http("POST", "/tasks", {"job": "echo", "delay_seconds": 3600})
    assert len(messages()) == 1


def test_a_time_past_means_now(http):
    status, told = http("POST", "/tasks", {"job": "echo", "run_at": "2020-01-01T00:00:00Z"})
    assert status == 201
    assert told["run_at"] > "2026"


def test_an_offset_is_told_as_utc(http):
    wanted = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=5)
    local = wanted.astimezone(tz=None).astimezone(UTC).isoformat().replace("+00:00", "+06:00")
    _, told = http("POST", "/tasks", {"job": "echo", "run_at": local})
    due = datetime.fromisoformat(told["run_at"])
    assert due == max(wanted - timedelta(hours=6), due)


def test_the_same_key_and_body_give_the_same_task(http):
    body = {"job": "echo", "key": "k", "payload": {"a": 1, "b": 2}, "run_at": soon(3600)}
    turned = dict(reversed(body.items()))
    first_status, first = http("POST", "/tasks", body)
    status, told = http("POST", "/tasks", turned)
    assert (first_status, status) == (201, 200)
    assert told["task_id"] == first["task_id"]


def test_the_same_key_with_another_body_changes_nothing(http):
    _, first = http("POST", "/tasks", {"job": "echo", "key": "k", "payload": 1})
    status, told = http("POST", "/tasks", {"job": "echo", "key": "k", "payload": 2})
    assert status == 409
    assert first["task_id"] in told["error"]["message"]
    assert http("GET", f"/tasks/{first['task_id']}")[1]["payload"] == 1


def test_one_key_of_two_tenants_is_two_tasks(http):
    answers = [
        http("POST", "/tasks", {"job": "echo", "key": "k", "tenant": tenant}) for tenant in "ab"
    ]
    assert [status for status, _ in answers] == [201, 201]
    assert answers[0][1]["task_id"] != answers[1][1]["task_id"]


def test_a_job_that_is_not_deployed_is_refused_and_the_deployed_ones_named(http):
    status, told = http("POST", "/tasks", {"job": "ecko"})
    assert status == 400
    assert told["error"]["code"] == "unknown_job"
    assert "echo" in told["error"]["message"]


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, "invalid_job", "job"),
        ({"job": 5}, "invalid_job", "job"),
        ({"job": None}, "invalid_job", "job"),
        ({"job": ""}, "invalid_job", "job"),
        ({"job": "a b"}, "invalid_job", "job"),
        ({"job": "x" * 129}, "invalid_job", "job"),
        ({"job": "echo", "run_at": "tomorrow"}, "invalid_run_at", "run_at"),
        ({"job": "echo", "run_at": 1_800_000_000}, "invalid_run_at", "run_at"),
        ({"job": "echo", "run_at": "2026-12-01T09:00:00"}, "invalid_run_at", "run_at"),
        ({"job": "echo", "run_at": "2026-02-30T09:00:00Z"}, "invalid_run_at", "run_at"),
        ({"job": "echo", "run_at": "0001-01-01T00:00:00+10:00"}, None, None),
        ({"job": "echo", "run_at": "9999-12-31T23:59:59-10:00"}, "invalid_run_at", "run_at"),
        ({"job": "echo", "run_at": "2099-01-01T00:00:00Z"}, "invalid_run_at", "run_at"),
        ({"job": "echo", "delay_seconds": -1}, "invalid_delay_seconds", "delay_seconds"),
        ({"job": "echo", "delay_seconds": "5"}, "invalid_delay_seconds", "delay_seconds"),
        ({"job": "echo", "delay_seconds": True}, "invalid_delay_seconds", "delay_seconds"),
        ({"job": "echo", "delay_seconds": 1e300}, "invalid_delay_seconds", "delay_seconds"),
        ({"job": "echo", "delay_seconds": 10**400}, "invalid_delay_seconds", "delay_seconds"),
        (
            {"job": "echo", "delay_seconds": 1, "run_at": "2026-12-01T09:00:00Z"},
            "invalid_run_at",
            "run_at",
        ),
        ({"job": "echo", "key": ""}, "invalid_key", "key"),
        ({"job": "echo", "key": "x" * 257}, "invalid_key", "key"),
        ({"job": "echo", "key": "a\nb"}, "invalid_key", "key"),
        ({"job": "echo", "key": 7}, "invalid_key", "key"),
        ({"job": "echo", "tenant": "a#b"}, "invalid_tenant", "tenant"),
        ({"job": "echo", "max_attempts": 0}, "invalid_max_attempts", "max_attempts"),
        ({"job": "echo", "max_attempts": 21}, "invalid_max_attempts", "max_attempts"),
        ({"job": "echo", "max_attempts": 2.5}, "invalid_max_attempts", "max_attempts"),
        ({"job": "echo", "max_attempts": True}, "invalid_max_attempts", "max_attempts"),
        (
            {"job": "echo", "expires_after_seconds": 0},
            "invalid_expires_after_seconds",
            "expires_after_seconds",
        ),
        ({"job": "echo", "payloads": 1}, "unknown_field", "payloads"),
        ([], "invalid_body", None),
        ("text", "invalid_body", None),
        (5, "invalid_body", None),
    ],
)
def test_each_malformed_field_is_refused_by_name(http, body, code, field):
    status, told = http("POST", "/tasks", body)
    if code is None:
        assert status == 201
        return
    assert status == 400
    error = told["error"]
    assert error["code"] == code
    assert error.get("field") == field
    assert len(error["message"]) > 10


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "null",
        "{",
        "{'job': 'echo'}",
        '{"job": "echo"} x',
        '{"job": "echo", "payload": NaN}',
        '{"job": "echo", "payload": -Infinity}',
        '{"job": "echo", "payload": 1e999}',
        '{"job": "echo", "job": "echo"}',
        '{"job": "echo", "payload": {"a": 1, "a": 2}}',
        '{"job": "echo", "payload": "\\ud800"}',
        '{"job": "echo", "payload": {"\\udfff": 1}}',
        '{"job": "echo", "payload": ' + "9" * 4300 + "}",
        '{"job": "echo", "payload": ' + "[" * 33 + "]" * 33 + "}",
        '{"job": "echo", "payload": ' + "[" * 100_000 + "]" * 100_000 + "}",
        '{"job": "echo", "payload": ' + '{"a":' * 50_000 + "1" + "}" * 50_000 + "}",
        "\ufeff{}",
        "\x00",
    ],
    ids=lambda raw: repr(raw[:50]),
)
@pytest.mark.parametrize("as_base64", [False, True])
def test_what_is_no_strict_json_is_refused(http, raw, as_base64):
    status, told = http("POST", "/tasks", raw=raw, as_base64=as_base64)
    assert status == 400
    assert told["error"]["code"].startswith("invalid_")
    assert told["error"]["message"]


def test_a_body_may_come_in_base64(http):
    status, told = http("POST", "/tasks", {"job": "echo", "payload": "é"}, as_base64=True)
    assert status == 201
    assert told["payload"] == "é"


def test_bytes_that_are_no_utf8_are_refused(http):
    status, told = http("POST", "/tasks", raw=b'{"job": "\xff"}', as_base64=True)
    assert status == 400
    assert told["error"]["code"] == "invalid_json"


def test_base64_that_is_none_is_refused(http, api_app, event):
    from .conftest import Context

    request = event("http_post_tasks") | {"isBase64Encoded": True, "body": "%%%"}
    assert api_app.handler(request, Context())["statusCode"] == 400


def test_a_payload_at_the_limit_comes_back_as_it_went_in(http):
    payload = "x" * (256 * 1024 - 2)
    status, told = http("POST", "/tasks", {"job": "echo", "payload": payload})
    assert status == 201
    assert http("GET", f"/tasks/{told['task_id']}")[1]["payload"] == payload


@pytest.mark.parametrize("payload", ["x" * (256 * 1024 - 1), "é" * (128 * 1024)])
def test_a_payload_over_the_limit_is_too_large(http, payload):
    status, told = http("POST", "/tasks", {"job": "echo", "payload": payload})
    assert status == 413
    assert told["error"]["code"] == "payload_too_large"
    assert told["error"]["field"] == "payload"


def test_a_body_over_the_limit_is_too_large(http):
    status, told = http("POST", "/tasks", raw=" " * (5 * 1024 * 1024) + "{}")
    assert status == 413
    assert told["error"]["code"] == "body_too_large"


@pytest.mark.parametrize(
    "task_id",
    ["nosuchtask", "1" + "A" * 24, "2" + "A" * 24, "1" + "_" * 24, "%00", "é", "x" * 5000],
)
def test_an_id_of_no_task_is_not_found(http, task_id):
    status, told = http("GET", f"/tasks/{task_id}")
    assert status == 404
    assert told["error"]["code"] == "not_found"


def test_the_jobs_are_listed(http):
    status, told = http("GET", "/jobs")
    assert status == 200
    assert {"aws.call", "echo", "http.post"} <= set(told["jobs"])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/nothing"),
        ("GET", "/tasks/a/b"),
        ("POST", "/tasks/a/b/c"),
    ],
)
def test_a_path_that_is_not_served_is_not_found(http, method, path):
    status, told = http(method, path)
    assert status == 404
    assert path in told["error"]["message"]


def test_a_store_that_does_not_answer_is_unavailable_not_a_crash(api_app, event, monkeypatch):
    from minutero import wiring
    from minutero.errors import Unavailable

    from .conftest import Context

    class Down:
        def add_task(self, *_):
            raise Unavailable("throttled")

    monkeypatch.setattr(wiring, "api", Down)
    answer = api_app.handler(event("http_post_tasks"), Context())
    assert answer["statusCode"] == 503
    assert answer["headers"]["Retry-After"]


def test_the_event_as_api_gateway_sends_it_is_served(api_app, event):
    from .conftest import Context

    answer = api_app.handler(event("http_post_tasks"), Context())
    assert answer["statusCode"] == 201
    assert answer["headers"]["Content-Type"] == "application/json"
