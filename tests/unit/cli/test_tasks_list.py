import json
from itertools import chain

import pytest

from minutero.domain.instants import DAY, format_instant, parse_instant
from minutero_cli import times
from minutero_cli.main import run

from .conftest import HOSTILE, TASK

NOW = parse_instant("2026-11-29T20:21:00Z")
RANGE = ["--from", "2026-12-01T00:00:00Z", "--to", "2026-12-02T00:00:00Z"]


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    monkeypatch.setattr("minutero_cli.tasks.now", lambda: NOW)
    monkeypatch.setattr(times, "now", lambda: NOW)


def tasks(*ids, **more):
    return [{**TASK, "task_id": one, **more} for one in ids]


def page(*ids, then=None):
    return {"tasks": tasks(*ids), "next_token": then}


def ids(output):
    return [line.split("\t")[0] for line in output.splitlines()]


def test_every_page_is_listed_an_empty_one_in_between_too(api, capsys):
    for one in (page("1a", "1b", then="t1"), page(then="t2"), page("1c")):
        api.answers(200, one)
    assert run(["tasks", "list", *RANGE]) == 0
    assert ids(capsys.readouterr().out) == ["1a", "1b", "1c"]
    assert [query.get("next_token") for query in api.queries] == [None, "t1", "t2"]
    assert {query["from"] for query in api.queries} == {"2026-12-01T00:00:00Z"}


def test_a_page_is_printed_before_the_next_is_asked_for(api, capsys):
    api.answers(200, page("1a", then="t1"))
    api.refuses(400, "invalid_next_token", "the token is of another list")
    assert run(["tasks", "list", *RANGE]) == 1
    told = capsys.readouterr()
    assert ids(told.out) == ["1a"]
    assert told.err == "minutero: the token is of another list\n"


def test_without_a_range_the_hours_before_and_after_now_are_listed(api):
    api.answers(200, page())
    assert run(["tasks", "list"]) == 0
    assert api.queries == [
        {"from": "2026-11-29T19:21:00Z", "to": "2026-11-29T21:21:00Z", "limit": "500"}
    ]


def test_a_range_may_be_given_in_spans_from_now(api):
    api.answers(200, page())
    assert run(["tasks", "list", "--from", "-2h", "--to", "+30m"]) == 0
    assert api.queries[0]["from"] == "2026-11-29T18:21:00Z"
    assert api.queries[0]["to"] == "2026-11-29T20:51:00Z"


def test_the_filters_go_to_the_api(api):
    api.answers(200, page())
    assert run(["tasks", "list", *RANGE, "--status", "dead", "--job", "a.b"]) == 0
    assert api.queries[0]["status"] == "dead"
    assert api.queries[0]["job"] == "a.b"


def test_a_longer_range_is_asked_for_in_pieces_of_a_day_without_a_gap(api):
    for _ in range(3):
        api.answers(200, page())
    assert run(["tasks", "list", "--from", format_instant(NOW), "--to", "+60h"]) == 0
    asked = [(parse_instant(query["from"]), parse_instant(query["to"])) for query in api.queries]
    assert asked[0][0] == NOW
    assert asked[-1][1] == NOW + 2.5 * DAY
    assert all(last - first <= DAY for first, last in asked)
    assert [first for first, _ in asked[1:]] == [last for _, last in asked[:-1]]


def test_a_limit_holds_over_pages_and_days_and_asks_for_no_more_than_is_left(api, capsys):
    api.answers(200, page("1a", "1b", then="t1"))
    api.answers(200, page())
    api.answers(200, page("1c"))
    assert run(["tasks", "list", "--from", "now", "--to", "+5d", "--limit", "3"]) == 0
    assert ids(capsys.readouterr().out) == ["1a", "1b", "1c"]
    assert [query["limit"] for query in api.queries] == ["3", "1", "1"]


