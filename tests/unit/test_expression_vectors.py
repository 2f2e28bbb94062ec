"""tests/cases: expressions with the right instants, and expressions to refuse. Each is a test."""

import json
from datetime import datetime
from pathlib import Path

import pytest

import minutero
from minutero.domain.expression import first_fire_time, read_rule
from minutero.domain.instants import parse_instant

CASES = Path(__file__).parents[1] / "cases"


def cases(name):
    return json.loads((CASES / f"{name}.json").read_text("utf-8"))


def moment(text):
    return datetime.fromisoformat(text)


def moments(texts):
    return [moment(text) for text in texts]


CRONS = cases("cron_vectors")
RATES, ATS = cases("rate_at_vectors").values()
NEW_DATA = cases("tzdata_2026f")
REFUSED = cases("cron_invalid")


@pytest.mark.parametrize("case", CRONS, ids=lambda case: case["id"])
def test_a_cron_expression_fires_at_these_instants(case):
    found = minutero.fire_times(case["expr"], case["tz"], moment(case["after"]), 5)
    assert found == moments(case["next"])


@pytest.mark.parametrize(
    "case", [one for one in CRONS if not one["next"]], ids=lambda one: one["id"]
)
def test_a_rule_that_never_fires_again_is_refused_where_it_is_to_be_created(case):
    rule = read_rule(case["expr"], case["tz"], 0)
    with pytest.raises(minutero.InvalidSchedule, match="never fires after"):
        first_fire_time(rule, parse_instant(case["after"]))


@pytest.mark.parametrize("case", RATES, ids=lambda case: f"{case['expr']} from {case['anchor']}")
def test_a_rate_fires_at_these_instants(case):
    found = minutero.fire_times(
        case["expr"], after=moment(case["after"]), count=5, anchor=moment(case["anchor"])
    )
    assert found == moments(case["next"])


@pytest.mark.parametrize("case", ATS, ids=lambda case: f"{case['expr']} {case['tz']}")
def test_a_time_of_a_clock_is_one_instant_or_is_refused(case):
    long_ago = moment("2000-01-01T00:00:00Z")
    if "reject" in case:
        with pytest.raises(minutero.InvalidSchedule):
            minutero.fire_times(case["expr"], case["tz"], long_ago)
        return
    assert minutero.fire_times(case["expr"], case["tz"], long_ago) == [moment(case["instant"])]
    assert minutero.fire_times(case["expr"], case["tz"], moment(case["instant"])) == []


@pytest.mark.parametrize("case", NEW_DATA, ids=lambda case: case["id"])
def test_the_zones_are_those_of_the_pinned_data(case):
    found = minutero.fire_times(case["expr"], case["tz"], moment(case["after"]), 5)
    assert found == moments(case["next_with_tzdata_2026f"])


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["reason"])
def test_an_expression_is_refused_in_one_line_that_says_why(case):
    with pytest.raises(minutero.InvalidSchedule) as refused:
        minutero.fire_times(case["expr"])
    assert (refused.value.code, refused.value.field) == ("invalid_expression", "expression")
    assert refused.value.message.isprintable()
