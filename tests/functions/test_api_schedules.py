"""Schedules over HTTP: made, changed, told, paused, run and deleted, on the tables of the template."""

from datetime import UTC, datetime, timedelta
from itertools import product
from urllib.parse import urlencode

import pytest

pytestmark = pytest.mark.usefixtures("deployed")

LEAST = {"job": "echo", "expression": "rate(1 day)"}


@pytest.fixture
def put(http):
    """The status and the schedule that came of a body."""
    return lambda name="nightly", **more: http("PUT", f"/schedules/{name}", {**LEAST, **more})


@pytest.fixture
def nightly(put):
    return put(payload={"a": 1})[1]


@pytest.fixture
def ask(http):
    """A call about the schedule nightly."""

    def call(method="GET", path="", body=None, **query):
        asked = (
            f"?{urlencode({name.strip('_'): at for name, at in query.items()})}" if query else ""
        )
        return http(method, f"/schedules/nightly{path}{asked}", body)

    return call


def refused(answer):
    status, told = answer
    return status, told["error"]["code"], told["error"].get("field")


# --- put


def test_a_schedule_is_made_and_told_as_it_was_put(put, ask):
    said = {
        "payload": {"a": [1, None, "é"]},
        "expression": "cron(0 18 ? * FRI *)",
        "timezone": "America/Mexico_City",
        "start_at": "2026-01-01T00:00:00Z",
        "end_at": "2090-01-01T00:00:00Z",
        "jitter_seconds": 60,
        "on_gap": "next",
        "on_overlap": "both",
        "misfire": {"policy": "all", "grace_seconds": 0, "max_catch_up": 7},
        "overlap": "queue",
        "enabled": True,
        "max_attempts": 3,
        "tenant": "acme",
    }
    status, made = put(**said)
    assert (status, made["changed"], made["warnings"]) == (201, True, [])
    assert {name: made[name] for name in said} == said
    assert (made["name"], made["version"], made["finished"]) == ("nightly", 1, False)
    status, told = ask()
    assert status == 200
    assert told == {name: made[name] for name in made if name not in ("changed", "warnings")}


def test_the_same_body_again_changes_nothing(put, ask):
    _, made = put(payload={"a": 1, "b": 2})
    status, again = put(payload={"b": 2, "a": 1})
    assert (status, again["changed"]) == (200, False)
    assert (again["version"], again["changed_at"]) == (1, made["changed_at"])
    assert ask()[1]["next_run_at"] == made["next_run_at"]


def test_another_body_is_the_next_version_and_what_is_left_out_has_its_default_again(put, nightly):
    put(max_attempts=9, payload="x")
    status, told = put(expression="rate(2 days)")
    assert (status, told["changed"], told["version"]) == (200, True, 3)
    assert (told["max_attempts"], told["payload"]) == (5, None)


def test_its_first_time_is_a_task_that_waits(put, http):
    _, made = put(expression="rate(1 hour)", jitter_seconds=0)
    due = datetime.fromisoformat(made["next_run_at"])
    span = {"from": made["next_run_at"], "to": (due + timedelta(seconds=1)).isoformat()}
    _, listed = http("GET", f"/tasks?{urlencode(span)}")
    (task,) = listed["tasks"]
    assert (task["schedule"], task["trigger"]) == ("nightly", "schedule")
    assert task["scheduled_for"] == task["run_at"] == made["next_run_at"]
    assert (task["is_catch_up"], task["status"]) == (False, "scheduled")


def test_a_time_the_clock_leaves_out_is_warned_of(put):
    _, told = put(expression="cron(30 2 * * ? *)", timezone="America/New_York")
    (warning,) = told["warnings"]
    assert "T02:30:00 does not exist in America/New_York: it is skipped" in warning


