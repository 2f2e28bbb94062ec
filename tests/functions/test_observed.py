"""What each handler tells of itself: JSON lines that name their call, and its metrics once, at its end."""

import json
import logging
from functools import partial
from threading import Thread
from types import SimpleNamespace

import pytest

from minutero import PermanentFailure, wiring
from minutero.aws import json_lines
from minutero.domain.metrics import Metric
from minutero.errors import Unavailable
from minutero.watchdog import watchdog

REQUEST = "6bc28136-xmpl-4365-b021-0ce6b2e64ab0"


@pytest.fixture
def told(capsys, monkeypatch):
    """What was printed since this was last asked: (log lines, metrics). Every line must be JSON."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "minutero-dev")
    # As on Lambda's root logger, which is pytest's here.
    handler = json_lines._Stdout()
    handler.setFormatter(json_lines.FORMATTER)
    monkeypatch.setattr(logging.getLogger("jobs"), "handlers", [handler])

    def take():
        lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        emf = [line for line in lines if "_aws" in line]
        assert all(line["service"] == "minutero-dev" for line in lines)
        return [line for line in lines if "_aws" not in line], emf

    return take


def fails(payload, run):
    raise ValueError("no such wallet\nERROR forged \x1b[31m")


def the(lines, message):
    """The one line with that message."""
    (line,) = [line for line in lines if line["message"] == message]
    return line


# --- metrics, once a call


def test_the_api_counts_what_it_added_and_refused(worker, http, told):
    told()
    http("POST", "/tasks", {"job": "echo"})
    _, (added,) = told()
    assert (added["Created"], added["Sent"]) == ([1], [1])
    assert added["WriteUnits"][0] > 0
    http("POST", "/tasks", {"job": 17})
    _, (refused,) = told()
    assert refused["Refused"] == [1]
    assert "Created" not in refused


def test_a_batch_of_messages_is_one_line_of_metrics(worker, http, messages, batch, told):
    for _ in range(3):
        http("POST", "/tasks", {"job": "echo"})
    bodies = messages()
    told()
    worker(batch(bodies))
    _, (line,) = told()
    assert (line["Started"], line["Succeeded"]) == ([3], [3])
    assert len(line["LatenessAtStart"]) == 3
    assert line["ReadUnits"][0] > 0


def test_a_tick_and_an_audit_tell_of_themselves(worker, dispatcher, auditor, event, told):
    told()
    dispatcher(event("eventbridge_tick"))
    lines, (line,) = told()
    assert line["Ticks"] == [1]
    assert line["WatermarkLag"][0] >= 0
    tick = the(lines, "tick")
    assert tick["tick_id"] == REQUEST
    assert tick["owner"] == wiring.dispatcher().dispatcher.owner
    auditor(event("eventbridge_audit"))
    _, (line,) = told()
    assert "AuditRepairs" not in line, "there was nothing to repair"


def test_a_call_that_fails_tells_what_it_consumed_all_the_same(dispatcher, monkeypatch, told, aws):
    def consumed_and_failed(*_):
        wiring.METER.add(Metric.READ_UNITS, 4)
        raise Unavailable("throttled")

    failing = SimpleNamespace(clock=wiring.CLOCK, tick=consumed_and_failed)
    monkeypatch.setattr(wiring, "dispatcher", lambda: failing)
    with pytest.raises(Unavailable):
        dispatcher({})
    _, (line,) = told()
    assert line["ReadUnits"] == [4]


def test_the_dead_letter_function_counts_who_died_of_it(
    worker, dead_letter, http, messages, batch, told
):
    http("POST", "/tasks", {"job": "echo"})
    bodies = messages()
    told()
    dead_letter(batch(bodies, "sqs_dead_letters"))
    lines, (line,) = told()
    assert line["Dead"] == [1]
    assert the(lines, "run ended")["ending"] == "dead"


def test_a_process_that_is_ended_tells_its_metrics_first(
    worker_app, worker, http, messages, batch, register, monkeypatch, told
):
    bites, printed = [], []

    def timer(_seconds, bite):
        bites.append(bite)
        return SimpleNamespace(start=lambda: None, cancel=lambda: None)

    def endless(payload, run):
        thread = Thread(target=bites[0])
        thread.start()
        thread.join()

    monkeypatch.setattr("minutero.watchdog.Timer", timer)
    end = partial(watchdog, end=lambda: printed.append(told()))
    monkeypatch.setattr(worker_app, "watchdog", end)
    register("endless", endless)
    _, task = http("POST", "/tasks", {"job": "endless"})
    bodies = messages()
    told()
    worker(batch(bodies))
    ((lines, (line,)),) = printed
    assert line["Started"] == [1]
    assert "Succeeded" not in line
    bitten = the(lines, "a job is over its time-out; the process ends")
    assert bitten["task_id"] == task["task_id"], "the line names the run that took so long"
    assert bitten["request_id"] == REQUEST


# --- log lines


def test_the_lines_of_one_task_can_be_found_by_its_id(
    worker, http, messages, batch, register, told
):
    def chatty(payload, run):
        logging.getLogger("jobs.chatty").info("closing %s", payload)
        raise PermanentFailure("account closed")

    register("chatty", chatty)
    _, task = http("POST", "/tasks", {"job": "chatty", "payload": "the books"})
    http("POST", "/tasks", {"job": "echo"})
    told()
    worker(batch(messages()))
    lines, _ = told()
    ours = [line for line in lines if line.get("task_id") == task["task_id"]]
    assert [line["message"] for line in ours] == ["closing the books", "run ended"]
    assert {line["run_id"] for line in ours} == {task["task_id"] + ".0"}
    job, ended = ours
    assert (job["attempt"], len(job["owner"]), job["name"]) == (1, 16, "jobs.chatty")
    assert (ended["ending"], ended["job"]) == ("dead", "chatty")
    assert ended["request_id"] == REQUEST


def test_a_failed_attempt_is_one_line_whatever_its_error_says(
    worker, http, messages, batch, register, told
):
    register("broken", fails)
    _, task = http("POST", "/tasks", {"job": "broken"})
    told()
    worker(batch(messages()))
    lines, _ = told()
    failed = the(lines, "attempt 1 failed")
    assert failed["task_id"] == task["task_id"]
    assert failed["error"] == "ValueError: no such wallet ERROR forged \x1b[31m"


def test_fields_of_one_call_are_not_in_the_next(worker, http, messages, batch, told):
    http("POST", "/tasks", {"job": "echo"})
    worker(batch(messages()))
    told()
    worker(batch(["none of ours"]))
    lines, _ = told()
    assert lines
    for line in lines:
        assert line["message"] == "message dropped, it is none of ours"
        assert "task_id" not in line
        assert line["request_id"] == REQUEST


SECRET = "hunter2 and the rest of it"


@pytest.fixture
def secret_run(worker, http, messages, batch, register):
    """Runs one task with a payload and a result that nobody should read."""

    def run():
        register("secretive", lambda payload, run: {"result": payload, "own": "swordfish"})
        http("POST", "/tasks", {"job": "secretive", "payload": {"password": SECRET}})
        worker(batch(messages()))

    return run


def test_payloads_and_results_are_not_logged(secret_run, told, monkeypatch):
    monkeypatch.setenv("POWERTOOLS_LOGGER_LOG_EVENT", "true")
    secret_run()
    assert "hunter2" not in str(told())
    assert "swordfish" not in str(told())


def test_payloads_are_logged_when_that_is_switched_on_and_results_never(monkeypatch, told, request):
    monkeypatch.setenv("MINUTERO_LOG_PAYLOADS", "true")
    request.getfixturevalue("secret_run")()
    lines, _ = told()
    assert json.loads(the(lines, "attempt 1 starts")["payload"]) == {"password": SECRET}
    assert "swordfish" not in str(lines)


def test_a_huge_payload_that_is_logged_is_cut(
    monkeypatch, told, http, worker, messages, batch, capsys
):
    monkeypatch.setenv("MINUTERO_LOG_PAYLOADS", "true")
    wiring.settings_here.cache_clear()
    wiring.worker.cache_clear()
    http("POST", "/tasks", {"job": "echo", "payload": "\x1b\n" * 20_000})
    worker(batch(messages()))
    assert max(len(line) for line in capsys.readouterr().out.splitlines()) < 60_000
