"""What a person sees, and what a name or a payload cannot make of it."""

import json

import pytest
from rich.text import Text

from minutero.domain.instants import MINUTE, parse_instant
from minutero_cli.main import run
from minutero_cli.terminal import printable, printable_json

from .conftest import HOSTILE, TASK

ESCAPED = r"[red]a[/red]\x1b[2J\n\t\u2028\u202e\x9b:bomb:"


def seen(text):
    """The text without the colours that the command itself gives."""
    return Text.from_ansi(text).plain


@pytest.mark.parametrize("words", [["tasks", "get", "1a"], ["tasks", "cancel", "1a"]])
def test_at_a_terminal_a_task_is_a_panel_with_a_coloured_status(api, terminal, words):
    api.answers(200, {**TASK, "status": "dead"})
    assert terminal.run(words) == 0
    assert "╭─ 1abc" in seen(terminal.getvalue())
    assert "\x1b[31mdead" in terminal.getvalue()


def test_only_the_status_is_coloured_as_one(api, terminal):
    api.answers(200, {**TASK, "key": "dead", "status": "scheduled"})
    assert terminal.run(["tasks", "get", "1a"]) == 0
    assert "\x1b[31m" not in terminal.getvalue()


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["tasks", "get", "1a"], {**TASK, "task_id": HOSTILE, "payload": HOSTILE, "error": HOSTILE}),
        (["tasks", "get", "1a"], {**TASK, "history": [{"attempt": 1, "failed_at": "", "error": HOSTILE}]}),
        (["tasks", "list"], {"tasks": [{**TASK, "key": HOSTILE}], "next_token": None}),
        (["dead", "list"], {"dead": [{"task_id": "1a", "reason": HOSTILE}], "next_token": None}),
        (["dead", "show", "1a"], {"task_id": HOSTILE, "reason": HOSTILE, "task": TASK}),
        (["jobs", "list"], {"jobs": [HOSTILE]}),
        (["schedules", "get", "n"], {"name": HOSTILE, "paused_reason": HOSTILE, "payload": HOSTILE}),
        (["schedules", "list"], {"schedules": [{"name": HOSTILE}], "next_token": None}),
        (["schedules", "explain", "n"], {"times": [{"why": HOSTILE}]}),
    ],
)  # fmt: skip
def test_no_value_is_taken_for_markup_or_reaches_the_terminal_raw(
    api, terminal, capsys, words, answer
):
    api.answers(200, answer)
    api.answers(200, answer)
    assert terminal.run(words) == 0
    assert ESCAPED in seen(terminal.getvalue())
    assert run(words) == 0
    assert ESCAPED in capsys.readouterr().out


def test_a_refusal_shows_no_control_characters_either(api, capsys):
    api.refuses(400, "invalid_job", f"no job named {HOSTILE}")
    assert run(["tasks", "add", "x"]) == 1
    error = capsys.readouterr().err
    assert error.rstrip("\n").isprintable()


def test_the_apis_json_is_printed_as_it_came_but_for_what_cannot_be_seen(api, capsys):
    text = json.dumps({"key": "é" + HOSTILE}, ensure_ascii=False, indent=1)
    api.answers(200, text)
    assert run(["tasks", "get", "1a", "--json"]) == 0
    told = capsys.readouterr().out
    assert told.replace("\n", "").isprintable()
    assert "é" in told
    assert json.loads(told) == json.loads(text)


def test_what_can_be_seen_is_left_as_it_is():
    text = 'Zoë 日本 🎉 "quoted" \\'
    assert printable(text) == text
    assert printable_json(json.dumps(text)) == json.dumps(text)


def test_columns_hold_over_wide_letters_and_later_longer_values(api, terminal):
    keys = ["日本", "ab", "x" * 200]
    entries = [{**TASK, "key": key, "tenant": key} for key in keys]
    api.answers(200, {"tasks": entries[:2], "next_token": "t"})
    api.answers(200, {"tasks": entries[2:], "next_token": None})
    assert terminal.run(["tasks", "list"]) == 0
    head, wide, narrow, long, _ = seen(terminal.getvalue()).splitlines()
    # Each of the two letters takes two columns.
    assert wide.rindex("日本") + 2 == narrow.rindex("ab") == head.index("key")
    assert len(long) == 120
    assert long.endswith("…")


def test_jobs_are_listed_one_a_line(api, capsys):
    api.answers(200, {"jobs": ["echo", "leaderboard_close"]})
    assert run(["jobs", "list"]) == 0
    assert api.calls == [("GET", "/jobs")]
    assert capsys.readouterr().out == "echo\nleaderboard_close\n"


