"""Bodies and query strings of schedules: from parsed JSON to a Definition, and what is refused by name."""

import pytest
from world import NOW

from minutero.domain.instants import DAY, HOUR, MINUTE, format_instant
from minutero.domain.new_task import parse_json
from minutero.domain.schedule import (
    LONGEST_GRACE,
    LONGEST_JITTER,
    MOST_CATCH_UP,
    Definition,
    Misfire,
)
from minutero.errors import InvalidInput, InvalidSchedule
from minutero.http.bodies import read_body
from minutero.http.queries import read_query
from minutero.http.schedule_bodies import PauseBody, ResumeBody, ScheduleBody
from minutero.http.schedule_queries import ExplainQuery, NextQuery

LEAST = {"job": "echo", "expression": "rate(5 minutes)"}
WHOLE = f"""{{
    "job": "echo", "payload": {{"b": [1, null], "a": "é"}}, "expression": "cron(30 2 * * ? *)",
    "timezone": "America/New_York", "start_at": "{format_instant(NOW)}",
    "end_at": "{format_instant(NOW + DAY)}", "jitter_seconds": 60, "on_gap": "next",
    "on_overlap": "both", "overlap": "queue", "enabled": true, "max_attempts": 20, "tenant": "acme",
    "misfire": {{"policy": "all", "grace_seconds": 0, "max_catch_up": 7}}}}"""


def read(body):
    body = parse_json(body) if isinstance(body, str) else body
    return read_body(ScheduleBody, body).to_definition(NOW)


def refusal(body):
    with pytest.raises(InvalidInput) as refused:
        read(body)
    return refused.value.code, refused.value.field


def test_a_whole_body_is_a_definition():
    assert read(WHOLE) == Definition(
        "echo",
        "cron(30 2 * * ? *)",
        "America/New_York",
        '{"a":"é","b":[1,null]}',
        NOW,
        NOW + DAY,
        60,
        "next",
        "both",
        Misfire("all", 0, 7),
        "queue",
        20,
        "acme",
    )


def test_what_is_left_out_or_null_is_as_the_domain_has_it():
    null = dict.fromkeys(ScheduleBody.model_fields.keys() - LEAST.keys())
    misfire = {"misfire": dict.fromkeys(("policy", "grace_seconds", "max_catch_up"))}
    for body in (LEAST, {**LEAST, **null}, {**LEAST, **misfire}, {**LEAST, "misfire": {}}):
        assert read(body) == Definition("echo", "rate(5 minutes)")


def test_the_same_payload_in_another_order_is_the_same_definition():
    one, other = ({**LEAST, "payload": {**more}} for more in ({"a": 1, "b": 2}, {"b": 2, "a": 1}))
    assert read(one) == read(other) != read(LEAST)


@pytest.mark.parametrize("job", ["echo", None])
def test_job_and_expression_are_required(job):
    body = {"job": job, "expression": "rate(1 minute)"} if job else {"expression": "rate(1 day)"}
    missing = "job" if job is None else "expression"
    body.pop(missing, None)
    assert refusal(body) == (f"invalid_{missing}", missing)


BAD = {
    "job": ["1", "null", '""', '"a b"', '"x/y"'],
    "expression": ["1", "null", '""', '"0 12 * * 1"', '"cron(0 0 30 13 ? *)"', f'"{"x" * 9_999}"'],
    "timezone": ["1", '""', '"America"', '"../../etc/passwd"', '"localtime"', '"right/UTC"'],
    "start_at": ["1793511000000", '"1793511000000"', '"tomorrow"', '"2099-01-01T00:00:00Z"', "{}"],
    "end_at": ["1793511000000", '"2026-12-01"', "true", '""'],
    "jitter_seconds": ["-1", "1.5", "true", '"5"', str(LONGEST_JITTER + 1), "9" * 4_000],
    "on_gap": ["1", '"both"', '""', "[]", '"Skip"'],
    "on_overlap": ["1", '"next"', '""', "{}"],
    "misfire": ["1", '"once"', "[]", "true"],
    "overlap": ["1", '"once"', '"queue "', "[]"],
    "enabled": ["0", "1", '"true"', "[]"],
    "max_attempts": ["0", "21", '"5"', "5.0", "true"],
    "tenant": ["1", '""', '"a b"'],
}


@pytest.mark.parametrize("field", BAD)
def test_a_value_of_the_wrong_kind_is_refused_by_its_field(field):
    for value in BAD[field]:
        others = ", ".join(f'"{name}": "{said}"' for name, said in LEAST.items() if name != field)
        assert refusal(f'{{{others}, "{field}": {value}}}') == (f"invalid_{field}", field), value


@pytest.mark.parametrize(
    ("member", "values"),
    [
        ("policy", ["1", '"first"', '""', "[]"]),
        ("grace_seconds", ["-1", "true", "1.5", '"300"', str(LONGEST_GRACE + 1)]),
        ("max_catch_up", ["0", "true", "1.5", '"5"', str(MOST_CATCH_UP + 1)]),
    ],
)
def test_a_member_of_misfire_is_refused_by_its_own_name_under_one_code(member, values):
    for value in values:
        body = f'{{"job": "echo", "expression": "rate(1 day)", "misfire": {{"{member}": {value}}}}}'
        assert refusal(body) == ("invalid_misfire", f"misfire.{member}"), value


@pytest.mark.parametrize(
    ("member", "most"), [("grace_seconds", LONGEST_GRACE), ("max_catch_up", MOST_CATCH_UP)]
)
def test_the_bounds_of_a_misfire_are_taken(member, most):
    misfire = read({**LEAST, "misfire": {member: most}}).misfire
    assert getattr(misfire, member) == most


