"""docs/expressions.md says of the dialect what the parser does."""

from datetime import datetime
from typing import get_args

import pytest
from pages import table, unquoted

import minutero
from minutero.domain import cron_fields
from minutero.domain.timetable import OnGap, OnOverlap

PAGE = "docs/expressions.md"
FIELDS = [
    cron_fields.MINUTES,
    cron_fields.HOURS,
    cron_fields.DAY_OF_MONTH,
    cron_fields.MONTH,
    cron_fields.DAY_OF_WEEK,
    cron_fields.YEAR,
]


@pytest.mark.parametrize(
    ("written", "zone", "after", "fires"), table(PAGE, "Examples"), ids=lambda cell: cell[:40]
)
def test_an_example_fires_when_it_is_said_to(written, zone, after, fires):
    expression, *policy = unquoted(written)
    told = [datetime.fromisoformat(one) for one in unquoted(fires)]
    found = minutero.fire_times(
        expression,
        *unquoted(zone),
        datetime.fromisoformat(*unquoted(after)),
        len(told),
        **dict([policy] if policy else []),
    )
    assert found == told


@pytest.mark.parametrize(("written", "meant"), table(PAGE, "Examples", 1))
def test_what_is_refused_is_refused_with_what_is_meant(written, meant):
    with pytest.raises(minutero.InvalidSchedule) as refused:
        minutero.fire_times(*unquoted(written))
    assert refused.value.message.endswith(f"perhaps you mean {unquoted(meant)[0]}")


def test_the_table_of_fields_has_each_with_its_values():
    told = [(row[0], unquoted(row[1])) for row in table(PAGE, "cron")]
    ends = [[str(one.first), str(one.last), *one.names[:1], *one.names[-1:]] for one in FIELDS]
    assert told == [(one.name, values) for one, values in zip(FIELDS, ends, strict=True)]


WRITTEN = [text for row in table(PAGE, "cron", 1) for text in unquoted(row[0])]
PLACES = ["{} * * * ? *", "* {} * * ? *", "* * {} * ? *", "* * * {} ? *", "* * ? * {} *"]


def is_read(fields):
    try:
        minutero.fire_times(f"cron({fields})", count=0)
    except minutero.InvalidSchedule:
        return False
    return True


@pytest.mark.parametrize("text", [one for one in WRITTEN if one != "?"])
def test_what_may_be_written_is_taken_by_some_field(text):
    assert any(is_read(place.format(text)) for place in PLACES)


def test_the_policies_are_those_of_the_code():
    rows = table(PAGE, "When the clock is changed")
    told = {tuple(unquoted(cell)) for row in rows for cell in row[1:]}
    named = {("on_gap", one) for one in get_args(OnGap)} | {
        ("on_overlap", one) for one in get_args(OnOverlap)
    }
    assert {one for one in told if one} == named