@pytest.mark.parametrize("pages", [[[]], [["1a"], ["1b", "1c"]], [[], ["1a"], []]])
def test_json_is_one_document_of_all_pages(api, capsys, pages):
    for number, one in enumerate(pages, 1):
        api.answers(200, page(*one, then=f"t{number}" if number < len(pages) else None))
    assert run(["tasks", "list", *RANGE, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "tasks": tasks(*chain(*pages)),
        "next_token": None,
    }


def test_the_json_of_a_list_that_broke_off_is_no_whole_document(api, capsys):
    api.answers(200, page("1a", then="t1"))
    assert run(["tasks", "list", *RANGE, "--json"]) == 1
    with pytest.raises(json.JSONDecodeError):
        json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_refusal_of_the_first_page_prints_nothing_else(api, capsys, as_json):
    api.refuses(400, "invalid_job", "job must be 1 to 128 characters")
    assert run(["tasks", "list", *RANGE, "--job", "a b", *as_json]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err == "minutero: job must be 1 to 128 characters\n"


def test_an_answer_without_a_list_is_told(api, capsys):
    api.answers(200, {"message": "hello"})
    assert run(["tasks", "list", *RANGE]) == 1
    assert "no list 'tasks'" in capsys.readouterr().err


def test_a_status_there_is_not_is_told_with_those_there_are(api, capsys):
    assert run(["tasks", "list", "--status", "done"]) == 2
    error = capsys.readouterr().err
    assert "'--status': 'done' is not one of 'scheduled'" in error


@pytest.mark.parametrize(
    "arguments",
    [
        ["--status", "done"],
        ["--limit", "0"],
        ["--limit", "x"],
        ["--from", "yesterday"],
        ["--from", "2h"],
        ["--from", "1587398562893"],
        ["--to", "2026-12-01T00:00:00"],
        ["--from", "2026-12-02T00:00:00Z", "--to", "2026-12-01T00:00:00Z"],
        ["--from", "now", "--to", "now"],
        ["--from", "+2h"],
        ["1abc"],
    ],
)
def test_a_list_that_cannot_be_meant_is_bad_usage_and_reaches_nobody(api, capsys, arguments):
    assert run(["tasks", "list", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert len(told.err.splitlines()) == 1
    assert api.requests == []


def test_elsewhere_than_at_a_terminal_a_task_is_one_tab_separated_line(api, capsys):
    entry = {**TASK, "attempts": 2, "lateness_ms": 250, "tenant": "acme", "key": HOSTILE}
    api.answers(200, {"tasks": [entry], "next_token": None})
    assert run(["tasks", "list", *RANGE]) == 0
    told = capsys.readouterr().out
    assert told.rstrip("\n").isprintable() is False  # the tabs between the columns
    assert told.rstrip("\n").replace("\t", "").isprintable()
    assert told.rstrip("\n").split("\t")[:-1] == [
        "1abc",
        "scheduled",
        "2026-12-01T09:00:00Z",
        "echo",
        "0.25 s late",
        "2",
        "acme",
    ]


def test_json_lets_no_control_character_through_and_says_the_same(api, capsys):
    entry = {**TASK, "payload": "\x7f" + HOSTILE}
    api.answers(200, {"tasks": [entry], "next_token": None})
    assert run(["tasks", "list", *RANGE, "--json"]) == 0
    told = capsys.readouterr().out
    assert told.replace("\n", "").isprintable()
    assert json.loads(told)["tasks"] == [entry]


def test_at_a_terminal_there_is_a_head_and_a_count_and_colour(api, terminal):
    api.answers(200, page("1a", then="t"))
    api.answers(200, page("1bcdef"))
    assert terminal.run(["tasks", "list", *RANGE]) == 0
    head, first, second, count = terminal.getvalue().splitlines()
    assert "task" in head
    assert "\x1b[34mscheduled" in first
    assert "1bcdef" in second
    assert count == "2 in all"


def test_at_a_terminal_an_empty_list_says_so(api, terminal):
    api.answers(200, page())
    assert terminal.run(["tasks", "list", *RANGE]) == 0
    assert terminal.getvalue() == "none\n"
