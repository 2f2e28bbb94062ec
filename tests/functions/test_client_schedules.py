"""The Python client's calls about schedules: the same answers and errors as over HTTP."""

from datetime import UTC, datetime, timedelta, timezone

import pytest

import minutero

SOON = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(hours=2)
NAIVE = datetime(2030, 1, 1)  # noqa: DTZ001  # what is to be refused


@pytest.fixture
def client(deployed):
    return minutero.Client.from_environment()


def test_a_schedule_put_by_the_client_is_the_one_told_over_http(client, http):
    made = client.put_schedule(
        "nightly",
        "echo",
        "cron(30 2 * * ? *)",
        {"a": (1, 2)},
        timezone="America/New_York",
        start_at=SOON.astimezone(timezone(timedelta(hours=5))),
        misfire={"policy": "skip"},
        tenant="acme",
    )
    assert (made["changed"], len(made["warnings"])) == (True, 1)
    assert (made["payload"], made["start_at"]) == ({"a": [1, 2]}, f"{SOON:%FT%TZ}")
    told = client.get_schedule("nightly")
    assert http("GET", "/schedules/nightly") == (200, told)
    assert {**made, **told} == made


def test_what_was_put_over_http_is_unchanged_when_it_is_put_here(client, http):
    http("PUT", "/schedules/nightly", {"job": "echo", "expression": "rate(1 day)"})
    assert not client.put_schedule("nightly", "echo", "rate(1 day)")["changed"]
    assert client.put_schedule("nightly", "echo", "rate(2 days)")["version"] == 2


def test_all_schedules_are_listed(client):
    made = {f"schedule-{number}" for number in range(5)}
    for name in made:
        client.put_schedule(name, "echo", "rate(1 day)", {"a": 1})
    listed = list(client.list_schedules())
    assert {one["name"] for one in listed} == made
    assert "payload" not in listed[0]


def test_a_list_goes_on_behind_its_first_page(client, monkeypatch):
    monkeypatch.setattr("minutero.client.schedules.PAGE", 2)
    for number in range(5):
        client.put_schedule(f"schedule-{number}", "echo", "rate(1 day)")
    assert len({one["name"] for one in client.list_schedules()}) == 5


def test_a_schedule_is_paused_run_resumed_and_deleted(client):
    client.put_schedule("nightly", "echo", "rate(1 day)")
    assert client.pause_schedule("nightly", "holidays")["paused_reason"] == "holidays"
    assert client.pause_schedule("nightly")["paused_reason"] == "holidays"
    assert client.run_schedule("nightly")["trigger"] == "manual"
    assert client.schedule_next("nightly", 2)["paused"]
    assert client.resume_schedule("nightly", backfill=True)["enabled"]
    assert client.delete_schedule("nightly")["name"] == "nightly"
    for call in (
        client.get_schedule,
        client.delete_schedule,
        client.pause_schedule,
        client.resume_schedule,
        client.run_schedule,
        client.schedule_next,
        client.explain_schedule,
    ):
        with pytest.raises(minutero.NotFound):
            call("nightly")


def test_its_times_are_those_of_http(client, http):
    client.put_schedule("nightly", "echo", "cron(0 18 ? * FRI *)")
    assert client.schedule_next("nightly") == http("GET", "/schedules/nightly/next")[1]
    start, end = SOON, SOON + timedelta(days=7)
    told = client.explain_schedule("nightly", start, end)
    assert [one["what"] for one in told["times"]] == ["pending"]


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"name": "a b"}, "name"),
        ({"name": ""}, "name"),
        ({"name": 5}, "name"),
        ({"name": None}, "name"),
        ({"job": "a b"}, "job"),
        ({"expression": "0 12 * * 1"}, "expression"),
        ({"expression": 5}, "expression"),
        ({"timezone": "Mexico"}, "timezone"),
        ({"timezone": 5}, "timezone"),
        ({"payload": float("nan")}, "payload"),
        ({"payload": {1: "a", "1": "b"}}, "payload"),
        ({"payload": object()}, "payload"),
        ({"payload": 10**5_000}, "payload"),
        ({"start_at": NAIVE}, "start_at"),
        ({"start_at": 1_793_511_000_000}, "start_at"),
        ({"end_at": "tomorrow"}, "end_at"),
        ({"jitter_seconds": True}, "jitter_seconds"),
        ({"jitter_seconds": 1.0}, "jitter_seconds"),
        ({"on_gap": "both"}, "on_gap"),
        ({"on_overlap": 5}, "on_overlap"),
        ({"misfire": "once"}, "misfire"),
        ({"misfire": {"policy": "first"}}, "misfire.policy"),
        ({"misfire": {"grace_seconds": timedelta(1)}}, "misfire.grace_seconds"),
        ({"overlap": "never"}, "overlap"),
        ({"enabled": 1}, "enabled"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"tenant": "a b"}, "tenant"),
    ],
)
def test_what_http_refuses_the_client_refuses_by_the_same_name(client, options, field):
    with pytest.raises(minutero.InvalidInput) as refused:
        client.put_schedule(
            **{"name": "nightly", "job": "echo", "expression": "rate(1 day)", **options}
        )
    assert refused.value.field == field
    assert list(client.list_schedules()) == []


def test_a_call_that_makes_no_sense_is_refused_by_name(client):
    client.put_schedule("nightly", "echo", "rate(1 day)")
    for call, field in [
        (lambda: client.pause_schedule("nightly", 5), "reason"),
        (lambda: client.pause_schedule("nightly", "a\nb"), "reason"),
        (lambda: client.schedule_next("nightly", 0), "n"),
        (lambda: client.schedule_next("nightly", True), "n"),
        (lambda: client.explain_schedule("nightly", NAIVE), "from"),
        (lambda: client.explain_schedule("nightly", 5), "from"),
        (lambda: client.explain_schedule("nightly", SOON, SOON), "to"),
        (lambda: client.get_schedule("a/b"), "name"),
        (lambda: client.delete_schedule(None), "name"),
    ]:
        with pytest.raises(minutero.InvalidInput) as refused:
            call()
        assert refused.value.field == field


def test_a_job_that_is_not_deployed_and_a_rule_that_never_fires_are_told_apart(client):
    with pytest.raises(minutero.UnknownJob, match="echo"):
        client.put_schedule("nightly", "ecko", "rate(1 day)")
    with pytest.raises(minutero.InvalidSchedule, match="never fires"):
        client.put_schedule("nightly", "echo", "cron(0 0 30 2 ? *)")
