import json
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from threading import Thread
from types import SimpleNamespace

import pytest

from minutero import jobs, wiring
from minutero.errors import Unavailable
from minutero.watchdog import watchdog


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
    assert "no such wallet" in told["history"][-1]["error"]
    assert http("GET", f"/tasks/{fine}")[1]["status"] == "succeeded"


def test_what_could_not_be_run_is_kept_and_the_rest_acknowledged(
    worker, http, messages, batch, unavailable
):
    for _ in range(3):
        http("POST", "/tasks", {"job": "echo"})
    bodies = messages()
    unavailable(bodies[1])
    assert kept(worker(batch(bodies))) == ["message-1"]


def test_when_all_of_a_batch_fail_all_are_kept_and_the_function_does_not_fail(
    worker, http, messages, batch, unavailable
):
    http("POST", "/tasks", {"job": "echo"})
    http("POST", "/tasks", {"job": "echo"})
    bodies = messages()
    unavailable(*bodies)
    assert sorted(kept(worker(batch(bodies)))) == ["message-0", "message-1"]


@pytest.fixture
def unavailable(worker_app, monkeypatch):
    """Has the store not answer for these messages."""

    def of(*bodies):
        real = wiring.worker(jobs.registry)

        def run(body, tasks, deadline):
            if body in bodies:
                raise Unavailable("throttled")
            return real.messages.run(body, tasks, deadline)

        faulty = SimpleNamespace(read=real.messages.read, run=run)
        broken = replace(real, messages=faulty)
        monkeypatch.setattr(worker_app.wiring, "worker", lambda _: broken)

    return of


def test_when_the_tasks_of_a_batch_cannot_be_read_the_function_fails_and_nothing_runs(
    worker, worker_app, http, messages, batch, monkeypatch, register
):
    """SQS then keeps the whole batch."""
    runs = []
    register("count", lambda payload, run: runs.append(run.task_id))
    http("POST", "/tasks", {"job": "count"})
    bodies = messages()

    def read(_):
        raise Unavailable("throttled")

    real = wiring.worker(jobs.registry)
    broken = replace(real, messages=SimpleNamespace(read=read))
    monkeypatch.setattr(worker_app.wiring, "worker", lambda _: broken)
    with pytest.raises(Unavailable):
        worker(batch(bodies))
    assert runs == []


# --- suspects, and the end of the process in time


@pytest.fixture
def deliver(aws, event):
    """Takes what waits in the tasks queue as SQS hands it to Lambda: in flight until it is deleted.

    `suspects` are the ids of tasks whose messages are told to come a second time.
    """

    def take(*suspects):
        made = event("sqs_tasks")
        pattern = made["Records"][0]
        found = aws.sqs.receive_message(
            QueueUrl=aws.queues["tasks"], MaxNumberOfMessages=10, VisibilityTimeout=300
        )["Messages"]
        made["Records"] = [
            {
                **pattern,
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": {
                    **pattern["attributes"],
                    "ApproximateReceiveCount": "2"
                    if any(task_id in message["Body"] for task_id in suspects)
                    else "1",
                },
            }
            for message in sorted(found, key=lambda one: one["Body"])
        ]
        return made

    return take


@pytest.fixture
def in_flight(aws):
    """How many messages of the tasks queue are not deleted."""

    def count():
        name = "ApproximateNumberOfMessagesNotVisible"
        answer = aws.sqs.get_queue_attributes(QueueUrl=aws.queues["tasks"], AttributeNames=[name])
        return int(answer["Attributes"][name])

    return count


def test_a_suspect_runs_after_the_others_and_they_are_deleted_first(
    worker, http, deliver, in_flight, register
):
    """A message that ends its process takes nobody along."""
    runs = []
    register("look", lambda payload, run: runs.append((run.task_id, in_flight())))
    ids = sorted(http("POST", "/tasks", {"job": "look"})[1]["task_id"] for _ in range(4))
    suspect, *others = ids
    assert kept(worker(deliver(suspect))) == []
    assert sorted(runs[:3]) == [(task_id, 4) for task_id in others]
    assert runs[3] == (suspect, 1)


def test_each_of_two_suspects_runs_alone(worker, http, deliver, in_flight, register):
    runs = []
    register("look", lambda payload, run: runs.append(in_flight()))
    ids = [http("POST", "/tasks", {"job": "look"})[1]["task_id"] for _ in range(3)]
    worker(deliver(*ids[:2]))
    assert runs == [3, 2, 1]


@pytest.fixture
def time_is_up(worker_app, monkeypatch):
    """Has the watchdog bite now, in a thread of its own as ever. The process it ends does `instead`."""
    bites = []

    def timer(_seconds, bite):
        bites.append(bite)
        return SimpleNamespace(start=lambda: None, cancel=lambda: None)

    def now():
        thread = Thread(target=bites[0])
        thread.start()
        thread.join()

    def instead(end):
        monkeypatch.setattr("minutero.watchdog.Timer", timer)
        monkeypatch.setattr(worker_app, "watchdog", partial(watchdog, end=end))
        return now

    return instead


def test_a_job_over_its_time_out_ends_the_process_with_the_finished_messages_deleted(
    worker, http, deliver, in_flight, register, time_is_up
):
    left = []
    over = time_is_up(lambda: left.append(in_flight()))
    register("endless", lambda payload, run: over())
    register("quick", lambda payload, run: None)
    endless = http("POST", "/tasks", {"job": "endless"})[1]["task_id"]
    for _ in range(3):
        http("POST", "/tasks", {"job": "quick"})
    worker(deliver(endless))
    assert left == [1]


def test_the_time_that_reading_took_is_not_had_twice(
    worker_app, worker, http, messages, batch, monkeypatch, context
):
    """The watchdog bites before Lambda does, however long the store took to answer."""
    limits, left = [], [30_000]

    def read(bodies):
        left[0] = 12_000
        return real.messages.read(bodies)

    @contextmanager
    def noted(seconds, last_words):
        limits.append(seconds)
        yield

    real = wiring.worker(jobs.registry)
    slow = replace(real, messages=SimpleNamespace(read=read, run=real.messages.run))
    http("POST", "/tasks", {"job": "echo"})
    monkeypatch.setattr(worker_app.wiring, "worker", lambda _: slow)
    monkeypatch.setattr(worker_app, "watchdog", noted)
    worker_app.handler(batch(messages()), context(lambda: left[0]))
    assert limits == [11.0]


@pytest.mark.parametrize("body", ["", "{}", "null", "not json", '{"v": 0}', '"é"'])
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
    assert {"aws.call", "echo", "http.post"} <= set(worker({"minutero": "announce_jobs"})["jobs"])
    stored = aws.dynamodb.get_item(
        TableName="Tasks", Key={"bucket": {"S": "settings"}, "sk": {"S": "jobs"}}
    )
    assert "echo" in json.dumps(stored["Item"])


def test_asked_for_its_jobs_it_tells_them_again_when_another_version_has_written_over_them(worker):
    """A process of the version before may begin after one of this version has announced."""
    settings = wiring.worker(jobs.registry).settings
    settings.announce_jobs(frozenset({"a-job-of-before"}))
    told = worker({"minutero": "announce_jobs"})
    assert settings.jobs() == set(told["jobs"])


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