STATS = {
    "now": "2026-11-29T20:21:00Z",
    "shards": 8,
    "watermark": {"oldest": "2026-11-29T20:14:00Z", "lag_seconds": 420},
    "queue": {"ready": 1, "delayed": 2, "in_flight": 3},
    "dead_letter_queue": {"ready": 0, "delayed": 0, "in_flight": 0},
    "backlog": {
        "from": "2026-11-29T20:16:00Z",
        "to": "2026-11-29T20:26:00Z",
        "complete": True,
        "counts": {"scheduled": 12, "dead": 0},
    },
}


def test_stats_are_name_and_value(api, capsys):
    api.answers(200, STATS)
    assert run(["stats"]) == 0
    assert api.calls == [("GET", "/stats")]
    told = capsys.readouterr().out
    for part in ("2026-11-29T20:14:00Z (420 s ago)", "1 ready, 2 delayed, 3 in flight"):
        assert part in told
    assert ["scheduled", "12"] in [line.split() for line in told.splitlines()]


MORE_STATS = {
    **STATS,
    "lateness_ms": {"samples": 860, "p50": 320, "p90": 900, "p99": 1700, "max": 61_000},
    "overdue": {
        "from": "2026-11-29T20:14:00Z",
        "complete": True,
        "task_id": "1abc",
        "run_at": "2026-11-29T20:20:00Z",
        "age_seconds": 60,
    },
}


def test_stats_tell_the_oldest_overdue_and_how_late_how_many_starts_were(api, capsys):
    api.answers(200, MORE_STATS)
    assert run(["stats"]) == 0
    told = capsys.readouterr().out
    assert "1abc, due 2026-11-29T20:20:00Z (60 s ago), of those due since 2026-11-29T20:14" in told
    assert "p50 0.32 s, p90 0.90 s, p99 1.70 s, max 1 min 1 s of 860 starts" in told


def test_stats_say_so_when_nothing_is_overdue_or_not_all_was_looked_at(api, capsys):
    none = {**MORE_STATS["overdue"], "task_id": None, "complete": False}
    api.answers(200, {**MORE_STATS, "overdue": none, "lateness_ms": {"samples": 0}})
    assert run(["stats"]) == 0
    told = capsys.readouterr().out
    assert (
        "none of those due since 2026-11-29T20:14:00Z that were looked at; there are more" in told
    )
    assert "none of the tasks due has started" in told


def test_stats_of_another_stretch_ask_for_it(api):
    api.answers(200, STATS)
    words = ["--from", "2026-11-29T20:00:00Z", "--to", "2026-11-29T21:00:00Z"]
    assert run(["stats", *words]) == 0
    assert api.queries == [{"from": words[1], "to": words[3]}]


@pytest.mark.parametrize("end", ["--from", "--to"])
def test_stats_fill_in_the_other_end(api, end):
    api.answers(200, STATS)
    assert run(["stats", end, "-3m" if end == "--from" else "+3m"]) == 0
    start, last = (parse_instant(api.queries[0][name], name) for name in ("from", "to"))
    assert abs(last - start - 8 * MINUTE) < MINUTE


def test_stats_of_a_stretch_that_ends_before_it_begins_are_bad_usage(api, capsys):
    assert run(["stats", "--from", "+1h"]) == 2
    assert "must be before" in capsys.readouterr().err
    assert api.requests == []


def test_stats_say_when_no_tick_has_been_and_when_not_all_was_counted(api, capsys):
    backlog = {**STATS["backlog"], "complete": False}
    watermark = {"oldest": None, "lag_seconds": None}
    api.answers(200, {**STATS, "watermark": watermark, "backlog": backlog})
    assert run(["stats"]) == 0
    told = capsys.readouterr().out
    assert "nothing yet" in told
    assert "more than were counted" in told


def test_stats_at_a_terminal_colour_what_is_not_nothing(api, terminal):
    api.answers(200, STATS)
    assert terminal.run(["stats"]) == 0
    assert "\x1b[34m12" in terminal.getvalue()


@pytest.mark.parametrize("words", [["jobs", "list"], ["stats"]])
def test_json_and_refusals_are_the_apis(api, capsys, words):
    api.answers(200, '{"as":"it is"}')
    assert run([*words, "--json"]) == 0
    assert capsys.readouterr().out == '{"as":"it is"}\n'
    for _ in range(3):
        api.refuses(503, "unavailable", "the store did not answer")
    assert run(words) == 1
    assert capsys.readouterr().err == "minutero: the store did not answer\n"


@pytest.mark.parametrize(
    "words", [["jobs", "list", "x"], ["stats", "x"], ["jobs"], ["jobs", "nope"]]
)
def test_words_too_many_or_too_few_are_bad_usage(api, capsys, words):
    assert run(words) == 2
    assert capsys.readouterr().out == ""
    assert api.requests == []
