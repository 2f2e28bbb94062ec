"""Lists over HTTP: what is on them, in which order, and how they go on."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest
import tzdata

pytestmark = pytest.mark.usefixtures("deployed")

BASE = datetime.now(UTC).replace(second=0, microsecond=0) + timedelta(hours=2)


def at(seconds):
    moment = BASE + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.fixture
def add(http):
    def call(seconds, **more):
        status, told = http("POST", "/tasks", {"job": "echo", "run_at": at(seconds), **more})
        assert status == 201
        return told["task_id"]

    return call


@pytest.fixture
def listed(http):
    """One page: the query's answer, or its error."""

    def call(path="/tasks", **query):
        return http("GET", f"{path}?{urlencode({name.strip('_'): v for name, v in query.items()})}")

    return call


def pages(listed, **query):
    """All pages, as lists of task ids."""
    found, token = [], None
    while True:
        more = {} if token is None else {"next_token": token}
        status, told = listed(**query, **more)
        assert status == 200
        found.append([task["task_id"] for task in told["tasks"]])
        token = told["next_token"]
        if token is None:
            return found


def test_a_list_holds_the_tasks_of_its_range_in_due_order(add, listed):
    late, early, middle = add(95.5), add(3), add(61)
    add(180)
    add(-1)
    status, told = listed(from_=at(0), to=at(180))
    assert status == 200
    assert [task["task_id"] for task in told["tasks"]] == [early, middle, late]
    assert told["next_token"] is None
    assert {task["status"] for task in told["tasks"]} == {"scheduled"}


def test_the_start_belongs_to_the_range_and_the_end_does_not(add, listed):
    first = add(0.25)
    add(10.25)
    assert pages(listed, from_=at(0.25), to=at(10.25)) == [[first]]


def test_pages_hold_each_task_once_and_in_order(add, listed):
    ids = [add(seconds) for seconds in (0, 1, 1, 1, 2, 59, 60, 60, 61, 125)]
    found = pages(listed, from_=at(0), to=at(300), limit=3)
    assert max(map(len, found)) == 3
    together = [task_id for page in found for task_id in page]
    assert len(together) == len(ids)
    assert set(together) == set(ids)
    assert together[0] == ids[0]
    assert together[-1] == ids[-1]


def test_a_long_empty_range_is_walked_in_empty_pages_that_go_on(add, listed):
    far = add(5 * 3600)
    found = pages(listed, from_=at(0), to=at(6 * 3600))
    assert len(found) > 1
    assert found[0] == []
    assert [task_id for page in found for task_id in page] == [far]


def test_a_status_filters_and_so_does_a_job(add, listed, http, register):
    register("other", lambda payload, run: None)
    kept, cancelled, other = add(1), add(2), add(3, job="other")
    assert http("DELETE", f"/tasks/{cancelled}")[0] == 200
    query = {"from_": at(0), "to": at(60)}
    assert pages(listed, **query, status="scheduled") == [[kept, other]]
    assert pages(listed, **query, status="cancelled") == [[cancelled]]
    assert pages(listed, **query, job="other") == [[other]]
    assert pages(listed, **query, job="other", status="cancelled") == [[]]


def test_a_moved_task_stands_once_at_its_new_time(add, listed, http):
    moved = add(10)
    assert http("PATCH", f"/tasks/{moved}", {"run_at": at(70)})[0] == 200
    assert pages(listed, from_=at(0), to=at(60)) == [[]]
    assert pages(listed, from_=at(60), to=at(120)) == [[moved]]


def test_a_long_payload_is_left_out_of_a_list_and_said_to_be(add, listed):
    add(1, payload="x" * 5_000)
    add(2, payload="short")
    _, told = listed(from_=at(0), to=at(60))
    assert [task["payload"] for task in told["tasks"]] == [None, "short"]
    assert [task.get("payload_omitted") for task in told["tasks"]] == [True, None]


def test_a_key_gives_its_one_task(add, listed):
    mine, theirs = add(1, key="k"), add(2, key="k", tenant="acme")
    assert listed(key="k")[1]["task_id"] == mine
    assert listed(key="k", tenant="acme")[1]["task_id"] == theirs
    status, told = listed(key="another")
    assert (status, told["error"]["code"]) == (404, "not_found")


