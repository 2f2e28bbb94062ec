import json

import pytest

from minutero.domain.instants import parse_instant
from minutero_cli import times
from minutero_cli.main import run

from .conftest import HOSTILE, TASK

SCHEDULE = {
    "name": "nightly",
    "job": "echo",
    "payload": {"a": 1},
    "expression": "cron(30 2 * * ? *)",
    "timezone": "America/New_York",
    "start_at": None,
    "end_at": None,
    "jitter_seconds": 0,
    "on_gap": "skip",
    "on_overlap": "first",
    "misfire": {"policy": "once", "grace_seconds": 300, "max_catch_up": 100},
    "overlap": "allow",
    "enabled": True,
    "max_attempts": 5,
    "tenant": None,
    "paused_reason": None,
    "version": 3,
    "next_run_at": "2026-12-01T07:30:00Z",
    "last_run_at": None,
    "finished": False,
    "created_at": "2026-11-29T20:21:00Z",
    "changed_at": "2026-11-29T20:21:00Z",
}
PUT = {**SCHEDULE, "changed": True, "warnings": []}
WORDS = ["schedules", "put", "nightly", "echo", "cron(30 2 * * ? *)"]


def facts(output):
    return dict(line.split(maxsplit=1) for line in output.splitlines())


# --- put


def test_put_sends_only_what_was_given(api, capsys):
    api.answers(201, PUT)
    assert run(WORDS) == 0
    assert api.calls == [("PUT", "/schedules/nightly")]
    assert api.sent == {"job": "echo", "expression": "cron(30 2 * * ? *)"}
    assert facts(capsys.readouterr().out)["next"] == "2026-12-01T07:30:00Z"


def test_every_option_of_put_reaches_the_api(api):
    api.answers(201, PUT)
    options = {
        "--timezone": "America/New_York",
        "--payload": '{"a": [1]}',
        "--start-at": "2026-12-01T03:00:00-06:00",
        "--end-at": "2027-12-01T00:00:00Z",
        "--jitter": "5m",
        "--on-gap": "next",
        "--on-overlap": "both",
        "--misfire": "all",
        "--grace": "1h30m",
        "--max-catch-up": "7",
        "--overlap": "queue",
        "--max-attempts": "3",
        "--tenant": "acme",
    }
    assert run([*WORDS, *(word for pair in options.items() for word in pair), "--disabled"]) == 0
    assert api.sent == {
        "job": "echo",
        "expression": "cron(30 2 * * ? *)",
        "timezone": "America/New_York",
        "payload": {"a": [1]},
        "start_at": "2026-12-01T03:00:00-06:00",
        "end_at": "2027-12-01T00:00:00Z",
        "jitter_seconds": 300,
        "on_gap": "next",
        "on_overlap": "both",
        "misfire": {"policy": "all", "grace_seconds": 5_400, "max_catch_up": 7},
        "overlap": "queue",
        "enabled": False,
        "max_attempts": 3,
        "tenant": "acme",
    }


@pytest.mark.parametrize(
    ("options", "members"),
    [
        (["--enabled"], {"enabled": True}),
        (["--grace", "0"], {"misfire": {"grace_seconds": 0}}),
        (["--misfire", "skip"], {"misfire": {"policy": "skip"}}),
        (["--jitter", "0"], {"jitter_seconds": 0}),
    ],
)
def test_an_option_says_nothing_of_the_others(api, options, members):
    api.answers(200, PUT)
    assert run([*WORDS, *options]) == 0
    assert api.sent == {"job": "echo", "expression": "cron(30 2 * * ? *)", **members}


def test_a_payload_may_come_from_a_file(api, tmp_path):
    api.answers(201, PUT)
    (tmp_path / "payload.json").write_text('{"name": "Zoë"}', "utf-8")
    assert run([*WORDS, "--payload", f"@{tmp_path}/payload.json"]) == 0
    assert api.sent["payload"] == {"name": "Zoë"}


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_what_the_api_warns_of_is_a_line_on_stderr(api, capsys, as_json):
    api.answers(201, {**PUT, "warnings": ["02:30 does not exist", "it is paused"]})
    assert run([*WORDS, *as_json]) == 0
    told = capsys.readouterr()
    assert told.err == "minutero: note: 02:30 does not exist\nminutero: note: it is paused\n"
    assert "does not exist" not in told.out or as_json


def test_a_unix_line_is_passed_on_as_it_is_and_its_refusal_told_in_one_line(api, capsys):
    """B004: the API refuses it and names what is near; nothing is converted on the way."""
    message = "an expression is cron(...), ...; perhaps you mean cron(0 12 ? * MON *)"
    api.refuses(400, "invalid_expression", message)
    assert run(["schedules", "put", "nightly", "echo", "0 12 * * 1"]) == 1
    assert api.sent["expression"] == "0 12 * * 1"
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", f"minutero: {message}\n")


