import json

import pytest

from minutero_cli import api_client
from minutero_cli.main import run

from .conftest import TASK


def test_add_sends_only_what_was_given(api, capsys):
    api.answers(201, TASK)
    assert run(["tasks", "add", "echo"]) == 0
    assert api.requests[0].full_url == "http://127.0.0.1:1/api/tasks"
    assert api.sent == {"job": "echo"}
    assert "1abc" in capsys.readouterr().out


def test_every_option_of_add_reaches_the_api(api):
    api.answers(201, TASK)
    options = ["--in", "1m30s", "--payload", '{"a": [1]}', "--key", "k", "--tenant", "t"]
    assert (
        run(["tasks", "add", "echo", *options, "--max-attempts", "3", "--expires-after", "10m"])
        == 0
    )
    assert api.sent == {
        "job": "echo",
        "payload": {"a": [1]},
        "delay_seconds": 90,
        "key": "k",
        "tenant": "t",
        "max_attempts": 3,
        "expires_after_seconds": 600,
    }


def test_at_is_passed_on_as_it_was_written(api):
    api.answers(201, TASK)
    assert run(["tasks", "add", "echo", "--at", "2026-12-01T03:00:00-06:00"]) == 0
    assert api.sent["run_at"] == "2026-12-01T03:00:00-06:00"


def test_a_payload_may_come_from_a_file(api, tmp_path):
    api.answers(201, TASK)
    (tmp_path / "payload.json").write_text('{"name": "Zoë"}', "utf-8")
    assert run(["tasks", "add", "echo", "--payload", f"@{tmp_path}/payload.json"]) == 0
    assert api.sent["payload"] == {"name": "Zoë"}


def test_json_prints_exactly_what_the_api_said(api, capsys):
    text = '{"task_id":"1abc",  "unknown": 1.10}'
    api.answers(200, text)
    assert run(["tasks", "get", "1abc", "--json"]) == 0
    assert capsys.readouterr().out == text + "\n"


def test_get_shows_what_became_of_a_task(api, capsys):
    history = [{"attempt": 1, "failed_at": "2026-12-01T09:00:01Z", "error": "ValueError: no"}]
    timeline = {"created_at": "2026-12-01T08:00:00Z", "started_at": "2026-12-01T09:00:00.400Z"}
    told = {"attempts": 2, "history": history, "timeline": timeline, "lateness_ms": 400}
    api.answers(200, {**TASK, **told, "status": "succeeded", "result": {"a": 1}})
    assert run(["tasks", "get", "1abc"]) == 0
    shown = capsys.readouterr().out
    for part in ("succeeded", "2 of 5", "0.40 s late", "ValueError: no", '{"a": 1}'):
        assert part in shown


def test_an_id_cannot_reach_another_path(api):
    api.answers(404, {"error": {"code": "not_found", "message": "no such task"}})
    assert run(["tasks", "get", "../jobs?x"]) == 1
    assert api.requests[0].full_url.endswith("/tasks/..%2Fjobs%3Fx")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--in", "soon"],
        ["--in", "5 s s"],
        ["--in", "-5s"],
        ["--at", "tomorrow"],
        ["--at", "1587398562893"],
        ["--in", "9" * 400],
        ["--expires-after", "9" * 400],
        ["--at", "2026-12-01T09:00:00Z", "--in", "5s"],
        ["--payload", "{"],
        ["--payload", "NaN"],
        ["--payload", "@no/such/file"],
        ["--max-attempts", "21"],
        ["--unknown"],
    ],
)
def test_what_cannot_be_meant_is_bad_usage_and_reaches_nobody(api, capsys, arguments):
    assert run(["tasks", "add", "echo", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert api.requests == []


@pytest.mark.parametrize(
    ("words", "method", "path", "body"),
    [
        (["cancel", "1abc"], "DELETE", "/tasks/1abc", None),
        (["run", "1abc"], "POST", "/tasks/1abc/run", None),
        (["redrive", "1abc"], "POST", "/tasks/1abc/redrive", None),
        (["reschedule", "1abc", "--in", "2m"], "PATCH", "/tasks/1abc", {"delay_seconds": 120}),
        (
            ["reschedule", "1abc", "--at", "2030-01-01T00:00:00Z"],
            "PATCH",
            "/tasks/1abc",
            {"run_at": "2030-01-01T00:00:00Z"},
        ),
    ],
)
def test_a_change_asks_the_api_once_and_prints_the_task_that_came_of_it(
    api, capsys, words, method, path, body
):
    api.answers(200, {**TASK, "status": "cancelled"})
    assert run(["tasks", *words]) == 0
    assert api.calls == [(method, path)]
    assert api.requests[0].data is None if body is None else api.sent == body
    assert "cancelled" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["cancel"], ["run"], ["redrive"], ["reschedule", "--in", "2m"]])