@pytest.mark.parametrize(
    ("query", "code", "field"),
    [
        ({}, "invalid_from", "from"),
        ({"from_": at(0)}, "invalid_to", "to"),
        ({"to": at(0)}, "invalid_from", "from"),
        ({"from_": at(60), "to": at(0)}, "invalid_to", "to"),
        ({"from_": at(0), "to": at(0)}, "invalid_to", "to"),
        ({"from_": at(0), "to": at(24 * 3600 + 1)}, "invalid_to", "to"),
        ({"from_": "yesterday", "to": at(0)}, "invalid_from", "from"),
        ({"from_": at(0), "to": at(1), "limit": "0"}, "invalid_limit", "limit"),
        ({"from_": at(0), "to": at(1), "limit": "501"}, "invalid_limit", "limit"),
        ({"from_": at(0), "to": at(1), "limit": "ten"}, "invalid_limit", "limit"),
        ({"from_": at(0), "to": at(1), "status": "lost"}, "invalid_status", "status"),
        ({"from_": at(0), "to": at(1), "job": "a b"}, "invalid_job", "job"),
        ({"from_": at(0), "to": at(1), "statuss": "dead"}, "unknown_parameter", "statuss"),
        ({"from_": at(0), "to": at(1), "tenant": "acme"}, "invalid_tenant", "tenant"),
        ({"key": "k", "from_": at(0)}, "invalid_from", "from"),
        ({"key": ""}, "invalid_key", "key"),
    ],
)
def test_a_query_that_makes_no_sense_is_refused(listed, query, code, field):
    status, told = listed(**query)
    assert status == 400
    assert told["error"]["code"] == code
    assert told["error"]["field"] == field


@pytest.fixture
def token(add, listed):
    for seconds in (1, 2, 3):
        add(seconds)
    return listed(from_=at(0), to=at(60), limit=1)[1]["next_token"]


def test_a_token_goes_on_under_any_limit_but_for_its_own_query_alone(token, listed):
    query = {"from_": at(0), "to": at(60), "next_token": token}
    assert len(listed(**query, limit=2)[1]["tasks"]) == 2
    others = ({**query, "to": at(61)}, {**query, "status": "dead"}, {**query, "job": "echo"})
    for other in others:
        status, told = listed(**other)
        assert (status, told["error"]["code"]) == (400, "invalid_next_token")
    status, told = listed("/dead", next_token=token)
    assert (status, told["error"]["code"]) == (400, "invalid_next_token")


def test_a_token_changed_in_any_one_character_is_refused(token, listed):
    query = {"from_": at(0), "to": at(60)}
    for place, found in enumerate(token):
        other = "A" if found != "A" else "B"
        changed = token[:place] + other + token[place + 1 :]
        status, told = listed(**query, next_token=changed)
        assert (status, told["error"]["code"]) == (400, "invalid_next_token")


@pytest.mark.parametrize("made_up", ["", "AAAA", "A" * 5_000, "=", "é", "null", "a.b"])
def test_a_token_that_was_never_given_is_refused(listed, made_up):
    status, told = listed(from_=at(0), to=at(60), next_token=made_up)
    assert (status, told["error"]["code"]) == (400, "invalid_next_token")
    assert told["error"]["field"] == "next_token"


def test_the_numbers_tell_of_queues_watermark_and_backlog(add, listed, http, dispatcher, event):
    add(1)
    http("POST", "/tasks", {"job": "echo"})
    status, told = listed("/stats", from_=at(0), to=at(60))
    assert status == 200
    assert told["shards"] == 2
    assert told["queue"]["ready"] == 1
    assert told["tzdata"] == tzdata.IANA_VERSION
    assert told["watermark"] == {"oldest": None, "lag_seconds": None}
    assert told["backlog"]["complete"]
    assert told["backlog"]["counts"]["scheduled"] == 1
    assert sum(told["backlog"]["counts"].values()) == 1
    dispatcher(event("eventbridge_tick"))
    _, told = listed("/stats")
    assert told["watermark"]["lag_seconds"] > 0
    assert told["backlog"]["counts"]["claimed"] == 1
