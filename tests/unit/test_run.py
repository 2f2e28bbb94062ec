"""Outcomes and run records."""

import json
import math

import pytest
from hypothesis import strategies as st
from properties import given
from world import NOW

from minutero.domain.run import (
    ERROR_LIMIT,
    RESULT_LIMIT,
    TOLD_AS,
    Ending,
    Outcome,
    RunRecord,
    short,
    succeeded,
)

texts = st.text(st.characters(exclude_categories=["Cs"]))


@pytest.mark.parametrize("result", [0, False, "", [], {}, "é", {"a": [1, 2.5, None]}])
def test_a_result_is_kept_as_json(result):
    outcome = succeeded(result)
    assert (outcome.ending, outcome.note) == (Ending.SUCCEEDED, "")
    assert json.loads(outcome.result) == result


def test_nothing_is_a_result_too():
    assert succeeded(None) == Outcome(Ending.SUCCEEDED)


def test_a_result_at_the_limit_is_kept_and_one_byte_more_is_dropped():
    room = RESULT_LIMIT - len('""')
    assert succeeded("x" * room).note == ""
    dropped = succeeded("x" * (room + 1))
    assert (dropped.ending, dropped.result) == (Ending.SUCCEEDED, None)
    assert (
        dropped.note
        == f"result dropped: {RESULT_LIMIT + 1} bytes of JSON, the limit is {RESULT_LIMIT}"
    )


def endless():
    loop = []
    loop.append(loop)
    return loop


class Lazy(dict):
    """Reads its members when they are asked for, and cannot by then."""

    def items(self):
        raise ConnectionError("the session is closed")


class Huge(list):
    def __iter__(self):
        raise MemoryError


def too_deep():
    value = []
    for _ in range(100_000):
        value = [value]
    return value


@pytest.mark.parametrize(
    "result",
    [
        object(),
        {1, 2},
        b"bytes",
        math.nan,
        [math.inf],
        {(1, 2): 3},
        10**5000,
        endless(),
        too_deep(),
        "\ud800",
        ["a\udfff"],
        Lazy(a=1),
        Huge([1]),
    ],
    ids=lambda result: type(result).__name__,
)
def test_a_result_that_cannot_be_stored_is_dropped_and_the_run_still_succeeds(result):
    outcome = succeeded(result)
    assert (outcome.ending, outcome.result) == (Ending.SUCCEEDED, None)
    assert outcome.note.startswith("result dropped: ")
    assert len(outcome.note) <= ERROR_LIMIT + len("result dropped: ")


@given(st.sampled_from(Ending), st.none() | texts.filter(bool), texts, texts)
def test_an_outcome_is_read_back_as_it_was_stored(ending, result, reason, note):
    outcome = Outcome(ending, result, reason, note)
    assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_what_says_nothing_is_not_stored():
    assert Outcome(Ending.SUCCEEDED).to_json() == {"ending": "succeeded"}


def test_members_of_a_newer_version_are_passed_over():
    assert Outcome.from_json({"ending": "dead", "mood": "sad"}) == Outcome(Ending.DEAD)


@pytest.mark.parametrize("ending", [Ending.DISCARDED])
def test_an_ending_that_came_later_is_stored_under_one_that_older_versions_know(ending):
    stored = Outcome(ending).to_json()
    assert stored == {"ending": str(TOLD_AS[ending]), "exactly": str(ending)}


@pytest.mark.parametrize(
    ("stored", "ending"),
    [
        ({"ending": "paused"}, Ending.UNKNOWN),
        ({"ending": "dead", "exactly": "paused"}, Ending.DEAD),
        ({"ending": "paused", "exactly": "dead"}, Ending.DEAD),
        ({"ending": "discarded"}, Ending.DISCARDED),
        ({"ending": None}, Ending.UNKNOWN),
        ({}, Ending.UNKNOWN),
    ],
)
def test_an_ending_of_a_newer_version_is_read_as_the_nearest_one_known(stored, ending):
    assert Outcome.from_json(stored) == Outcome(ending)


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("no such wallet"), "ValueError: no such wallet"),
        (KeyError("a"), "KeyError: 'a'"),
        (RuntimeError("two\nlines\t here"), "RuntimeError: two lines here"),
        (ValueError(), "ValueError:"),
        (ValueError("a\ud800b"), "ValueError: a?b"),
    ],
)
def test_an_error_is_told_in_one_line(error, line):
    assert short(error) == line


def test_a_long_error_is_cut():
    assert len(short(ValueError("x" * 10_000))) == ERROR_LIMIT


def test_an_error_that_cannot_be_told_is_told_by_its_type():
    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("cannot say")

    assert short(Mute()).startswith("Mute")


def test_a_run_is_running_to_the_end_of_its_time_and_may_start_after_it():
    record = RunRecord("r", 1, in_progress_until=NOW)
    assert record.is_running(NOW)
    assert not record.may_start(NOW)
    assert not record.is_running(NOW + 1)
    assert record.may_start(NOW + 1)


def test_an_ended_run_neither_runs_nor_starts():
    ended = RunRecord("r", 1, NOW + 1, outcome=Outcome(Ending.DEAD))
    assert not ended.is_running(NOW)
    assert not ended.may_start(NOW + 10)