def test_a_payload_of_any_size_up_to_the_limit_comes_back(put, ask, http):
    payload = "x" * (256 * 1024 - 2)
    assert put(payload=payload)[0] == 201
    assert ask()[1]["payload"] == payload
    assert "payload" not in http("GET", "/schedules")[1]["schedules"][0]
    assert refused(put(payload=payload + "x")) == (413, "payload_too_large", "payload")


def test_a_job_that_is_not_deployed_is_refused_and_the_deployed_ones_named(put, ask):
    answer = put(job="ecko")
    assert refused(answer) == (400, "unknown_job", "job")
    assert "echo" in answer[1]["error"]["message"]
    assert ask()[0] == 404


@pytest.mark.parametrize(
    ("body", "field", "why"),
    [
        ({"expression": "cron(0 0 30 2 ? *)"}, "expression", "no month"),
        ({"expression": "cron(0 0 1 1 ? 2020)"}, "expression", "its time is over"),
        ({"expression": "0 12 * * 1"}, "expression", "perhaps you mean cron(0 12 ? * MON *)"),
        ({"timezone": "America"}, "timezone", "no IANA time zone"),
        ({"timezone": "../../etc/passwd"}, "timezone", "no IANA time zone"),
        ({"end_at": "2020-01-01T00:00:00Z"}, "end_at", "between start_at and end_at"),
        ({"start_at": 1_793_511_000_000}, "start_at", "milliseconds since 1970"),
        ({"misfire": {"grace": 5}}, "misfire.grace", "no field"),
        ({"misfire": {"max_catch_up": 1_001}}, "misfire.max_catch_up", "from 1 to 1000"),
        ({"enabled": "yes"}, "enabled", "true or false"),
        ({"run_at": "2026-12-01T09:00:00Z"}, "run_at", "no field"),
    ],
)
def test_what_can_never_be_meant_is_refused_by_name_and_nothing_is_made(put, ask, body, field, why):
    status, told = put(**body)
    assert (status, told["error"]["field"]) == (400, field)
    assert why in told["error"]["message"]
    assert ask()[0] == 404


# --- a name


CALLS = [
    ("GET", ""),
    ("DELETE", ""),
    ("POST", "/pause"),
    ("POST", "/resume"),
    ("POST", "/run"),
    ("GET", "/next"),
    ("GET", "/explain"),
]
NO_NAMES = ["a b", "x" * 129, "é", "a$b", "日本", "x" * 5_000, "a\x00b", "<b>"]


def test_what_is_no_name_is_refused_everywhere(http):
    for name, (method, path) in product(NO_NAMES, [*CALLS, ("PUT", "")]):
        answer = http(method, f"/schedules/{name}{path}", LEAST if method == "PUT" else None)
        assert refused(answer) == (400, "invalid_name", "name"), (method, path, name[:20])


def test_a_schedule_there_is_not_is_not_found_and_how_to_make_it_is_said(ask):
    for method, path in CALLS:
        answer = ask(method, path)
        assert refused(answer) == (404, "not_found", None)
        assert "PUT /schedules/nightly" in answer[1]["error"]["message"]


def test_a_method_there_is_not_is_told(http):
    status, told = http("POST", "/schedules/nightly", LEAST)
    assert (status, told["error"]["code"]) == (405, "method_not_allowed")
    assert "PUT" in told["error"]["message"]
    assert refused(http("GET", "/schedules/a/b/c")) == (404, "not_found", None)


# --- list


def names(http, limit):
    found, token = [], None
    while True:
        more = "" if token is None else f"&next_token={token}"
        status, told = http("GET", f"/schedules?limit={limit}{more}")
        assert status == 200
        assert len(told["schedules"]) <= limit
        found += [one["name"] for one in told["schedules"]]
        token = told["next_token"]
        if token is None:
            return found


@pytest.mark.parametrize("limit", [1, 3, 500])
def test_every_schedule_is_listed_once(put, http, limit):
    made = {f"schedule-{number}" for number in range(7)}
    for name in made:
        put(name)
    found = names(http, limit)
    assert (len(found), set(found)) == (7, made)


