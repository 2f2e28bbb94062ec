import json
from types import SimpleNamespace

import pytest

from minutero import jobs


def kept(answer):
    return [item["itemIdentifier"] for item in answer["batchItemFailures"]]


def test_a_message_runs_its_task_and_is_acknowledged(worker, http, messages, batch):
    _, task = http("POST", "/tasks", {"job": "echo", "payload": {"a": 1}})
    assert kept(worker(batch(messages()))) == []
    _, told = http("GET", f"/tasks/{task['task_id']}")
    assert told["status"] == "succeeded"
    assert told["result"] == {"a": 1}
    assert told["attempts"] == 1
    assert told["lateness_ms"] >= 0
    assert all(told["timeline"].values())


def test_a_large_payload_reaches_the_job(worker, http, messages, batch):
    _, task = http("POST", "/tasks", {"job": "echo", "payload": "x" * 5000})
    worker(batch(messages()))
    assert http("GET", f"/tasks/{task['task_id']}")[1]["result"] == "x" * 5000


def test_the_same_message_twice_in_a_batch_runs_once(worker, http, messages, batch, register):
    runs = []
    register("count", lambda payload, run: runs.append(run.task_id))
    _, task = http("POST", "/tasks", {"job": "count"})
    (body,) = messages()
    assert kept(worker(batch([body, body]))) == []
    assert kept(worker(batch([body]))) == []
    assert runs == [task["task_id"]]
    assert http("GET", f"/tasks/{task['task_id']}")[1]["attempts"] == 1


def test_a_failing_task_spoils_no_other_of_its_batch_and_comes_again(
    worker, http, messages, batch, register
):
    def broken(payload, run):
        raise ValueError("no such wallet")

    register("broken", broken)
    failing = http("POST", "/tasks", {"job": "broken"})[1]["task_id"]
    fine = http("POST", "/tasks", {"job": "echo"})[1]["task_id"]
    assert kept(worker(batch(messages()))) == []
    told = http("GET", f"/tasks/{failing}")[1]
    assert told["status"] == "retrying"
    assert "no such wallet" in told["history"][0]["error"]
    assert http("GET", f"/tasks/{fine}")[1]["status"] == "succeeded"


def test_what_could_not_be_run_is_kept_and_the_rest_acknowledged(
    worker, worker_app, http, messages, batch, monkeypatch
):
    from minutero.errors import Unavailable

    for _ in range(3):
        http("POST", "/tasks", {"job": "echo"})
    bodies = messages()
    real = worker_app.wiring.worker(worker_app.registry)

    def run(body, tasks, deadline):
        if body == bodies[1]:
            raise Unavailable("throttled")
        return real.messages.run(body, tasks, deadline)

    faulty = SimpleNamespace(read=real.messages.read, run=run)
    monkeypatch.setattr(
        worker_app.wiring,
        "worker",
        lambda _: SimpleNamespace(messages=faulty, clock=real.clock, announce=real.announce),
    )
    assert kept(worker(batch(bodies))) == ["message-1"]


def test_when_all_of_a_batch_fail_all_are_kept_and_the_function_does_not_fail(
    worker, worker_app, http, messages, batch, monkeypatch
):
    from minutero.errors import Unavailable

    http("POST", "/tasks", {"job": "echo"})
    real = worker_app.wiring.worker(worker_app.registry)

    def run(*_):
        raise Unavailable("throttled")

    faulty = SimpleNamespace(read=real.messages.read, run=run)
    monkeypatch.setattr(
        worker_app.wiring,
        "worker",
        lambda _: SimpleNamespace(messages=faulty, clock=real.clock, announce=real.announce),
    )
    assert kept(worker(batch(messages()))) == ["message-0"]


@pytest.mark.parametrize("body", ["", "{}", "null", "not json", '{"v": 99}', '"é"'])
def test_a_message_that_is_none_of_ours_is_dropped_and_stops_nobody(
    worker, http, messages, batch, body
):
    _, task = http("POST", "/tasks", {"job": "echo"})
    assert kept(worker(batch([body, *messages()]))) == []
    assert http("GET", f"/tasks/{task['task_id']}")[1]["status"] == "succeeded"


def test_a_message_that_comes_early_is_sent_again_and_does_not_run(worker, http, messages, batch):
    _, task = http("POST", "/tasks", {"job": "echo", "delay_seconds": 100})
    (sent,) = waiting(messages)
    assert kept(worker(batch([sent]))) == []
    assert http("GET", f"/tasks/{task['task_id']}")[1]["status"] == "claimed"


def waiting(messages):
    """moto holds a delayed message back; the queue's own list has it."""
    from moto.backends import get_backend

    (queue,) = [
        queue
        for queue in get_backend("sqs")["123456789012"]["us-east-1"].queues.values()
        if queue.name == "tasks"
    ]
    return [message.body for message in queue._messages]


def test_the_event_of_events_is_read_as_sqs_sends_it(worker, event):
    assert kept(worker(event("sqs_tasks"))) == []


def test_announcing_tells_the_names_of_the_jobs_and_stores_them(worker, aws):
    assert worker({"minutero": "announce_jobs"}) == {"jobs": ["echo"]}
    stored = aws.dynamodb.get_item(
        TableName="Tasks", Key={"bucket": {"S": "settings"}, "sk": {"S": "jobs"}}
    )
    assert "echo" in json.dumps(stored["Item"])


def test_a_job_module_that_cannot_be_imported_is_left_out(
    worker_app, monkeypatch, tmp_path, caplog
):
    folder = tmp_path / "worker"
    (folder / "jobs").mkdir(parents=True)
    (folder / "jobs" / "__init__.py").write_text("")
    (folder / "jobs" / "broken.py").write_text("import no_such_module\n")
    (folder / "jobs" / "fine.py").write_text(
        "from minutero import job\n\n@job('fine')\ndef fine(payload, run):\n    return 1\n"
    )
    monkeypatch.setattr(worker_app, "__file__", str(folder / "app.py"))
    monkeypatch.syspath_prepend(folder)
    try:
        assert "fine" in worker_app.load_jobs()
        assert "broken" not in worker_app.load_jobs()
        assert "broken.py cannot be imported" in caplog.text
    finally:
        jobs.registry._jobs.pop("fine", None)