@pytest.mark.parametrize("option", ["--start-at", "--end-at"])
def test_milliseconds_are_refused_with_a_hint_and_reach_nobody(api, capsys, option):
    """B069"""
    assert run([*WORDS, option, "1793511000000"]) == 2
    told = capsys.readouterr().err
    assert "looks like milliseconds since 1970; send RFC 3339 text: 2026-11-01T05:30:00Z" in told
    assert api.requests == []


@pytest.mark.parametrize(
    "words",
    [
        ["put"],
        ["put", "nightly", "echo"],
        ["put", "..", "echo", "rate(1 day)"],
        [*WORDS[1:], "--start-at", "tomorrow"],
        [*WORDS[1:], "--jitter", "soon"],
        [*WORDS[1:], "--grace", "-5s"],
        [*WORDS[1:], "--misfire", "never"],
        [*WORDS[1:], "--on-gap", "both"],
        [*WORDS[1:], "--overlap", ""],
        [*WORDS[1:], "--max-catch-up", "0"],
        [*WORDS[1:], "--max-catch-up", "1001"],
        [*WORDS[1:], "--max-attempts", "21"],
        [*WORDS[1:], "--payload", "{"],
        [*WORDS[1:], "--unknown"],
        ["get"],
        ["get", ""],
        ["get", "."],
        ["delete", "nightly", "weekly"],
        ["next", "nightly", "-n", "0"],
        ["next", "nightly", "-n", "501"],
        ["explain", "nightly", "--from", "1793511000000"],
        ["explain", "nightly", "--from", "+1h", "--to", "-1h"],
        ["resume", "nightly", "--from", "now"],
    ],
)
def test_what_cannot_be_meant_is_bad_usage_and_reaches_nobody(api, capsys, words):
    assert run(["schedules", *words]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert api.requests == []


# --- one schedule


@pytest.mark.parametrize(
    ("words", "method", "path", "body"),
    [
        (["get", "nightly"], "GET", "/schedules/nightly", None),
        (["delete", "nightly"], "DELETE", "/schedules/nightly", None),
        (["pause", "nightly"], "POST", "/schedules/nightly/pause", {}),
        (["pause", "n", "--reason", "why"], "POST", "/schedules/n/pause", {"reason": "why"}),
        (["resume", "nightly"], "POST", "/schedules/nightly/resume", {"from": "now"}),
        (["resume", "n", "--backfill"], "POST", "/schedules/n/resume", {"from": "backfill"}),
    ],
)
def test_a_call_about_one_schedule_asks_once_and_prints_it(api, capsys, words, method, path, body):
    api.answers(200, SCHEDULE)
    assert run(["schedules", *words]) == 0
    assert api.calls == [(method, path)]
    assert api.requests[0].data is None if body is None else api.sent == body
    shown = facts(capsys.readouterr().out)
    assert shown["expression"] == "cron(30 2 * * ? *)"
    assert shown["misfire"] == "once when over 300 s late"
    assert shown["state"] == "enabled"


def test_a_name_cannot_reach_another_path(api):
    api.answers(400, {"error": {"code": "invalid_name", "message": "no name"}})
    assert run(["schedules", "get", "../tasks?x"]) == 1
    assert api.requests[0].full_url.endswith("/schedules/..%2Ftasks%3Fx")


@pytest.mark.parametrize(
    ("stands", "state"),
    [
        ({"enabled": False, "next_run_at": None}, "paused"),
        ({"finished": True, "next_run_at": None}, "finished"),
        ({}, "enabled"),
    ],
)
def test_the_state_of_a_schedule_is_one_word(api, capsys, stands, state):
    api.answers(200, {**SCHEDULE, **stands, "paused_reason": "why"})
    assert run(["schedules", "get", "nightly"]) == 0
    assert facts(capsys.readouterr().out)["state"] == state


def test_run_prints_the_task(api, capsys):
    api.answers(202, {**TASK, "schedule": "nightly", "scheduled_for": "2026-12-01T09:00:00Z"})
    assert run(["schedules", "run", "nightly"]) == 0
    assert api.calls == [("POST", "/schedules/nightly/run")]
    shown = capsys.readouterr().out
    assert "1abc" in shown
    assert "nightly" in shown


@pytest.mark.parametrize(
    "words", [["get"], ["delete"], ["pause"], ["resume"], ["run"], ["next"], ["explain"]]
)
def test_the_json_is_the_apis_and_a_refusal_one_line(api, capsys, words):
    api.answers(200, '{"name":"nightly"}')
    api.refuses(404, "not_found", "no schedule nightly; PUT /schedules/nightly makes one")
    assert run(["schedules", *words, "nightly", "--json"]) == 0
    assert capsys.readouterr().out == '{"name":"nightly"}\n'
    assert run(["schedules", *words, "nightly"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "minutero: no schedule nightly; PUT /schedules/nightly makes one\n"


# --- lists


def test_all_pages_are_listed_in_tab_separated_lines(api, capsys):
    api.answers(200, {"schedules": [SCHEDULE], "next_token": "t"})
    api.answers(200, {"schedules": [{**SCHEDULE, "name": HOSTILE}], "next_token": None})
    assert run(["schedules", "list"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.split("\t") == [
        *("nightly", "enabled", "2026-12-01T07:30:00Z", "", "echo", "cron(30 2 * * ? *)"),
        *("America/New_York", ""),
    ]
    assert second.replace("\t", "").isprintable()
    assert api.calls == [("GET", "/schedules")] * 2
    assert api.queries == [{"limit": "500"}, {"limit": "500", "next_token": "t"}]


def test_the_json_of_the_list_is_one_document(api, capsys):
    api.answers(200, {"schedules": [SCHEDULE], "next_token": "t"})
    api.answers(200, {"schedules": [SCHEDULE], "next_token": None})
    assert run(["schedules", "list", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"schedules": [SCHEDULE] * 2, "next_token": None}


def test_at_a_terminal_there_is_a_head_a_count_and_the_state_in_colour(api, terminal):
    api.answers(200, {"schedules": [{**SCHEDULE, "enabled": False}], "next_token": None})
    assert terminal.run(["schedules", "list"]) == 0
    head, row, count = terminal.getvalue().splitlines()
    assert "schedule" in head
    assert "\x1b[33mpaused" in row
    assert count == "1 in all"


def test_at_a_terminal_a_schedule_is_a_panel(api, terminal):
    api.answers(200, SCHEDULE)
    assert terminal.run(["schedules", "get", "nightly"]) == 0
    assert "╭─ nightly" in terminal.getvalue()


# --- times

NEXT = {
    "name": "nightly",
    "expression": "cron(30 2 * * ? *)",
    "timezone": "America/New_York",
    "paused": False,
    "fire_times": [
        {
            "utc": "2026-12-01T07:30:00Z",
            "local": "2026-12-01T02:30:00-05:00",
            "run_at": "2026-12-01T07:31:10Z",
        }
    ],
}


def test_the_next_times_are_lines_of_utc_local_time_day_and_due(api, capsys):
    api.answers(200, NEXT)
    assert run(["schedules", "next", "nightly", "-n", "1"]) == 0
    assert api.queries == [{"n": "1"}]
    told = capsys.readouterr()
    assert told.out.rstrip("\n").split("\t") == [
        *("2026-12-01T07:30:00Z", "2026-12-01T02:30:00-05:00", "Tue", "2026-12-01T07:31:10Z")
    ]
    assert told.err == ""


@pytest.mark.parametrize(
    ("told", "note"),
    [({"paused": True}, "paused"), ({"fire_times": []}, "no more times")],
)
def test_why_no_time_fires_is_noted_on_stderr(api, capsys, told, note):
    api.answers(200, {**NEXT, **told})
    assert run(["schedules", "next", "nightly"]) == 0
    assert note in capsys.readouterr().err


EXPLAINED = {
    "scheduled_for": "2026-12-01T07:30:00Z",
    "what": "ran",
    "why": "succeeded",
    "task_id": "1abc",
    "status": "succeeded",
    "lateness_ms": 400,
}


def test_what_became_of_each_time_is_a_line(api, capsys, monkeypatch):
    monkeypatch.setattr(times, "now", lambda: parse_instant("2026-12-01T08:00:00Z"))
    missed = {**EXPLAINED, "what": "missed", **dict.fromkeys(("why", "task_id", "lateness_ms"))}
    api.answers(200, {"name": "nightly", "times": [EXPLAINED, missed], "next_from": None})
    assert run(["schedules", "explain", "nightly", "--from", "-2h", "--to", "now"]) == 0
    assert api.queries == [{"from": "2026-12-01T06:00:00Z", "to": "2026-12-01T08:00:00Z"}]
    first, second = capsys.readouterr().out.splitlines()
    assert first.split("\t") == [
        *("2026-12-01T07:30:00Z", "ran", "0.40 s late", "1abc", "succeeded")
    ]
    assert second.split("\t") == ["2026-12-01T07:30:00Z", "missed", "", "", ""]


def test_without_a_span_the_api_chooses_and_where_it_ends_is_noted(api, capsys):
    more = "2026-12-01T07:30:00.001Z"
    api.answers(200, {"name": "nightly", "times": [EXPLAINED], "next_from": more})
    assert run(["schedules", "explain", "nightly"]) == 0
    assert api.queries == [{}]
    assert f"--from {more}" in capsys.readouterr().err


def test_at_a_terminal_what_became_of_a_time_has_its_colour(api, terminal):
    api.answers(200, {"name": "n", "times": [{**EXPLAINED, "what": "missed"}], "next_from": None})
    assert terminal.run(["schedules", "explain", "n"]) == 0
    assert "\x1b[31mmissed" in terminal.getvalue()


def test_at_a_terminal_no_times_at_all_are_told_so(api, terminal):
    api.answers(200, {"name": "n", "times": [], "next_from": None})
    assert terminal.run(["schedules", "explain", "n"]) == 0
    assert terminal.getvalue() == "none\n"
