"""Batches, cancel, reschedule, run now, and the dead, over HTTP."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

import pytest

from minutero import PermanentFailure

pytestmark = pytest.mark.usefixtures("deployed")


def soon(seconds):
    moment = datetime.now(UTC) + timedelta(seconds=seconds)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.fixture
def add(http):
    def call(**body):
        status, told = http("POST", "/tasks", {"job": "echo", "delay_seconds": 3600, **body})
        assert status == 201
        return told["task_id"]

    return call


@pytest.fixture
def run_what_waits(worker, batch, messages, dead_letter):
    """The worker runs what is in the queue, the dead-letter function lists what it gave up."""

    def run():
        waiting = messages()
        worker(batch(waiting)) if waiting else None
        dead = messages("dead-letters")
        dead_letter(batch(dead, "sqs_dead_letters")) if dead else None

    return run


@pytest.fixture
def dead(add, register, run_what_waits):
    """Dead tasks, as many as asked for."""
    ran = []

    def fails(payload, run):
        ran.append(run.task_id)
        if payload != "mended":
            raise PermanentFailure("no such wallet")

    register("fails", fails)

    def make(count=1):
        ids = [add(job="fails", delay_seconds=0) for _ in range(count)]
        run_what_waits()
        return ids

    make.ran = ran
    return make


# --- batches


def test_a_batch_is_answered_task_by_task_in_order(http):
    bad = {"job": "echo", "run_at": "tomorrow"}
    status, told = http(
        "POST",
        "/tasks/batch",
        {
            "tasks": [
                {"job": "echo", "delay_seconds": 3600},
                bad,
                {"job": "nobody"},
                {"job": "echo", "payload": "x" * 2_000, "delay_seconds": 3600},
                "no object",
                {"job": "echo", "key": "k", "delay_seconds": 3600},
                {"job": "echo", "key": "k", "delay_seconds": 3600},
                {"job": "echo", "key": "k", "delay_seconds": 3601},
            ]
        },
    )
    results = told["results"]
    assert status == 200
    assert [one["status"] for one in results] == [201, 400, 400, 201, 400, 201, 200, 409]
    assert [one.get("error", {}).get("code") for one in results[1:5]] == [
        "invalid_run_at",
        "unknown_job",
        None,
        "invalid_body",
    ]
    assert results[5]["task_id"] == results[6]["task_id"]
    for one in (results[0], results[3], results[5]):
        assert http("GET", f"/tasks/{one['task_id']}")[0] == 200
    assert http("GET", f"/tasks/{results[3]['task_id']}")[1]["payload"] == "x" * 2_000


def test_a_batch_of_many_is_stored_whole(http):
    tasks = [{"job": "echo", "payload": number, "delay_seconds": 7200} for number in range(60)]
    _, told = http("POST", "/tasks/batch", {"tasks": tasks})
    ids = [one["task_id"] for one in told["results"]]
    assert len(set(ids)) == 60
    assert [http("GET", f"/tasks/{task_id}")[1]["payload"] for task_id in ids[::20]] == [0, 20, 40]


@pytest.mark.parametrize("tasks", [[], [{"job": "echo"}] * 501, None, {"job": "echo"}])
def test_a_batch_of_none_or_too_many_stores_nothing(http, aws, tasks):
    status, told = http("POST", "/tasks/batch", {"tasks": tasks})
    assert (status, told["error"]["code"]) == (400, "invalid_tasks")
    stored = aws.dynamodb.scan(TableName="Tasks")["Items"]
    assert [item for item in stored if item["bucket"]["S"] != "settings"] == []


# --- cancel, reschedule, run now


def test_a_cancelled_task_never_runs_and_is_cancelled_again_without_harm(http, add, run_what_waits):
    task_id = add(job="echo", delay_seconds=0)
    for _ in range(2):
        status, told = http("DELETE", f"/tasks/{task_id}")
        assert (status, told["status"]) == (200, "cancelled")
    run_what_waits()
    told = http("GET", f"/tasks/{task_id}")[1]
    assert (told["status"], told["attempts"]) == ("cancelled", 0)


def test_what_is_over_is_neither_cancelled_nor_moved_nor_redriven(http, add, run_what_waits):
    task_id = add(delay_seconds=0)
    run_what_waits()
    assert http("GET", f"/tasks/{task_id}")[1]["status"] == "succeeded"
    for method, path, body in (
        ("DELETE", "", None),
        ("PATCH", "", {"delay_seconds": 5}),
        ("POST", "/run", None),
        ("POST", "/redrive", None),
    ):
        status, told = http(method, f"/tasks/{task_id}{path}", body)
        assert (status, told["error"]["code"]) == (409, "conflict")
    assert http("GET", f"/tasks/{task_id}")[1]["status"] == "succeeded"


def test_a_rescheduled_task_keeps_its_id_and_runs_once_at_its_new_time(http, add, run_what_waits):
    task_id = add()
    wanted = soon(7200)
    status, told = http("PATCH", f"/tasks/{task_id}", {"run_at": wanted})
    assert (status, told["task_id"], told["status"]) == (200, task_id, "scheduled")
    assert told["run_at"] == wanted
    status, told = http("PATCH", f"/tasks/{task_id}", {"delay_seconds": 0})
    assert (status, told["task_id"]) == (200, task_id)
    run_what_waits()
    told = http("GET", f"/tasks/{task_id}")[1]
    assert (told["status"], told["attempts"]) == ("succeeded", 1)


def test_run_now_makes_a_task_due_now(http, add, run_what_waits):
    task_id = add()
    status, told = http("POST", f"/tasks/{task_id}/run")
    assert (status, told["task_id"]) == (202, task_id)
    run_what_waits()
    assert http("GET", f"/tasks/{task_id}")[1]["status"] == "succeeded"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "invalid_run_at"),
        ({"run_at": None}, "invalid_run_at"),
        ({"run_at": "2030-01-01T00:00:00Z", "delay_seconds": 1}, "invalid_run_at"),
        ({"run_at": "2030-01-01T00:00:00"}, "invalid_run_at"),
        ({"run_at": 1893456000000}, "invalid_run_at"),
        ({"run_at": "2099-01-01T00:00:00Z"}, "invalid_run_at"),
        ({"delay_seconds": -1}, "invalid_delay_seconds"),
        ({"delay_seconds": True}, "invalid_delay_seconds"),
        ({"delay_seconds": 1, "job": "echo"}, "unknown_field"),
        ([], "invalid_body"),
        ("2030-01-01T00:00:00Z", "invalid_body"),
    ],
)
def test_a_reschedule_that_makes_no_sense_changes_nothing(http, add, body, code):
    task_id = add()
    before = http("GET", f"/tasks/{task_id}")[1]
    status, told = http("PATCH", f"/tasks/{task_id}", body)
    assert (status, told["error"]["code"]) == (400, code)
    assert http("GET", f"/tasks/{task_id}")[1] == before


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("DELETE", "/tasks/{}"),
        ("PATCH", "/tasks/{}"),
        ("POST", "/tasks/{}/run"),
        ("POST", "/tasks/{}/redrive"),
        ("GET", "/dead/{}"),
        ("DELETE", "/dead/{}"),
    ],
)
@pytest.mark.parametrize("task_id", ["nothing", "1AGkX6bEABZzQ-5v7V8XyZ0123", "1" + "A" * 24])
def test_a_task_that_is_not_there_is_not_found(http, method, path, task_id):
    body = {"delay_seconds": 1} if method == "PATCH" else None
    status, told = http(method, path.format(task_id), body)
    assert (status, told["error"]["code"]) == (404, "not_found")


# --- the dead


def test_the_dead_are_listed_oldest_first_and_shown_with_their_task(http, dead):
    ids = dead(3)
    status, told = http("GET", "/dead")
    assert status == 200
    assert {one["task_id"] for one in told["dead"]} == set(ids)
    assert [one["died_at"] for one in told["dead"]] == sorted(
        one["died_at"] for one in told["dead"]
    )
    assert {(one["job"], one["reason"]) for one in told["dead"]} == {
        ("fails", "PermanentFailure: no such wallet")
    }
    status, told = http("GET", f"/dead/{ids[0]}")
    assert (status, told["task"]["status"]) == (200, "dead")


def test_the_pages_of_the_dead_hold_each_once(http, dead):
    ids, found, query = dead(5), [], {"limit": 2, "job": "fails"}
    while True:
        status, told = http("GET", f"/dead?{urlencode(query)}")
        assert status == 200
        found += [one["task_id"] for one in told["dead"]]
        if told["next_token"] is None:
            break
        query["next_token"] = told["next_token"]
    assert sorted(found) == sorted(ids)


def test_the_dead_are_filtered_by_job_and_time(http, dead):
    dead(1)
    for query in ({"job": "echo"}, {"from": soon(60)}, {"to": soon(-60)}):
        assert http("GET", f"/dead?{urlencode(query)}")[1]["dead"] == []
    query = urlencode({"job": "fails", "from": soon(-60), "to": soon(60)})
    assert len(http("GET", f"/dead?{query}")[1]["dead"]) == 1
    status, told = http("GET", f"/dead?{urlencode({'from': soon(60), 'to': soon(-60)})}")
    assert (status, told["error"]["code"]) == (400, "invalid_to")


def test_a_redriven_task_runs_again_and_is_off_the_list(http, dead, run_what_waits):
    (task_id,) = dead(1)
    status, told = http("POST", f"/tasks/{task_id}/redrive")
    assert (status, told["task_id"]) == (202, task_id)
    assert http("GET", "/dead")[1]["dead"] == []
    run_what_waits()
    assert dead.ran == [task_id, task_id]


def test_a_dry_run_counts_and_a_redrive_runs_all_the_dead_of_a_filter(http, dead, run_what_waits):
    ids = dead(3)
    status, told = http("POST", "/dead/redrive", {"job": "fails", "dry_run": True})
    assert (status, told["matched"], told["redriven"]) == (200, 3, 0)
    assert len(http("GET", "/dead")[1]["dead"]) == 3
    told = http("POST", "/dead/redrive", {"job": "echo"})[1]
    assert (told["matched"], told["redriven"]) == (0, 0)
    told = http("POST", "/dead/redrive", {"job": "fails", "limit": 2})[1]
    assert (told["matched"], told["redriven"], told["failed"]) == (2, 2, [])
    rest = {"job": "fails", "limit": 2, "next_token": told["next_token"]}
    told = http("POST", "/dead/redrive", rest)[1]
    assert (told["redriven"], told["next_token"]) == (1, None)
    run_what_waits()
    assert sorted(dead.ran) == sorted(2 * ids)


def test_a_discarded_task_stays_dead_and_is_off_the_list_for_good(http, dead):
    (task_id,) = dead(1)
    status, told = http("DELETE", f"/dead/{task_id}")
    assert (status, told["task"]["task_id"]) == (200, task_id)
    assert http("GET", "/dead")[1]["dead"] == []
    assert http("GET", f"/dead/{task_id}")[0] == 404
    assert http("DELETE", f"/dead/{task_id}")[0] == 404
    assert http("POST", f"/tasks/{task_id}/redrive")[0] == 409
    assert http("GET", f"/tasks/{task_id}")[1]["status"] == "dead"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"dry_run": "yes"}, "invalid_dry_run"),
        ({"limit": 0}, "invalid_limit"),
        ({"limit": True}, "invalid_limit"),
        ({"from": "yesterday"}, "invalid_from"),
        ({"from": "2026-11-02T00:00:00Z", "to": "2026-11-01T00:00:00Z"}, "invalid_to"),
        ({"next_token": "AAAA"}, "invalid_next_token"),
        ({"tasks": []}, "unknown_field"),
        ([], "invalid_body"),
    ],
)
def test_a_redrive_that_makes_no_sense_redrives_nothing(http, dead, body, code):
    dead(1)
    status, told = http("POST", "/dead/redrive", body)
    assert (status, told["error"]["code"]) == (400, code)
    assert len(http("GET", "/dead")[1]["dead"]) == 1


# --- the API about itself


def test_the_openapi_document_names_every_path_and_how_it_refuses(http):
    status, told = http("GET", "/openapi.json")
    assert status == 200
    assert {
        (path, method) for path, operations in told["paths"].items() for method in operations
    } == {
        ("/tasks", "post"),
        ("/tasks", "get"),
        ("/tasks/batch", "post"),
        ("/tasks/{task_id}", "get"),
        ("/tasks/{task_id}", "delete"),
        ("/tasks/{task_id}", "patch"),
        ("/tasks/{task_id}/run", "post"),
        ("/tasks/{task_id}/redrive", "post"),
        ("/dead", "get"),
        ("/dead/redrive", "post"),
        ("/dead/{task_id}", "get"),
        ("/dead/{task_id}", "delete"),
        ("/jobs", "get"),
        ("/stats", "get"),
        ("/schedules", "get"),
        ("/schedules/{name}", "put"),
        ("/schedules/{name}", "get"),
        ("/schedules/{name}", "delete"),
        ("/schedules/{name}/pause", "post"),
        ("/schedules/{name}/resume", "post"),
        ("/schedules/{name}/run", "post"),
        ("/schedules/{name}/next", "get"),
        ("/schedules/{name}/explain", "get"),
    }
    operations = [one for path in told["paths"].values() for one in path.values()]
    assert all("503" in one["responses"] and "422" not in one["responses"] for one in operations)


def test_the_docs_are_a_page_of_its_own(api_app, event, context):
    request = event("http_get_jobs")
    request |= {"rawPath": "/docs"}
    request["requestContext"]["http"] |= {"path": "/docs"}
    answer = api_app.handler(request, context())
    assert answer["headers"]["Content-Type"].startswith("text/html")
    assert "/tasks/{task_id}" in answer["body"]
    # It loads nothing from elsewhere.
    assert "<script src" not in answer["body"]
    assert "<link" not in answer["body"]


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", "/jobs", "GET"),
        ("POST", "/tasks/abc", "DELETE, GET, PATCH"),
        ("GET", "/tasks/abc/run", "POST"),
        ("DELETE", "/docs", "GET"),
    ],
)
def test_a_path_with_another_method_says_which_it_takes(http, method, path, allowed):
    status, told = http(method, path)
    assert (status, told["error"]["code"]) == (405, "method_not_allowed")
    assert allowed in told["error"]["message"]


def test_a_body_is_json_whatever_its_sender_calls_it(api_app, event, context):
    request = event("http_post_tasks")
    request["headers"]["content-type"] = "application/x-www-form-urlencoded"
    assert api_app.handler(request, context())["statusCode"] == 201
