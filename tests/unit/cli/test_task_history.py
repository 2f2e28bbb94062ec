"""`minutero tasks get` shows a task's whole life."""

import json

import pytest

from minutero_cli.durations import span
from minutero_cli.main import run

from .conftest import HOSTILE, TASK

NOTHING = {"attempt": None, "failed_at": None, "error": None}
LIFE = [
    {**NOTHING, "what": "created", "at": "2026-12-01T08:00:00Z", "run_at": "2026-12-01T09:00:00Z"},
    {
        **NOTHING,
        "what": "claimed",
        "at": "2026-12-01T08:57:30Z",
        "claim_id": "c1a1",
        "early_ms": 150_000,
    },
    {**NOTHING, "what": "sent", "at": None},
    {
        **NOTHING,
        "what": "attempt",
        "at": "2026-12-01T09:00:00.400Z",
        "attempt": 1,
        "came": "failed",
        "ended_at": "2026-12-01T09:00:00.650Z",
        "failed_at": "2026-12-01T09:00:00.650Z",
        "error": "ValueError: no such wallet",
    },
    {
        **NOTHING,
        "what": "attempt",
        "at": "2026-12-01T09:00:03Z",
        "attempt": 2,
        "came": "broken off",
        "ended_at": None,
    },
    {
        **NOTHING,
        "what": "attempt",
        "at": "2026-12-01T09:02:03Z",
        "attempt": 3,
        "came": "ended",
        "ended_at": "2026-12-01T09:03:08Z",
    },
    {**NOTHING, "what": "succeeded", "at": "2026-12-01T09:03:08Z"},
]
TOLD = {**TASK, "status": "succeeded", "attempts": 3, "lateness_ms": 400, "history": LIFE}


def lines(capsys):
    """What was printed, by name: a value a line."""
    return [tuple(line.split(maxsplit=1)) for line in capsys.readouterr().out.splitlines()]


def shown(api, capsys, *entries):
    api.answers(200, {**TOLD, "history": [{**NOTHING, **entry} for entry in entries]})
    assert run(["tasks", "get", "1abc"]) == 0
    return [value for _, value in lines(capsys)[-len(entries) :]]


def test_the_whole_life_is_shown_in_order(api, capsys):
    api.answers(200, TOLD)
    assert run(["tasks", "get", "1abc"]) == 0
    assert lines(capsys)[-8:] == [
        ("lateness", "0.40 s late"),
        ("created", "2026-12-01T08:00:00Z, due 2026-12-01T09:00:00Z"),
        ("claimed", "2026-12-01T08:57:30Z, 2 min 30 s before it was due, by claim c1a1"),
        ("sent", "yes; when, is not kept"),
        (
            "attempt",
            "1     2026-12-01T09:00:00.400Z, failed after 0.25 s: ValueError: no such wallet",
        ),
        ("attempt", "2     2026-12-01T09:00:03Z, never told its end"),
        ("attempt", "3     2026-12-01T09:02:03Z, took 1 min 5 s"),
        ("succeeded", "2026-12-01T09:03:08Z"),
    ]


def test_a_claim_says_whether_it_was_late_and_whose_it_was(api, capsys):
    claim = {"what": "claimed", "at": "T", "claim_id": "near", "early_ms": 5_000}
    assert shown(api, capsys, claim) == ["T, 5.00 s before it was due, by its writer"]
    late = {**claim, "claim_id": "c1a1", "early_ms": -61_000}
    assert shown(api, capsys, late) == ["T, 1 min 1 s late, by claim c1a1"]


def test_a_move_and_a_redrive_say_when_it_is_due_since(api, capsys):
    moved = {"what": "moved", "at": "T1", "run_at": "T2"}
    redriven = {"what": "redriven", "at": "T3", "run_at": "T4"}
    died = {"what": "dead", "at": "T5", "error": "spent"}
    assert shown(api, capsys, moved, redriven, died) == ["T1, due T2", "T3, due T4", "T5, spent"]


def test_an_attempt_that_runs_has_no_end(api, capsys):
    running = {"what": "attempt", "attempt": 1, "at": "T", "came": "running", "ended_at": None}
    assert shown(api, capsys, running) == ["1     T, running"]


def test_what_a_newer_api_tells_of_is_shown_by_its_name(api, capsys):
    entry = {"what": "frozen", "at": "T", "error": "too warm", "more": 7}
    assert shown(api, capsys, entry) == ["T, too warm"]


def test_the_history_of_an_older_api_is_shown_with_the_moments(api, capsys):
    failed = {"attempt": 1, "failed_at": "2026-12-01T09:00:01Z", "error": "ValueError: no"}
    timeline = {"created_at": "2026-12-01T08:00:00Z", "started_at": "2026-12-01T09:00:00Z"}
    api.answers(200, {**TASK, "lateness_ms": 400, "history": [failed], "timeline": timeline})
    assert run(["tasks", "get", "1abc"]) == 0
    assert lines(capsys)[-4:] == [
        ("lateness", "0.40 s late"),
        ("attempt", "1     failed 2026-12-01T09:00:01Z: ValueError: no"),
        ("created", "2026-12-01T08:00:00Z"),
        ("started", "2026-12-01T09:00:00Z"),
    ]


def test_no_entry_reaches_the_terminal_raw(api, capsys):
    told = dict.fromkeys(("at", "error", "claim_id", "run_at"), HOSTILE)
    entries = [{**NOTHING, **told, "what": what} for what in (HOSTILE, "claimed", "moved", "dead")]
    api.answers(200, {**TOLD, "history": entries})
    assert run(["tasks", "get", "1abc"]) == 0
    assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())


def test_the_json_has_the_history_as_the_api_told_it(api, capsys):
    api.answers(200, TOLD)
    assert run(["tasks", "get", "1abc", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["history"] == LIFE


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (0, "0.00 s"),
        (59_999, "60.00 s"),
        (60_000, "1 min"),
        (185_900, "3 min 5 s"),
        (7_500_000, "2 h 5 min"),
        (7_200_000, "2 h"),
        (349_200_000, "4 d 1 h"),
    ],
)
def test_a_span_is_told_in_its_two_largest_units(ms, text):
    assert span(ms) == text
