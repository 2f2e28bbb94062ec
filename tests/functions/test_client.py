"""The Python client on moto: the same tasks, rules and shapes as over HTTP."""

from datetime import UTC, datetime, timedelta

import pytest

import minutero


@pytest.fixture
def client(deployed):
    return minutero.Client.from_environment()


def test_a_task_added_by_the_client_is_the_one_told_over_http(client, http):
    added = client.add_task("echo", {"a": (1, 2)}, tenant="acme", max_attempts=3)
    status, told = http("GET", f"/tasks/{added['task_id']}")
    assert status == 200
    assert told == client.get_task(added["task_id"])
    assert {name: told[name] for name in added if name != "status"} == {
        name: added[name] for name in added if name != "status"
    }
    assert told["payload"] == {"a": [1, 2]}


def test_its_answer_has_the_shape_of_http(client, http):
    _, over_http = http("POST", "/tasks", {"job": "echo"})
    assert client.add_task("echo").keys() == over_http.keys()


def test_a_key_used_over_http_is_the_same_task_here(client, http):
    body = {"job": "echo", "key": "k", "payload": {"b": 1, "a": [2]}, "delay_seconds": 3600}
    _, over_http = http("POST", "/tasks", body)
    task = client.add_task("echo", {"a": (2,), "b": 1}, key="k", delay_seconds=3600)
    assert task["task_id"] == over_http["task_id"]


def test_a_key_with_another_task_is_a_conflict(client):
    first = client.add_task("echo", 1, key="k")
    with pytest.raises(minutero.KeyConflict) as caught:
        client.add_task("echo", 2, key="k")
    assert caught.value.task_id == first["task_id"]


def test_run_at_may_be_a_datetime_of_any_zone_or_text(client):
    at = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=9)
    elsewhere = at.astimezone(datetime.now().astimezone().tzinfo)
    told = [
        client.add_task("echo", run_at=when)["run_at"] for when in (at, elsewhere, f"{at:%FT%TZ}")
    ]
    assert told == [f"{at:%FT%TZ}"] * 3


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"job": "a b"}, "job"),
        ({"job": 5}, "job"),
        ({"run_at": datetime(2026, 12, 1, 9)}, "run_at"),  # noqa: DTZ001  # that is the point
        ({"run_at": "tomorrow"}, "run_at"),
        ({"run_at": 5}, "run_at"),
        ({"delay_seconds": -1}, "delay_seconds"),
        ({"key": ""}, "key"),
        ({"max_attempts": 0}, "max_attempts"),
        ({"max_attempts": "3"}, "max_attempts"),
        ({"expires_after_seconds": 1.5}, "expires_after_seconds"),
        ({"payload": float("nan")}, "payload"),
        ({"payload": object()}, "payload"),
        ({"payload": "\ud800"}, "payload"),
    ],
)
def test_what_http_refuses_the_client_refuses_by_the_same_name(client, options, field):
    with pytest.raises(minutero.InvalidInput) as caught:
        client.add_task(**{"job": "echo", **options})
    assert caught.value.field == field
    assert isinstance(caught.value, ValueError)


def test_a_job_that_is_not_deployed_is_named(client):
    with pytest.raises(minutero.UnknownJob, match="echo"):
        client.add_task("ecko")


def test_an_id_of_no_task_is_not_found(client):
    with pytest.raises(minutero.NotFound):
        client.get_task("nosuchtask")


def test_missing_variables_are_named():
    with pytest.raises(minutero.SettingsError, match="MINUTERO_RUNS_TABLE"):
        minutero.Client.from_environment({})


def test_each_client_has_the_credentials_the_environment_has_when_it_is_made(cloud, monkeypatch):
    """A process that changes its role, or a test that changes its keys, makes a new client."""
    from minutero import wiring

    keys = []

    def reads_its_keys(settings, session, **options):
        keys.append(session.get_credentials().access_key)

    monkeypatch.setattr(wiring, "api_parts", reads_its_keys)
    for key in ("first", "second"):
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", key)
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
        minutero.Client.from_environment()
    assert keys == ["first", "second"]