def test_a_field_there_is_not_is_refused_by_name():
    assert refusal({**LEAST, "run_at": "x"}) == ("unknown_field", "run_at")
    assert refusal({**LEAST, "misfire": {"grace": 1}}) == ("unknown_field", "misfire.grace")


@pytest.mark.parametrize("body", ["[]", "1", '"echo"', "null", '[{"job": "echo"}]'])
def test_a_body_that_is_no_object_is_refused(body):
    assert refusal(body) == ("invalid_body", "")


@pytest.mark.parametrize(("start", "end"), [(HOUR, HOUR), (HOUR, MINUTE)])
def test_an_end_that_is_not_after_the_start_is_refused(start, end):
    times = {"start_at": format_instant(NOW + start), "end_at": format_instant(NOW + end)}
    assert refusal({**LEAST, **times}) == ("invalid_end_at", "end_at")


def test_a_start_may_be_past():
    assert read({**LEAST, "start_at": "0001-01-01T00:00:00Z"}).start_at < 0


def test_a_unix_line_is_refused_with_what_is_meant_and_never_read_as_something_else():
    """B004: 0 is Sunday for Unix and nothing here, 1 is Monday for Unix and Sunday here."""
    for line, meant in [
        ("15 12 * * 0", "cron(15 12 ? * SUN *)"),
        ("cron(0 9 * * 1)", "cron(0 9 ? * MON *)"),
        ("*/5 * * * *", "cron(*/5 * * * ? *)"),
        ("@daily", "cron(0 0 * * ? *)"),
    ]:
        with pytest.raises(InvalidSchedule, match="perhaps you mean") as refused:
            read({**LEAST, "expression": line})
        assert refused.value.message.endswith(meant)
        assert read({**LEAST, "expression": meant}).expression == meant


@pytest.mark.parametrize("field", ["start_at", "end_at"])
def test_a_time_in_milliseconds_is_told_as_the_text_to_send(field):
    """B069"""
    for value in (1_793_511_000_000, "1793511000000"):
        with pytest.raises(InvalidInput) as refused:
            read({**LEAST, field: value})
        assert refused.value.message == (
            f"{field} looks like milliseconds since 1970; send RFC 3339 text: 2026-11-01T05:30:00Z"
        )


def test_a_reason_is_printable_text_or_none_at_all():
    assert read_body(PauseBody, {}).checked() == ""
    assert read_body(PauseBody, {"reason": None}).checked() == ""
    assert read_body(PauseBody, {"reason": "é" * 256}).checked() == "é" * 256
    for value in ("x" * 257, "a\nb", "\x00", 5, True, []):
        with pytest.raises(InvalidInput) as refused:
            read_body(PauseBody, {"reason": value}).checked()
        assert (refused.value.code, refused.value.field) == ("invalid_reason", "reason")


def test_a_resume_is_from_now_or_a_backfill():
    assert [read_body(ResumeBody, one).checked() for one in ({}, {"from": None})] == ["now"] * 2
    assert read_body(ResumeBody, {"from": "backfill"}).checked() == "backfill"
    for value in ("", "Now", "2026-12-01T09:00:00Z", 5, []):
        with pytest.raises(InvalidInput) as refused:
            read_body(ResumeBody, {"from": value}).checked()
        assert refused.value.field == "from", value
    with pytest.raises(InvalidInput, match="no field 'since'"):
        read_body(ResumeBody, {"since": "now"})


def test_so_many_times_are_told_as_are_asked_for():
    assert read_query(NextQuery, {}).count() == 5
    assert [read_query(NextQuery, {"n": n}).count() for n in ("1", "500")] == [1, 500]
    for n in ("0", "501", "-1", "1.5", "", "ten", "\u0665", "9" * 5_000):
        with pytest.raises(InvalidInput) as refused:
            read_query(NextQuery, {"n": n}).count()
        assert (refused.value.code, refused.value.field) == ("invalid_n", "n")


def explained(**asked):
    return read_query(ExplainQuery, {name.rstrip("_"): at for name, at in asked.items()})


def test_a_day_back_and_an_hour_ahead_are_explained_where_nothing_is_said():
    assert explained().to_span(NOW) == (NOW - DAY, NOW + HOUR - 1)
    start = format_instant(NOW - MINUTE)
    assert explained(from_=start).to_span(NOW) == (NOW - MINUTE, NOW + HOUR - 1)
    assert explained(to=start).to_span(NOW) == (NOW - DAY, NOW - MINUTE - 1)


def test_a_span_that_ends_before_it_begins_or_is_longer_than_a_year_is_refused():
    year_back, later = format_instant(NOW - 366 * DAY), format_instant(NOW + 1)
    for asked in ({"from_": year_back, "to": later}, {"from_": later, "to": later}):
        with pytest.raises(InvalidInput) as refused:
            explained(**asked).to_span(NOW)
        assert (refused.value.code, refused.value.field) == ("invalid_to", "to")


def test_the_ends_of_the_calendar_are_cut_to_what_a_schedule_can_know():
    first, _ = explained(from_="0001-01-01T00:00:00Z", to="0001-06-01T00:00:00Z").to_span(NOW)
    _, last = explained(from_="9999-06-01T00:00:00Z", to="9999-12-31T23:59:59-23:59").to_span(NOW)
    assert (first, last) == (0, NOW + 3653 * DAY - 1)
