"""`minutero watch`: a deployment, live, and what becomes of it when it does not answer."""

import json
import os
import pty
import signal
import subprocess
import sys
from datetime import datetime

import pytest
from rich.console import Console

from minutero_cli import watch
from minutero_cli.bars import PARTS, lines, nearest, rows
from minutero_cli.errors import CommandError
from minutero_cli.main import run
from minutero_cli.watch import Look, looks
from minutero_cli.watch_picture import picture

from .conftest import HOSTILE

STATS = {
    "now": "2026-12-01T09:00:20Z",
    "shards": 8,
    "watermark": {"oldest": "2026-12-01T08:54:00Z", "lag_seconds": 380},
    "queue": {"ready": 3, "delayed": 412, "in_flight": 8},
    "dead_letter_queue": {"ready": 0, "delayed": 0, "in_flight": 0},
    "backlog": {
        "from": "2026-12-01T08:55:00Z",
        "to": "2026-12-01T09:06:00Z",
        "complete": True,
        "counts": {"succeeded": 600, "running": 41, "claimed": 400, "dead": 1},
        "minutes": [
            {"at": "2026-12-01T09:00:00Z", "counts": {"succeeded": 600, "running": 41, "dead": 1}},
            {"at": "2026-12-01T09:02:00Z", "counts": {"claimed": 400}},
        ],
    },
    "lateness_ms": {"samples": 642, "p50": 320, "p90": 900, "p99": 1700, "max": 1990},
    "overdue": {"from": "2026-12-01T08:54:00Z", "complete": True, "task_id": None},
    "running": [
        {
            "task_id": "1run",
            "job": "echo",
            "attempt": 2,
            "started_at": "2026-12-01T09:00:17Z",
        }
    ],
}
DEAD = {
    "dead": [
        {"died_at": f"2026-12-01T08:5{n}:00Z", "task_id": f"1dead{n}", "job": "pay", "reason": "no"}
        for n in range(9)
    ],
    "next_token": None,
}


@pytest.fixture(autouse=True)
def utc(monkeypatch):
    import time

    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def lay_ready(api, stats=STATS, dead=DEAD):
    api.answers(200, stats)
    api.answers(200, dead)


def drawn(seen, width=100, height=40, pause=2.0, **how):
    """The lines of a picture."""
    console = Console(width=width, height=height, force_terminal=True, color_system=None, **how)
    with console.capture() as shown:
        console.print(picture(seen, console, pause))
    return shown.get().splitlines()


def seen(stats=STATS, dead=DEAD, **more):
    return Look("the local stack", {**stats, **more}, dead)


def test_elsewhere_than_at_a_terminal_it_looks_once_by_two_requests(api, capsys):
    lay_ready(api)
    assert run(["watch"]) == 0
    assert api.calls == [("GET", "/stats"), ("GET", "/dead")]
    told = capsys.readouterr().out
    for part in ("3 ready, 412 delayed", "p99 1.70 s", "1run", "up to 08:54, 6 min 20 s ago"):
        assert part in told
    assert "\x1b" not in told


def test_once_at_a_terminal_looks_once(api, terminal):
    lay_ready(api)
    assert terminal.run(["watch", "--once"]) == 0
    assert len(api.calls) == 2
    assert "running now: 41" in terminal.getvalue()


def test_it_asks_for_whole_minutes_around_now(api):
    lay_ready(api)
    assert run(["watch", "--once"]) == 0
    start, end = (datetime.fromisoformat(api.queries[0][name]) for name in ("from", "to"))
    assert (end - start).total_seconds() == 60 * (watch.BEHIND + 1 + watch.AHEAD)
    assert start.second == start.microsecond == 0


