import pytest
import typer

from minutero.domain.instants import DAY, HOUR, MINUTE, parse_instant
from minutero_cli import times
from minutero_cli.durations import parse_duration
from minutero_cli.times import checked_instant, parse_time

NOW = parse_instant("2026-11-29T20:21:00Z")


@pytest.fixture(autouse=True)
def _clock(monkeypatch):
    monkeypatch.setattr(times, "now", lambda: NOW)


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("now", NOW),
        ("-2h", NOW - 2 * HOUR),
        ("+1h30m", NOW + 90 * MINUTE),
        ("-7d", NOW - 7 * DAY),
        ("2026-11-29T14:21:00-06:00", NOW),
        (" 2026-11-29T20:21:00.250Z ", NOW + 250),
    ],
)
def test_a_time_may_be_given_as_such_or_as_a_span_from_now(text, instant):
    assert parse_time(text) == instant


@pytest.mark.parametrize("text", ["2h", "tomorrow", "", "+", "-soon", "2026-11-29", "+11y"])
def test_a_time_that_cannot_be_meant_is_told_with_what_to_write(text):
    with pytest.raises(typer.BadParameter, match=r"Z|1h30m"):
        parse_time(text)


@pytest.mark.parametrize("parse", [parse_time, checked_instant])
def test_milliseconds_are_no_time_and_the_hint_says_how_to_write_them(parse):
    with pytest.raises(typer.BadParameter, match="milliseconds") as told:
        parse("1587398562893")
    assert "2020-04-20T16:02:42.893Z" in told.value.message


@pytest.mark.parametrize("parse", [parse_time, checked_instant])
@pytest.mark.parametrize(
    "text", ["2026-12-01T09:00:00", "2026-02-30T09:00:00Z", "2026-12-01T23:59:60Z", "9" * 400]
)
def test_a_time_without_a_zone_or_outside_the_calendar_is_refused(parse, text):
    with pytest.raises(typer.BadParameter):
        parse(text)


def test_a_span_is_at_most_ten_years():
    assert parse_duration("3653d") == 3653 * 86_400
    for text in ("3654d", "9" * 400, "9" * 400 + "s"):
        with pytest.raises(typer.BadParameter, match="ten years"):
            parse_duration(text)