def test_a_change_that_the_tasks_state_forbids_is_told_in_one_line(api, capsys, words):
    api.refuses(409, "conflict", "task 1abc is running; wait until it is over")
    assert run(["tasks", *words, "1abc"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "minutero: task 1abc is running; wait until it is over\n"


@pytest.mark.parametrize("words", [["cancel"], ["run"], ["redrive"], ["reschedule", "--in", "2m"]])
def test_the_json_of_a_change_is_the_apis(api, capsys, words):
    api.answers(200, '{"task_id":"1abc"}')
    assert run(["tasks", *words, "1abc", "--json"]) == 0
    assert capsys.readouterr().out == '{"task_id":"1abc"}\n'


def test_get_by_key_asks_for_the_key_and_its_tenant(api):
    api.answers(200, TASK)
    assert run(["tasks", "get", "--key", "a/b&c", "--tenant", "acme"]) == 0
    assert api.calls == [("GET", "/tasks")]
    assert api.queries == [{"key": "a/b&c", "tenant": "acme"}]


@pytest.mark.parametrize(
    "arguments",
    [
        ["get"],
        ["get", "1abc", "--key", "k"],
        ["get", "1abc", "--tenant", "t"],
        ["get", "--tenant", "t"],
        ["get", ""],
        ["cancel"],
        ["cancel", ".."],
        ["cancel", "1abc", "2abc"],
        ["run"],
        ["redrive", "."],
        ["reschedule", "1abc"],
        ["reschedule", "1abc", "--at", "2030-01-01T00:00:00Z", "--in", "5s"],
        ["reschedule", "1abc", "--at", "1587398562893"],
        ["reschedule", "1abc", "--in", "-5s"],
        ["reschedule", "--in", "5s"],
        ["get", "\udce4"],
    ],
)
def test_a_command_about_one_task_that_cannot_be_meant_is_bad_usage(api, capsys, arguments):
    assert run(["tasks", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert api.requests == []


def test_a_refusal_is_told_in_the_words_of_the_api(api, capsys):
    api.answers(
        400, {"error": {"code": "unknown_job", "message": "no job named 'x'", "field": "job"}}
    )
    assert run(["tasks", "add", "x"]) == 1
    assert capsys.readouterr().err == "minutero: no job named 'x'\n"


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (403, "credentials"),
        (401, "credentials"),
        (404, "MINUTERO_API_URL"),
        (429, "try again"),
        (500, "logs"),
        (503, "try again"),
    ],
)
def test_an_answer_that_is_not_minuteros_still_says_what_to_do(api, capsys, status, hint):
    api.answers(status, "<html>")
    assert run(["tasks", "cancel", "1abc"]) == 1
    error = capsys.readouterr().err
    assert hint in error
    assert len(error.splitlines()) == 1


def test_an_api_that_does_not_answer_is_one_line_saying_what_to_check(api, capsys):
    assert run(["tasks", "get", "1abc"]) == 1
    error = capsys.readouterr().err
    assert "Connection refused" in error
    assert "minutero local status" in error
    assert len(error.splitlines()) == 1


def test_without_any_api_the_error_says_how_to_get_one(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("MINUTERO_API_URL", raising=False)
    monkeypatch.setenv("MINUTERO_HOME", str(tmp_path))
    assert run(["tasks", "get", "1abc"]) == 1
    assert "minutero local up" in capsys.readouterr().err


def test_requests_to_aws_are_signed_when_there_are_credentials(api, monkeypatch):
    monkeypatch.setenv("MINUTERO_API_URL", "https://abc.execute-api.eu-west-3.amazonaws.com")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKID")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    api.answers(200, TASK)
    assert run(["tasks", "get", "1abc"]) == 0
    signature = api.requests[0].get_header("Authorization")
    assert "/eu-west-3/execute-api/aws4_request" in signature


def test_a_local_api_gets_no_signature_from_a_profile(api, monkeypatch):
    monkeypatch.setenv("AWS_PROFILE", "production")
    api.answers(200, TASK)
    assert run(["tasks", "get", "1abc"]) == 0
    assert api.requests[0].get_header("Authorization") is None


def test_a_stack_by_name_wins_over_the_environment(api, monkeypatch):
    monkeypatch.setattr(
        api_client, "_of_stack", lambda name: api_client.Api(f"https://{name}.example", name)
    )
    api.answers(200, json.dumps(TASK))
    assert run(["tasks", "get", "1abc", "--stack", "prod"]) == 0
    assert api.requests[0].full_url == "https://prod.example/tasks/1abc"
