"""The table of statuses: what users see, derived from a task item and its run record."""

import itertools

import pytest
from world import NOW, make_task

from minutero.domain.lifecycle import Status, status_of
from minutero.domain.run import Ending, Outcome, RunRecord
from minutero.domain.task import State

STORED = {
    State.SCHEDULED: "scheduled",
    State.CLAIMED: "claimed",
    State.CANCELLED: "cancelled",
    State.DEAD: "dead",
    State.MOVED: "scheduled",
    State.UNKNOWN: "scheduled",
}
ENDED = {
    Ending.SUCCEEDED: "succeeded",
    Ending.SKIPPED: "skipped",
    Ending.EXPIRED: "expired",
    Ending.DEAD: "dead",
    Ending.CANCELLED: "cancelled",
    Ending.DISCARDED: "dead",
}


def run(until=0, ending=None):
    return RunRecord("r", 1, until, outcome=ending and Outcome(ending))


@pytest.mark.parametrize("state", State)
def test_before_the_first_start_the_item_says_the_status(state):
    assert status_of(make_task(state=state), None, NOW) == STORED[state]


@pytest.mark.parametrize(("state", "ending"), list(itertools.product(State, ENDED)))
def test_a_finished_outcome_wins_over_everything(state, ending):
    for until in (0, NOW - 1, NOW + 1):
        assert status_of(make_task(state=state), run(until, ending), NOW) == ENDED[ending]


@pytest.mark.parametrize("ending", [Ending.SUPERSEDED, Ending.UNKNOWN])
@pytest.mark.parametrize("state", State)
def test_a_superseded_run_and_an_unknown_ending_say_nothing_of_the_task(state, ending):
    record = run(ending=ending)
    assert status_of(make_task(state=state), record, NOW) == STORED[state]


@pytest.mark.parametrize("state", State)
def test_a_living_attempt_is_running_and_a_failed_or_broken_off_one_retrying(state):
    task = make_task(state=state)
    assert status_of(task, run(until=NOW), NOW) is Status.RUNNING
    assert status_of(task, run(until=NOW - 1), NOW) is Status.RETRYING
    assert status_of(task, run(until=0), NOW) is Status.RETRYING


def test_the_statuses_are_those_of_the_contract():
    assert {str(status) for status in Status} == {
        "scheduled",
        "claimed",
        "running",
        "retrying",
        "succeeded",
        "skipped",
        "expired",
        "dead",
        "cancelled",
    }