def test_json_is_both_answers(api, capsys):
    lay_ready(api)
    assert run(["watch", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"stats": STATS, "dead": DEAD}


def test_a_deployment_that_does_not_answer_once_is_one_line_and_a_failure(api, capsys):
    assert run(["watch", "--once"]) == 1
    told = capsys.readouterr()
    assert told.out == ""
    assert "does not answer" in told.err
    assert len(told.err.splitlines()) == 1


def test_what_is_no_answer_of_minuteros_is_one_line_too(api, capsys):
    api.answers(200, {"hello": "world"})
    assert run(["watch"]) == 1
    assert "not answered as Minutero does" in capsys.readouterr().err


@pytest.mark.parametrize("span", ["0s", "0.1s", "soon", "-1s"])
def test_an_interval_that_cannot_be_meant_is_bad_usage(api, capsys, span):
    assert run(["watch", "--interval", span]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert api.requests == []


def test_what_was_seen_last_stays_while_it_does_not_answer_and_it_is_asked_again(api, monkeypatch):
    waits = []
    monkeypatch.setattr(watch.time, "sleep", waits.append)
    lay_ready(api)
    found = looks(watch.find_api(), None, 7.0)
    first, away = next(found), next(found)
    lay_ready(api, {**STATS, "shards": 16})
    again = next(found)
    assert (first.error, away.stats) == ("", STATS)
    assert "does not answer" in away.error
    assert (again.error, again.stats["shards"]) == ("", 16)
    assert waits == [7.0, 7.0]


def test_a_stack_that_comes_back_elsewhere_is_found_there(api, monkeypatch):
    monkeypatch.setattr(watch.time, "sleep", lambda _: None)
    found = looks(watch.find_api(), None, 1.0)
    assert "does not answer" in next(found).error
    monkeypatch.setenv("MINUTERO_API_URL", "http://127.0.0.1:2/other")
    lay_ready(api)
    assert next(found).error == ""
    assert api.requests[-1].full_url.startswith("http://127.0.0.1:2/other/")


def test_a_stack_that_cannot_be_found_any_more_is_told_and_looked_for_again(api, monkeypatch):
    monkeypatch.setattr(watch.time, "sleep", lambda _: None)
    found = looks(watch.find_api(), None, 1.0)
    next(found)

    def gone(_stack):
        raise CommandError("no API to talk to")

    monkeypatch.setattr(watch, "find_api", gone)
    assert next(found).error == "no API to talk to"


def test_the_picture_says_that_the_deployment_is_away_above_what_was_seen_last():
    away = Look("the local stack", STATS, DEAD, "it does not answer")
    told = drawn(away)
    assert told[0] == "it does not answer; asked again every 2 s"
    assert any("running now: 41" in line for line in told)
    assert drawn(Look("x", error="it does not answer"), pause=None) == ["it does not answer"]


@pytest.mark.parametrize("height", [12, 16, 20, 24, 30, 60])
@pytest.mark.parametrize("width", [30, 44, 80, 200])
def test_the_picture_fits_every_terminal(width, height):
    many = {"running": STATS["running"] * 10}
    told = drawn(seen(**many), width, height)
    assert len(told) < height or height == 12
    assert all(len(line) <= width for line in told)
    assert any(line.startswith("▶ 09:00") for line in told)


def test_a_long_reason_why_it_is_away_leaves_room_for_less():
    away = Look("the local stack", STATS, DEAD, "it does not answer " * 10)
    assert len(drawn(away, 80, 24)) < 24


def test_where_there_is_room_every_minute_and_five_of_each_list_are_shown():
    told = drawn(seen(running=STATS["running"] * 7), height=60)
    assert sum("1run" in line for line in told) == 5
    assert [line.split()[1] for line in told if "1dead" in line] == [
        *("1dead8", "1dead7", "1dead6", "1dead5", "1dead4")
    ]
    assert sum(line.strip("▶ ")[2:3] == ":" and line[7:8] == " " for line in told) == 11


def test_more_dead_than_were_read_is_said():
    told = drawn(seen(dead={**DEAD, "next_token": "more"}))
    assert "dead in the last hour: 9 and more" in told


def test_bars_are_to_one_scale_and_nothing_that_is_there_is_left_out():
    found = rows(STATS["backlog"])
    now = datetime.fromisoformat(STATS["now"])
    told = [line.plain for line in lines(found, now, 60, ascii_only=False)]
    bars = {line[2:7]: line[8:] for line in told}
    assert bars["09:00"].rsplit(" ", 1)[1] == "642"
    dead, done, runs, claimed, _ = (bars["09:00"].count(part.sign) for part in PARTS)
    assert (dead, claimed) == (1, 0)
    assert done > 10 * runs > 0
    assert bars["09:02"].count(PARTS[3].sign) == 400 * 40 // 642
    assert bars["08:55"] == ""
    assert dead + done + runs == 40


def test_without_unicode_there_are_signs_all_the_same():
    told = list(
        lines(rows(STATS["backlog"]), datetime.fromisoformat(STATS["now"]), 60, ascii_only=True)
    )
    assert all(line.plain.isascii() for line in told)
    assert any(line.plain.startswith("> 09:00 X####") for line in told)


def test_the_minutes_around_now_are_kept_where_there_is_no_room():
    found = rows(STATS["backlog"])
    now = datetime.fromisoformat(STATS["now"])
    assert [f"{row.at:%H:%M}" for row in nearest(found, now, 3)] == ["08:59", "09:00", "09:01"]
    assert nearest(found, now, 11) == nearest(found, now, 99) == found
    late = datetime.fromisoformat("2026-12-01T11:00:00Z")
    assert [f"{row.at:%H:%M}" for row in nearest(found, late, 2)] == ["09:04", "09:05"]


def test_no_value_of_the_api_reaches_the_terminal_raw():
    letter = dict.fromkeys(("task_id", "job", "reason"), HOSTILE)
    hostile = seen(
        dead={"dead": [{**letter, "died_at": "2026-12-01T08:59:00Z"}]},
        running=[{"task_id": HOSTILE, "job": HOSTILE, "attempt": 1, "started_at": None}],
        overdue={"task_id": HOSTILE},
    )
    assert all(line.isprintable() for line in drawn(hostile, width=300))


def test_the_numbers_of_an_older_api_are_shown_as_far_as_they_go():
    old = {name: STATS[name] for name in ("now", "shards", "watermark", "queue")}
    backlog = {name: value for name, value in STATS["backlog"].items() if name != "minutes"}
    told = drawn(Look("x", {**old, "backlog": backlog}, {}))
    assert any("3 ready" in line for line in told)
    assert "dead in the last hour: 0" in told


@pytest.mark.parametrize("colours", [{}, {"NO_COLOR": "1"}])
def test_ctrl_c_ends_it_with_0_and_leaves_the_terminal_as_it_was(colours):
    ours, theirs = pty.openpty()
    environment = {
        **os.environ,
        "MINUTERO_API_URL": "http://127.0.0.1:1",
        "TERM": "xterm",
        **colours,
    }
    code = "from minutero_cli.main import main; main(['watch', '--interval', '30s'])"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    told = b""
    while b"asked again every 30 s" not in told:
        told += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    try:
        while more := os.read(ours, 4096):
            told += more
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait() == 0
    assert b"Traceback" not in told
    assert told.rstrip().endswith(b"\x1b[?25h")  # the cursor is shown again
    assert (b"\x1b[1;31m" in told) == (not colours)
