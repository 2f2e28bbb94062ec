import json

import pytest

from minutero_cli import times
from minutero_cli.main import run

from .conftest import HOSTILE, TASK

LETTER = {
    "task_id": "1abc",
    "run_id": "1abc#0000",
    "job": "echo",
    "tenant": None,
    "reason": "ValueError: no",
    "died_at": "2026-12-01T09:00:05Z",
}
DEAD = {
    **LETTER,
    "task": {**TASK, "status": "dead", "attempts": 5, "error": "ValueError: no", "history": []},
}


def redriven(matched, done=None, failed=(), then=None):
    return {
        "matched": matched,
        "redriven": matched if done is None else done,
        "failed": list(failed),
        "dry_run": False,
        "next_token": then,
    }


def failure(task_id, message):
    return {"task_id": task_id, "error": {"code": "conflict", "message": message}}


def facts(output):
    return dict(line.split(maxsplit=1) for line in output.splitlines())


# --- list and show --------------------------------------------------------------------------------


def test_the_dead_are_listed_page_by_page_in_tab_separated_lines(api, capsys):
    api.answers(200, {"dead": [LETTER], "next_token": "t"})
    api.answers(200, {"dead": [{**LETTER, "task_id": None, "reason": HOSTILE}], "next_token": None})
    assert run(["dead", "list"]) == 0
    first, second = capsys.readouterr().out.splitlines()
    assert first.split("\t") == ["1abc", "2026-12-01T09:00:05Z", "echo", "", "ValueError: no"]
    assert second.startswith("(unreadable)\t")
    assert second.replace("\t", "").isprintable()
    assert api.queries == [{"limit": "500"}, {"limit": "500", "next_token": "t"}]


def test_a_list_of_the_dead_may_be_narrowed_by_job_and_time_of_death(api, monkeypatch):
    monkeypatch.setattr(times, "now", lambda: 86_400_000)
    api.answers(200, {"dead": [], "next_token": None})
    until = "2026-12-01T03:00:00-06:00"
    assert run(["dead", "list", "--job", "echo", "--since", "-2h", "--until", until]) == 0
    assert api.queries == [
        {
            "job": "echo",
            "from": "1970-01-01T22:00:00Z",
            "to": "2026-12-01T09:00:00Z",
            "limit": "500",
        }
    ]


