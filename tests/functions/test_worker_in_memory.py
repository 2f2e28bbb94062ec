"""The worker's own function over the deployment in memory, fed the events that it makes."""

import pytest

from minutero import wiring
from minutero.testing import MinuteroApp, sqs_event


@pytest.fixture
def app(monkeypatch, worker_app):
    worker_app.load_jobs()
    with MinuteroApp() as app:
        monkeypatch.setattr(wiring, "worker", app.worker)
        yield app


def test_it_runs_what_is_due_and_acknowledges_it(app, worker_app, context):
    task = app.add_task("echo", {"a": 1})
    answer = worker_app.handler(app.next_event(), context())
    assert answer == {"batchItemFailures": []}
    assert app.get_task(task["task_id"])["result"] == {"a": 1}
    assert app.next_event() == {"Records": []}


def test_a_message_that_is_none_is_dropped(app, worker_app, context):
    answer = worker_app.handler(sqs_event(["no message of ours"]), context())
    assert answer == {"batchItemFailures": []}


def test_an_event_takes_as_many_messages_as_it_may(app):
    for _ in range(12):
        app.add_task("echo")
    assert [len(app.next_event()["Records"]) for _ in range(2)] == [10, 2]


def test_an_event_has_the_shape_of_the_one_of_the_repository(event):
    real = event("sqs_tasks")
    (made,) = sqs_event([real["Records"][0]["body"]])["Records"]
    assert made.keys() == real["Records"][0].keys()
    assert made["attributes"].keys() == real["Records"][0]["attributes"].keys()
    assert made["md5OfBody"] == real["Records"][0]["md5OfBody"]
