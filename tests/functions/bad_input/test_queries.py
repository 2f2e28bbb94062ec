"""Ids in a path, and query strings."""

from urllib.parse import quote

import pytest
from bad_values import FIELDS, LATER, NEXT, SOON, TIMES, query

NO_IDS = ["x", "1" + "A" * 24, "2" + "A" * 24, "1" + "_" * 24, "1" + "+" * 24, "x" * 5_000, "%00"]
NO_IDS += ["%2E%2E%2Ftasks", "..", "é", "日本", "\x00", "\n", " ", "<script>", "a b", "a;b", "a'b"]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/tasks/{}"),
        ("DELETE", "/tasks/{}"),
        ("PATCH", "/tasks/{}"),
        ("POST", "/tasks/{}/run"),
        ("POST", "/tasks/{}/redrive"),
        ("GET", "/dead/{}"),
        ("DELETE", "/dead/{}"),
    ],
)
def test_an_id_of_no_task_is_not_found(http, unchanged, method, path):
    for task_id in NO_IDS:
        body = {"run_at": LATER} if method == "PATCH" else None
        status, told = http(method, path.format(task_id), body)
        assert (status, told["error"]["code"]) == (404, "not_found"), repr(task_id)[:40]
        assert len(told["error"]["message"]) < 300
    assert unchanged()


@pytest.mark.parametrize("path", ["/tasks", "/dead", "/stats"])
@pytest.mark.parametrize("name", ["from_", "to"])
def test_a_bad_time_in_a_query_is_refused_by_name(http, unchanged, path, name):
    field = name.rstrip("_")
    for value in [*TIMES, "true", "null", "now", "2026-12-01T09:00:00 01:00", "\x00", "\ud800"]:
        asked = {"from_": SOON, "to": LATER, name: value}
        status, told = http("GET", f"{path}?{query(**asked)}")
        error = told["error"]
        assert (status, error["code"], error["field"]) == (400, f"invalid_{field}", field), value
    assert unchanged()


@pytest.mark.parametrize("path", ["/tasks", "/dead", "/stats"])
@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("0001-01-01T00:00:00Z", "0001-01-01T00:02:00Z"),
        ("0001-01-01T00:00:00+23:59", "0001-01-01T00:00:01Z"),
        ("9999-12-31T23:58:00Z", "9999-12-31T23:59:59.999999999Z"),
        ("9999-12-31T23:59:59-23:59", "9999-12-31T23:59:59-23:59"),
        ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"),
    ],
)
def test_the_ends_of_the_calendar_can_be_asked_for(http, unchanged, path, first, last):
    status, told = http("GET", f"{path}?{query(from_=first, to=last)}")
    assert status in (200, 400), told
    assert status == 200 or told["error"]["field"] in ("from", "to")
    assert unchanged()


LIMITS = [
    "0",
    "501",
    "-1",
    "1.5",
    "ten",
    "",
    "+5",
    " 5",
    "5 ",
    "\u0665",
    "1e2",
    "true",
    "5,6",
    "9" * 5_000,
]


@pytest.mark.parametrize("path", ["/tasks", "/dead"])
def test_a_bad_limit_is_refused(http, path):
    for value in LIMITS:
        status, told = http("GET", f"{path}?{query(from_=SOON, to=NEXT, limit=value)}")
        assert (status, told["error"]["code"]) == (400, "invalid_limit"), value
        assert len(told["error"]["message"]) < 200


@pytest.mark.parametrize("path", ["/tasks", "/dead"])
def test_a_bad_job_in_a_query_is_refused(http, path):
    for value in ["", "a b", "a\x00", "é", "x" * 129, "a,b", "*"]:
        status, told = http("GET", f"{path}?{query(from_=SOON, to=NEXT, job=value)}")
        assert (status, told["error"]["code"]) == (400, "invalid_job"), value


def test_a_bad_status_in_a_query_is_refused_and_the_nine_named(http):
    for value in ["", "lost", "Dead", "dead,", "scheduled dead", "superseded"]:
        status, told = http("GET", f"/tasks?{query(from_=SOON, to=NEXT, status=value)}")
        assert (status, told["error"]["code"]) == (400, "invalid_status"), value
        assert "retrying" in told["error"]["message"]


@pytest.mark.parametrize("field", ["key", "tenant"])
def test_a_bad_key_or_tenant_in_a_query_is_refused(http, field):
    for value in filter(lambda value: isinstance(value, str), FIELDS[field]):
        status, told = http("GET", f"/tasks?{query(**{'key': 'k', field: value})}")
        assert (status, told["error"]["code"]) == (400, f"invalid_{field}"), value


@pytest.mark.parametrize("path", ["/tasks", "/dead", "/stats"])
def test_a_parameter_there_is_not_is_refused_by_name(http, path):
    for name in ["form", "From", "", "x" * 5_000, "__class__", "start", "end", "\x00", "from_"]:
        status, told = http("GET", f"{path}?{query(from_=SOON, to=NEXT)}&{quote(name)}=1")
        error = told["error"]
        assert (status, error["code"]) == (400, "unknown_parameter"), name[:20]
        assert error.get("field", "") == name[:80]
        assert len(error["message"]) < 300
