from dataclasses import fields, replace

import pytest
from hypothesis import strategies as st
from properties import given
from world import NOW, make_task

from minutero.domain.instants import DAY, MINUTE, SECOND
from minutero.domain.occurrence import Occurrence
from minutero.domain.task import (
    Place,
    State,
    Task,
    delay_seconds,
    is_late_minute,
    is_near,
    place_of,
)

LONGEST = 900 * SECOND


@given(st.integers(0, 10**13), st.integers(-(10**9), LONGEST))
def test_a_message_is_never_early_and_never_a_second_late(now, ahead):
    delay = delay_seconds(now + ahead, now)
    assert delay * SECOND >= ahead
    assert delay * SECOND < max(0, ahead) + SECOND


@given(st.integers(0, 10**13), st.integers(LONGEST, 10**12))
def test_no_delay_is_longer_than_sqs_takes(now, ahead):
    assert delay_seconds(now + ahead, now) == 900


@pytest.mark.parametrize(
    ("ahead", "delay"),
    [(-1, 0), (0, 0), (1, 1), (999, 1), (1000, 1), (1001, 2), (899_001, 900), (900_001, 900)],
)
def test_a_delay_is_rounded_up(ahead, delay):
    assert delay_seconds(NOW + ahead, NOW) == delay


def test_a_task_is_near_up_to_the_look_ahead():
    assert is_near(NOW - 1, NOW, 3 * MINUTE)
    assert is_near(NOW + 3 * MINUTE, NOW, 3 * MINUTE)
    assert not is_near(NOW + 3 * MINUTE + 1, NOW, 3 * MINUTE)


def test_a_bucket_may_be_settled_once_its_minute_and_the_grace_are_over():
    grace = 5 * MINUTE
    assert not is_late_minute(NOW, NOW + 6 * MINUTE - 1, grace)
    assert is_late_minute(NOW, NOW + 6 * MINUTE, grace)


def test_a_task_without_an_expiry_never_expires():
    assert make_task().expires_at is None
    assert make_task(expires_after_seconds=600).expires_at == NOW + 600 * SECOND


def test_a_pointer_carries_no_payload():
    task = make_task(payload='"secret"', large=True, tenant="acme")
    assert "secret" not in repr(task.pointer)
    assert (task.pointer.due, task.pointer.tenant, task.pointer.large) == (NOW, "acme", True)
    assert task.pointer.run_id == task.run_id == f"{task.task_id}.0"


def test_a_claim_changes_nothing_but_the_state():
    task = make_task(
        payload="1",
        large=True,
        tenant="acme",
        key="k",
        max_attempts=3,
        expires_after_seconds=7,
        moved_to=Place("elsewhere", "00#x#0001"),
        attempts_before=2,
        occurrence=Occurrence("nightly", 1, NOW),
    )
    unset = {field.name for field in fields(Task) if getattr(task, field.name) == field.default}
    claim = {"state": State.CLAIMED, "claim_id": "abc", "claimed_at": NOW + 1}

    assert unset == set(claim), "give it a value here, and carry it over in `Task.claimed`"
    assert task.claimed("abc", NOW + 1) == replace(task, **claim)


def test_a_moved_task_is_scheduled_anew_under_its_next_run_number():
    moved = make_task(payload="1", key="k").claimed("abc", NOW).moved(NOW + DAY, NOW, 30 * DAY)
    assert (moved.run_no, moved.run_at, moved.state) == (1, NOW + DAY, State.SCHEDULED)
    assert (moved.claim_id, moved.claimed_at, moved.moved_to) == ("", None, None)
    assert moved.place == place_of(moved.task_id, 1, NOW + DAY)
    assert moved.keep_until == (NOW + 31 * DAY) // SECOND
    assert (moved.payload, moved.key) == ("1", "k")


def test_a_task_moved_into_the_past_is_put_at_the_writers_now():
    """Nothing is ever put behind a watermark."""
    moved = make_task().moved(NOW - DAY, NOW + 90 * SECOND, 30 * DAY)
    assert moved.place == place_of(moved.task_id, 1, NOW + 90 * SECOND)