def test_the_json_of_the_dead_is_one_document(api, capsys):
    api.answers(200, {"dead": [LETTER], "next_token": "t"})
    api.answers(200, {"dead": [LETTER], "next_token": None})
    assert run(["dead", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"dead": [LETTER, LETTER], "next_token": None}


def test_show_tells_why_and_when_a_task_died(api, capsys):
    api.answers(200, DEAD)
    assert run(["dead", "show", "1abc"]) == 0
    assert api.calls == [("GET", "/dead/1abc")]
    told = capsys.readouterr().out
    for part in ("2026-12-01T09:00:05Z", "ValueError: no", "5 of 5", "1abc"):
        assert part in told


def test_a_task_that_is_not_dead_is_told_as_such(api, capsys):
    api.refuses(404, "not_found", "task 1abc is not dead")
    assert run(["dead", "show", "1abc", "--json"]) == 1
    told = capsys.readouterr()
    assert told == ("", "minutero: task 1abc is not dead\n")


def test_at_a_terminal_the_dead_have_a_head_and_a_count(api, terminal):
    api.answers(200, {"dead": [LETTER], "next_token": None})
    assert terminal.run(["dead", "list"]) == 0
    head, _, count = terminal.getvalue().splitlines()
    assert "reason" in head
    assert count == "1 in all"


# --- redrive --------------------------------------------------------------------------------------


def test_a_redrive_goes_on_until_no_token_is_left_and_adds_up(api, capsys):
    api.answers(200, redriven(100, then="t1"))
    api.answers(200, redriven(0, then="t2"))
    api.answers(200, redriven(5))
    assert run(["dead", "redrive", "--job", "echo"]) == 0
    bodies = [json.loads(one.data) for one in api.requests]
    assert bodies[0] == {"job": "echo", "dry_run": False, "limit": 25}
    assert [one.get("next_token") for one in bodies] == [None, "t1", "t2"]
    assert {one["job"] for one in bodies} == {"echo"}
    assert facts(capsys.readouterr().out) == {"matched": "105", "redriven": "105", "failed": "0"}


def test_all_redrives_without_a_filter(api):
    api.answers(200, redriven(1))
    assert run(["dead", "redrive", "--all"]) == 0
    assert api.sent == {"dry_run": False, "limit": 25}


def test_times_of_death_go_to_the_api_in_utc(api):
    api.answers(200, redriven(1))
    since = ["--since", "2026-12-01T03:00:00-06:00", "--until", "2026-12-01T10:00:00Z"]
    assert run(["dead", "redrive", *since]) == 0
    assert api.sent["from"] == "2026-12-01T09:00:00Z"
    assert api.sent["to"] == "2026-12-01T10:00:00Z"


def test_a_dry_run_only_counts(api, capsys):
    api.answers(200, {**redriven(7, 0), "dry_run": True})
    assert run(["dead", "redrive", "--job", "echo", "--dry-run"]) == 0
    assert api.sent["dry_run"] is True
    told = facts(capsys.readouterr().out)
    assert told["matched"] == "7"
    assert told["redriven"] == "0 (a dry run)"


def test_those_that_fail_are_told_one_a_line_and_the_exit_code_says_so(api, capsys):
    api.answers(200, redriven(2, 1, [failure("1b", "has no payload any more")], then="t"))
    api.answers(200, redriven(1))
    assert run(["dead", "redrive", "--all"]) == 1
    told = capsys.readouterr()
    assert told.err == "minutero: 1b: has no payload any more\n"
    assert facts(told.out) == {"matched": "3", "redriven": "2", "failed": "1"}


def test_the_json_of_a_redrive_adds_the_pages_up_in_the_apis_shape(api, capsys):
    failed = failure("1b", "no")
    api.answers(200, redriven(2, 1, [failed], then="t"))
    api.answers(200, redriven(1))
    assert run(["dead", "redrive", "--all", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == redriven(3, 2, [failed])


def test_a_redrive_that_breaks_off_says_how_far_it_came(api, capsys):
    api.answers(200, redriven(100, then="t1"))
    api.refuses(503, "unavailable", "the store did not answer")
    assert run(["dead", "redrive", "--all"]) == 1
    assert len(api.requests) == 2
    error = capsys.readouterr().err
    assert "the store did not answer; 100 are done, perhaps more" in error
    assert len(error.splitlines()) == 1


def test_a_redrive_that_is_refused_at_once_has_done_nothing_and_says_no_more(api, capsys):
    api.refuses(400, "invalid_job", "job must be 1 to 128 characters")
    assert run(["dead", "redrive", "--job", "a b"]) == 1
    assert capsys.readouterr().err == "minutero: job must be 1 to 128 characters\n"


def test_named_tasks_are_redriven_one_by_one_and_one_spoils_no_other(api, capsys):
    api.answers(202, TASK)
    api.refuses(409, "conflict", "task 1b is running")
    api.answers(202, TASK)
    assert run(["dead", "redrive", "1a", "1b", "1c"]) == 1
    assert api.calls == [("POST", f"/tasks/{one}/redrive") for one in ("1a", "1b", "1c")]
    told = capsys.readouterr()
    assert told.err == "minutero: 1b: task 1b is running\n"
    assert facts(told.out) == {"matched": "2", "redriven": "2", "failed": "1"}


def test_a_dry_run_of_named_tasks_only_looks_whether_they_are_dead(api, capsys):
    api.answers(200, DEAD)
    api.refuses(404, "not_found", "task 1b is not dead")
    assert run(["dead", "redrive", "1a", "1b", "--dry-run", "--json"]) == 1
    assert api.calls == [("GET", "/dead/1a"), ("GET", "/dead/1b")]
    told = json.loads(capsys.readouterr().out)
    assert (told["matched"], told["redriven"], told["dry_run"]) == (1, 0, True)


# --- discard --------------------------------------------------------------------------------------


def test_named_tasks_are_discarded_one_by_one_and_one_spoils_no_other(api, capsys):
    api.refuses(404, "not_found", "task 1a is not dead")
    api.answers(200, DEAD)
    assert run(["dead", "discard", "1a", "1b"]) == 1
    assert api.calls == [("DELETE", "/dead/1a"), ("DELETE", "/dead/1b")]
    told = capsys.readouterr()
    assert told.err == "minutero: 1a: task 1a is not dead\n"
    assert facts(told.out) == {"discarded": "1", "failed": "1"}


def test_an_api_that_does_not_answer_is_asked_about_no_further_task(api, capsys):
    api.answers(200, DEAD)
    assert run(["dead", "discard", "1a", "1b", "1c"]) == 1
    assert len(api.requests) == 2
    error = capsys.readouterr().err
    assert "1 are done" in error
    assert len(error.splitlines()) == 1


def test_the_json_of_a_discard_counts(api, capsys):
    api.answers(200, DEAD)
    assert run(["dead", "discard", "1a", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"discarded": 1, "failed": []}


# --- bad usage ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ["redrive"],
        ["redrive", "--dry-run"],
        ["redrive", "1a", "--job", "echo"],
        ["redrive", "1a", "--all"],
        ["redrive", ".."],
        ["redrive", "--since", "yesterday"],
        ["redrive", "--since", "-1h", "--until", "-2h"],
        ["list", "--since", "1587398562893"],
        ["list", "--until", "2026-12-01T09:00:00"],
        ["list", "--since", "-1h", "--until", "-2h"],
        ["list", "1a"],
        ["show"],
        ["show", "1a", "1b"],
        ["discard"],
        ["discard", "1a", ""],
    ],
)
def test_what_cannot_be_meant_of_the_dead_is_bad_usage(api, capsys, arguments):
    assert run(["dead", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert api.requests == []


def test_a_redrive_of_nothing_in_particular_says_what_to_give(api, capsys):
    assert run(["dead", "redrive"]) == 2
    error = capsys.readouterr().err
    for part in ("ID", "--job", "--since", "--until", "--all"):
        assert part in error