def test_a_token_of_another_list_is_refused(put, http):
    put("a")
    put("b")
    token = http("GET", "/schedules?limit=1")[1]["next_token"]
    assert refused(http("GET", f"/dead?next_token={token}"))[1] == "invalid_next_token"
    for made_up in ("", "AAAA", token[:-1]):
        answer = http("GET", f"/schedules?next_token={made_up}")
        assert refused(answer) == (400, "invalid_next_token", "next_token")


def test_a_limit_that_is_none_is_refused(http):
    for limit in ("0", "501", "-1", "ten", ""):
        answer = http("GET", f"/schedules?limit={limit}")
        assert refused(answer) == (400, "invalid_limit", "limit"), limit


def test_a_parameter_there_is_not_is_refused(http, nightly, ask):
    assert refused(http("GET", "/schedules?name=x")) == (400, "unknown_parameter", "name")
    assert refused(ask(path="/next", count=5)) == (400, "unknown_parameter", "count")
    assert refused(ask(path="/explain", since="x")) == (400, "unknown_parameter", "since")


# --- pause and resume


def test_a_paused_schedule_says_why_and_has_no_next_time_until_it_is_resumed(ask, nightly):
    status, told = ask("POST", "/pause", {"reason": "holidays"})
    assert (status, told["enabled"], told["paused_reason"]) == (200, False, "holidays")
    assert (told["next_run_at"], told["finished"]) == (None, False)
    assert ask()[1] == told
    status, told = ask("POST", "/resume", {"from": "now"})
    assert (status, told["enabled"], told["paused_reason"]) == (200, True, None)
    assert told["next_run_at"] == nightly["next_run_at"]


def test_both_may_be_asked_for_twice_and_without_a_body(ask, nightly):
    first, again = (ask("POST", "/pause") for _ in range(2))
    assert first == again
    first, again = (ask("POST", "/resume") for _ in range(2))
    assert first == again
    assert (first[0], first[1]["version"]) == (200, 3)


def test_a_backfill_of_a_pause_that_took_nothing_goes_on_from_now(ask, put):
    # Its times before it was made are not its own.
    start = datetime.now(UTC) - timedelta(minutes=150)
    put(expression="rate(1 hour)", start_at=start.isoformat(), enabled=False)
    _, told = ask("POST", "/resume", {"from": "backfill"})
    assert told["next_run_at"] > f"{datetime.now(UTC):%FT%T}"


def test_a_put_leaves_a_pause_as_it_is_unless_it_says_otherwise(ask, put, nightly):
    ask("POST", "/pause", {"reason": "holidays"})
    _, told = put(expression="rate(2 days)")
    assert (told["enabled"], told["paused_reason"]) == (False, "holidays")
    assert "paused" in told["warnings"][0]
    _, told = put(expression="rate(2 days)", enabled=True)
    assert (told["enabled"], told["changed"]) == (True, True)


@pytest.mark.parametrize(
    ("path", "body", "code", "field"),
    [
        ("/pause", {"reason": 5}, "invalid_reason", "reason"),
        ("/pause", {"reason": "x" * 257}, "invalid_reason", "reason"),
        ("/pause", {"reason": "a\nb"}, "invalid_reason", "reason"),
        ("/pause", {"why": "x"}, "unknown_field", "why"),
        ("/pause", [], "invalid_body", None),
        ("/pause", [{}], "invalid_body", None),
        ("/pause", "x", "invalid_body", None),
        ("/resume", {"from": "yesterday"}, "invalid_from", "from"),
        ("/resume", {"from": 5}, "invalid_from", "from"),
        ("/resume", {"since": "now"}, "unknown_field", "since"),
        ("/resume", [None], "invalid_body", None),
    ],
)
def test_a_pause_or_a_resume_that_makes_no_sense_is_refused(ask, nightly, path, body, code, field):
    assert refused(ask("POST", path, body)) == (400, code, field)
    assert ask()[1]["version"] == 1


