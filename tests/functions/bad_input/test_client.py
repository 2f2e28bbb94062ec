"""What only the Python client can be given."""

import math
from datetime import datetime, timedelta, timezone

import pytest
from bad_values import FIELDS, LATER, SOON, TIMES

import minutero

NO_JSON = {
    "NaN": math.nan,
    "infinity": [math.inf],
    "a lone surrogate": "\ud800",
    "one in a name": {"\udfff": 1},
    "a set": {1, 2},
    "bytes": b"x",
    "an object": object(),
    "a tuple as a name": {(1,): 2},
    "an integer without end": 10**5000,
    "one as a name": {10**5000: 1},
    "a number and its text": {1: "a", "1": "b"},
    "None and its text": {None: 1, "null": 2},
    "True and its text": {"a": [{True: 1, "true": 2}]},
}


def test_a_payload_that_json_cannot_say_is_refused(client, unchanged):
    for name, payload in NO_JSON.items():
        with pytest.raises(minutero.InvalidInput) as refused:
            client.add_task("echo", payload)
        assert refused.value.field == "payload", name
    assert unchanged()


def test_a_payload_within_itself_is_refused(client, unchanged):
    payload = []
    payload.append(payload)
    with pytest.raises(minutero.InvalidInput, match="32 levels"):
        client.add_task("echo", payload)
    assert unchanged()


@pytest.mark.parametrize("hours", [-23, 0, 23])
def test_the_ends_of_the_calendar_are_past_or_too_far_ahead(client, hours):
    zone = timezone(timedelta(hours=hours))
    first = datetime(1, 1, 1, 0, 30, tzinfo=zone)
    assert client.add_task("echo", run_at=first)["run_at"] > "2026"
    with pytest.raises(minutero.InvalidInput, match="10 years"):
        client.add_task("echo", run_at=datetime(9999, 12, 31, 23, 59, 59, 999_999, zone))


NAIVE = datetime(2030, 1, 1)  # noqa: DTZ001 - that is the point


def refused(call, *args, **more):
    with pytest.raises(minutero.InvalidInput) as error:
        call(*args, **more)
    return error.value.field


def test_a_bad_time_is_refused_by_name(client, task_id, unchanged):
    for value in [*TIMES, NAIVE, 5, 1_793_511_000_000, True, []]:
        assert refused(client.reschedule_task, task_id, run_at=value) == "run_at", value
        assert refused(client.list_tasks, value, LATER) == "from", value
        assert refused(client.list_tasks, SOON, value) == "to", value
        assert refused(client.list_dead, start=value) == "from", value
        assert refused(client.list_dead, end=value) == "to", value
        assert refused(client.redrive_dead, start=value) == "from", value
        assert refused(client.stats, value, LATER) == "from", value
        assert refused(client.stats, SOON, value) == "to", value
    assert unchanged()


def test_a_bad_delay_is_refused_by_name(client, task_id, unchanged):
    for value in FIELDS["delay_seconds"]:
        assert refused(client.reschedule_task, task_id, delay_seconds=value) == "delay_seconds"
    assert refused(client.reschedule_task, task_id) == "run_at"
    assert refused(client.reschedule_task, task_id, run_at=SOON, delay_seconds=1) == "run_at"
    assert unchanged()


def test_a_bad_name_is_refused_by_its_field(client):
    for value in FIELDS["job"]:
        assert refused(client.list_tasks, SOON, LATER, job=value) == "job", value
        assert refused(client.list_dead, job=value) == "job", value
        assert refused(client.redrive_dead, job=value) == "job", value
    for value in FIELDS["key"]:
        assert refused(client.find_task, value) == "key", value
    for value in FIELDS["tenant"]:
        assert refused(client.find_task, "k", tenant=value) == "tenant", value
    for value in ["", "lost", "Dead", 5, True]:
        assert refused(client.list_tasks, SOON, LATER, status=value) == "status", value


def test_what_is_no_id_of_a_task_is_not_found(client, unchanged):
    calls = [client.get_task, client.cancel_task, client.run_task, client.redrive_task]
    calls += [client.get_dead, client.discard_dead]
    for call in calls:
        for value in ["", "x", "1" + "A" * 24, "x" * 5_000, "\x00", "\ud800", "1" + "+" * 24]:
            with pytest.raises(minutero.NotFound):
                call(value)
    assert unchanged()
