"""A refusal shows the right spelling where one is near."""

import pytest
from hypothesis import strategies as st
from properties import given

import minutero
from minutero.domain.expression import read_rule

WRITTEN = st.text("0123456789*?/-,#LW@ ()cronateJANMOdyhusi:TZ.\t\n", max_size=60)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("cron(55 7-23 * * * *)", "cron(55 7-23 * * ? *)"),  # B001
        ("cron(0 10 * * MON *)", "cron(0 10 ? * MON *)"),
        ("cron(0 10 1 * * *)", "cron(0 10 1 * ? *)"),
        ("cron(0 2 29 2 1 *)", "cron(0 2 29 2 ? *) or cron(0 2 ? 2 1 *)"),
        ("cron(0 10 ? * ? *)", "cron(0 10 * * ? *)"),
        ("cron(* ? * * * *)", "cron(* * * * ? *)"),  # B005
        ("cron(0 18 ? * MON-FRI ?)", "cron(0 18 ? * MON-FRI *)"),  # B006
        ("cron(0 10 ? * MONDAY-Friday *)", "cron(0 10 ? * MON-Fri *)"),
        ("cron(0 10 1 january,Sept ? *)", "cron(0 10 1 jan,Sep ? *)"),
        ("cron(0 10 ? * 0 *)", "cron(0 10 ? * SUN *)"),
        ("cron(0 0 10 * * ? *)", "cron(0 10 * * ? *)"),  # Quartz, with seconds and year
        ("cron(0 0 10 ? * MON)", "cron(0 10 ? * MON *)"),  # Quartz, with seconds
        ("cron( 0 10 * * ? * )", "cron(0 10 * * ? *)"),
        ("cron(0 10 * * ? *", "cron(0 10 * * ? *)"),
        ("cron(0 10 * * ? *);", "cron(0 10 * * ? *)"),
        ("cron(0 10 * * ?\u00a0*)", "cron(0 10 * * ? *)"),
        ("cron(\uff10 10 * * ? *)", "cron(0 10 * * ? *)"),
        ("CRON(0 10 * * ? *)", "cron(0 10 * * ? *)"),
        ("0 10 * * ? *", "cron(0 10 * * ? *)"),
        ("15 12 * * 0", "cron(15 12 ? * SUN *)"),  # B004: Unix counts from 0
        ("15 12 * * 7", "cron(15 12 ? * SUN *)"),
        ("30 9 * * 1-5", "cron(30 9 ? * MON-FRI *)"),
        ("30 9 * * */2", "cron(30 9 ? * */2 *)"),
        ("cron(0 */1 * * MON)", "cron(0 */1 ? * MON *)"),
        ("* * * * *", "cron(* * * * ? *)"),
        ("@daily", "cron(0 0 * * ? *)"),
        ("cron(@Weekly)", "cron(0 0 ? * SUN *)"),
        ("rate(5 hour)", "rate(5 hours)"),  # B025
        ("rate(5 mins)", "rate(5 minutes)"),
        ("rate( 10 MINUTES )", "rate(10 minutes)"),
        ("rate(1.5 hours)", "rate(90 minutes)"),
        ("rate(2.0 days)", "rate(2 days)"),
        ("rate(120 seconds)", "rate(2 minutes)"),
        ("rate(2 weeks)", "rate(14 days)"),
        ("rate(1week)", "rate(7 days)"),
        ("Rate(1 day)", "rate(1 day)"),
        ("rate 1 day", "rate(1 day)"),
        ("at(2026-10-01T10:00)", "at(2026-10-01T10:00:00)"),
        ("at(2026-10-01 10:00:00)", "at(2026-10-01T10:00:00)"),
        ("at(2026-10-01T10:00:00Z)", "at(2026-10-01T10:00:00)"),
        ("at(2026-10-01T10:00:00.000+02:00)", "at(2026-10-01T10:00:00)"),
    ],
)
def test_what_was_probably_meant_is_shown_and_can_be_read(written, meant):
    with pytest.raises(minutero.InvalidSchedule) as refused:
        read_rule(written, "UTC", 0)
    assert refused.value.message.endswith(f"; perhaps you mean {meant}")
    for one in meant.split(" or "):
        read_rule(one, "UTC", 0)


@pytest.mark.parametrize(
    "written",
    ["", "cron()", "cron(60 8 1 * ? *)", "cron(0 10 1 13 ? *)", "cron(0 0 ? * 3#6 *)", "cron(0/90 * * * ? *)",
     "rate()", "rate(0 minutes)", "rate(10 seconds)", "rate(10 years)", "rate(0.1 minutes)", "at(tomorrow)",
     "at(2026-02-30T10:00)", "every 5 minutes", "cron", "()"],
)  # fmt: skip
def test_where_nothing_is_near_nothing_is_shown(written):
    with pytest.raises(minutero.InvalidSchedule) as refused:
        read_rule(written, "UTC", 0)
    assert "perhaps" not in refused.value.message


def refusal(text):
    """Why a text is refused, or nothing."""
    try:
        rule = read_rule(text, "America/New_York", 0)
    except minutero.InvalidSchedule as refused:
        return refused.message
    next(rule.fire_times(0), None)
    return ""


@given(st.one_of(st.text(max_size=300), WRITTEN, WRITTEN.map(lambda text: f"cron({text})")))
def test_any_text_is_read_or_refused_in_one_line_and_what_is_shown_can_be_read(text):
    message = refusal(text)
    assert not message or message.isprintable()
    _, _, near = message.partition("; perhaps you mean ")
    assert not any(map(refusal, filter(None, near.split(" or "))))