# --- run, delete


def test_run_gives_a_task_due_now_and_leaves_the_times_as_they_are(
    ask, nightly, worker, batch, messages, http
):
    status, task = ask("POST", "/run")
    assert (status, task["trigger"], task["schedule"]) == (202, "manual", "nightly")
    assert task["payload"] == {"a": 1}
    worker(batch(messages()))
    assert http("GET", f"/tasks/{task['task_id']}")[1]["result"] == {"a": 1}
    assert ask()[1]["next_run_at"] == nightly["next_run_at"]


def test_a_paused_schedule_runs_when_it_is_asked_to(ask, nightly):
    ask("POST", "/pause")
    assert ask("POST", "/run")[0] == 202


def test_a_deleted_schedule_is_told_as_it_was_and_its_next_task_never_runs(ask, nightly, http):
    due = datetime.fromisoformat(nightly["next_run_at"])
    span = {"from": nightly["next_run_at"], "to": (due + timedelta(seconds=1)).isoformat()}
    status, told = ask("DELETE")
    assert (status, told["name"], told["version"]) == (200, "nightly", 1)
    assert told["payload"] == {"a": 1}
    assert refused(ask("DELETE"))[0] == 404
    assert http("GET", "/schedules")[1]["schedules"] == []
    (task,) = http("GET", f"/tasks?{urlencode(span)}")[1]["tasks"]
    assert (task["status"], task["error"]) == ("cancelled", "the schedule was deleted")


def test_a_name_is_free_again_once_its_schedule_is_deleted(ask, put, nightly):
    ask("DELETE")
    status, told = put(expression="rate(2 days)")
    assert (status, told["version"]) == (201, 1)


# --- times


def test_the_next_times_are_those_of_the_rule_from_the_armed_one_on(ask, nightly):
    status, told = ask(path="/next", n=3)
    assert (status, told["paused"], len(told["fire_times"])) == (200, False, 3)
    assert told["fire_times"][0]["utc"] == nightly["next_run_at"]
    assert len(ask(path="/next")[1]["fire_times"]) == 5


def test_a_number_of_times_that_is_none_is_refused(ask, nightly):
    for n in ("0", "501", "-1", "ten", ""):
        assert refused(ask(path="/next", n=n)) == (400, "invalid_n", "n"), n


def test_what_became_of_the_times_is_explained(ask, put):
    _, made = put(expression="rate(1 hour)")
    status, told = ask(path="/explain", to=(datetime.now(UTC) + timedelta(hours=3)).isoformat())
    assert (status, told["name"], told["next_from"]) == (200, "nightly", None)
    assert told["times"][0]["scheduled_for"] == made["next_run_at"]
    assert [one["what"] for one in told["times"]] == ["pending"] * len(told["times"])


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"from_": "yesterday"}, "from"),
        ({"from_": 1_793_511_000_000}, "from"),
        ({"to": "2026-12-01"}, "to"),
        ({"from_": "2026-12-01T00:00:00Z", "to": "2026-12-01T00:00:00Z"}, "to"),
        ({"from_": "2026-12-01T00:00:00Z", "to": "2027-12-03T00:00:00Z"}, "to"),
    ],
)
def test_a_span_that_makes_no_sense_is_refused(ask, nightly, query, field):
    assert refused(ask(path="/explain", **query)) == (400, f"invalid_{field}", field)


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ("0001-01-01T00:00:00+23:59", "0001-12-31T00:00:00Z"),
        ("9999-01-02T00:00:00Z", "9999-12-31T23:59:59-23:59"),
    ],
)
def test_the_ends_of_the_calendar_can_be_asked_for(ask, nightly, first, last):
    status, told = ask(path="/explain", from_=first, to=last)
    assert (status, told["times"]) == (200, [])
