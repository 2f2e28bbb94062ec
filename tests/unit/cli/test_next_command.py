"""`minutero next`: no stack, no network."""

import json

import pytest

from minutero.domain.instants import parse_instant
from minutero_cli import next as next_command
from minutero_cli.main import run

NEW_YORK = ["--timezone", "America/New_York"]


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    monkeypatch.setattr(next_command, "now", lambda: parse_instant("2026-11-29T20:21:00.250Z"))


def test_it_prints_utc_local_time_and_day_in_lines_for_scripts(capsys):
    assert run(["next", "cron(30 17 ? * FRI *)", *NEW_YORK, "-n", "2"]) == 0
    told = capsys.readouterr()
    assert told.out == (
        "2026-12-04T22:30:00Z\t2026-12-04T17:30:00-05:00\tFri\n"
        "2026-12-11T22:30:00Z\t2026-12-11T17:30:00-05:00\tFri\n"
    )
    assert told.err == ""


def test_it_prints_columns_under_a_head_at_a_terminal(terminal):
    assert terminal.run(["next", "cron(30 17 ? * FRI *)", *NEW_YORK, "-n", "1"]) == 0
    shown = terminal.getvalue()
    assert "America/New_York" in shown
    assert "2026-12-04T17:30:00-05:00" in shown


def test_it_prints_json(capsys):
    assert run(["next", "rate(1 hour)", "-n", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "expression": "rate(1 hour)",
        "timezone": "UTC",
        "fire_times": [{"utc": "2026-11-29T21:21:00Z", "local": "2026-11-29T21:21:00+00:00"}],
    }


def test_it_gives_five_after_the_time_it_is_told(capsys):
    assert run(["next", "rate(1 day)", "--after", "2030-01-01T00:00:00Z"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line[:10] for line in lines] == [f"2030-01-0{n}" for n in range(2, 7)]


def test_a_rate_counts_from_its_anchor(capsys):
    assert run(["next", "rate(1 hour)", "--anchor", "2026-11-01T00:05:00Z", "-n", "1"]) == 0
    assert capsys.readouterr().out.startswith("2026-11-29T21:05:00Z\t")


def test_the_policies_are_followed(capsys):
    words = ["next", "cron(30 1 * * ? *)", *NEW_YORK, "--after", "2026-11-01T00:00:00Z", "-n", "2"]
    assert run([*words, "--on-overlap", "both"]) == 0
    assert [line[:20] for line in capsys.readouterr().out.splitlines()] == [
        "2026-11-01T05:30:00Z",
        "2026-11-01T06:30:00Z",
    ]


@pytest.mark.parametrize(
    ("policy", "fate"), [("skip", "is skipped"), ("next", "fires at 2027-03-14T07:00:00Z")]
)
def test_a_time_that_the_clock_will_leave_out_is_told_of(capsys, policy, fate):
    assert run(["next", "cron(30 2 * * ? *)", *NEW_YORK, "--on-gap", policy]) == 0
    assert capsys.readouterr().err == (
        f"minutero: note: 2027-03-14T02:30:00 does not exist in America/New_York and {fate}\n"
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["cron(55 7-23 * * * *)"], "perhaps you mean cron(55 7-23 * * ? *)"),
        (["cron(0 9 * * ? *)", "--timezone", "America/Mexico_Cty"], "perhaps you mean America/Mexico_City"),
        (["cron(0 0 30 2 ? *)"], "never fires after"),
        (["cron(0 0 * * ? 2020)"], "its time is over"),
        (["rate(1 hour)", "--after", "soon"], "--after"),
        (["rate(1 hour)", "-n", "0"], "-n"),
        (["rate(1 hour)", "--on-gap", "both"], "--on-gap"),
        ([], "EXPRESSION"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_told_in_one_line_with_the_exit_code_of_bad_usage(
    capsys, words, told
):
    assert run(["next", *words]) == 2
    streams = capsys.readouterr()
    assert streams.out == ""
    assert streams.err.count("\n") == 1
    assert told in streams.err
