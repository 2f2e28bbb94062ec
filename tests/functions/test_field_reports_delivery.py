"""What went wrong for others, of messages and log lines. docs/field-reports.md lists the reports."""

import json
import logging
from dataclasses import replace

import pytest

from minutero import jobs, wiring
from minutero.aws import json_lines
from minutero.errors import Unavailable

pytestmark = pytest.mark.usefixtures("deployed")

FORGED = 'x\n{"level":"INFO","message":"claimed"}'
SECRET = "sk-test-123"
TOKEN = "eyJhbGciOi-of-the-sender"


# --- what a consumer answers


class Throttled:
    """Gets no answer from the store for a message that says so."""

    def read(self, bodies):
        return {}

    def run(self, body, tasks, deadline):
        self.message(body)

    def message(self, body):
        if body == "throttled":
            raise Unavailable("throttled")


@pytest.fixture(params=["worker", "dead_letter"])
def consumer(request, monkeypatch):
    """One of the two functions that read a queue."""
    handler = request.getfixturevalue(request.param)
    made = replace(wiring.worker(jobs.registry), messages=Throttled())
    monkeypatch.setattr(wiring, "worker", lambda _: made)
    monkeypatch.setattr(wiring, "dead_letter", Throttled)
    return handler


@pytest.mark.parametrize(
    "bodies",
    [
        ["throttled"],
        ["fine"],
        ["fine", "throttled", "fine"],
        ["throttled", "fine", "throttled"],
        ["throttled"] * 10,
    ],
    ids=lambda bodies: f"{bodies.count('throttled')} of {len(bodies)}",
)
def test_an_answer_names_the_messages_to_keep_and_nothing_else(consumer, batch, bodies):
    """B118, B120: an id that is none keeps them all, and a batch of one is no error of its function."""
    answer = consumer(batch(bodies))
    assert json.loads(json.dumps(answer)) == {
        "batchItemFailures": [
            {"itemIdentifier": f"message-{number}"}
            for number, body in enumerate(bodies)
            if body == "throttled"
        ]
    }


# --- attempts


@pytest.fixture
def failing(register):
    """The attempts of a job that fails each time."""
    attempts = []

    def fails(payload, run):
        attempts.append(run.attempt)
        raise ValueError("no such wallet")

    register("fails", fails)
    return attempts


@pytest.fixture
def received(batch):
    """An event of one message that has been received so many times."""

    def make(body, count):
        event = batch([body])
        event["Records"][0]["attributes"]["ApproximateReceiveCount"] = str(count)
        return event

    return make


@pytest.mark.parametrize("count", [1, 4, 1_000])
def test_attempts_are_counted_by_the_task_and_not_by_the_receives_of_its_message(
    worker, http, messages, received, failing, count
):
    """B116"""
    _, task = http("POST", "/tasks", {"job": "fails", "max_attempts": 3})
    (body,) = messages()
    for attempt in range(3):
        assert messages("dead-letters") == [], attempt
        assert worker(received(body, count))["batchItemFailures"] == []
    assert failing == [1, 2, 3]
    (letter,) = messages("dead-letters")
    assert "no such wallet" in json.loads(letter)["reason"]
    assert http("GET", f"/tasks/{task['task_id']}")[1]["status"] == "dead"


@pytest.fixture
def run_what_waits(worker, batch, messages, dead_letter):
    """The worker runs the one message there is, the dead-letter function lists what it gave up."""

    def run():
        (body,) = messages()
        worker(batch([body]))
        dead_letter(batch(messages("dead-letters"), "sqs_dead_letters"))

    return run


def test_a_task_that_fails_again_after_each_redrive_waits_for_the_next_by_hand(
    http, failing, run_what_waits, messages, dispatcher, auditor, event
):
    """B176"""
    _, task = http("POST", "/tasks", {"job": "fails", "max_attempts": 1})
    for redriven in range(2):
        run_what_waits()
        assert len(failing) == redriven + 1
        (listed,) = http("GET", "/dead")[1]["dead"]
        assert listed["task_id"] == task["task_id"]
        assert http("GET", f"/tasks/{task['task_id']}")[1]["attempts"] == 1
        dispatcher(event("eventbridge_tick"))
        auditor(event("eventbridge_audit"))
        assert messages() == [], "nobody but a hand runs it again"
        assert http("POST", f"/tasks/{task['task_id']}/redrive")[0] == 202


# --- log lines


@pytest.fixture
def printed(capsys, monkeypatch):
    """The lines of the functions and of their jobs, since this was last asked. Each must be JSON."""
    handler = json_lines._Stdout()
    handler.setFormatter(json_lines.FORMATTER)
    monkeypatch.setattr(logging.getLogger("jobs"), "handlers", [handler])
    capsys.readouterr()

    def take():
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return take


def signed(event, token, **body):
    """A request that carries its sender's secrets."""
    request = event("http_post_tasks")
    headers = {"authorization": f"Bearer {token}", "x-api-key": token, "cookie": f"s={token}"}
    request["headers"] |= headers
    request["cookies"] = [f"s={token}"]
    request["body"] = json.dumps({"job": "echo", **body})
    return request


@pytest.fixture
def lines_of(api_app, worker, batch, messages, context, event, printed, monkeypatch):
    """What is told of a request and of the run that came of it, if one did: (status, lines, lines)."""
    monkeypatch.setenv("POWERTOOLS_LOGGER_LOG_EVENT", "true")

    def call(**body):
        status = api_app.handler(signed(event, TOKEN, **body), context())["statusCode"]
        of_request = printed()
        assert of_request
        for waiting in messages():
            worker(batch([waiting]))
        of_run = printed()
        lines = [*of_request, *of_run]
        assert not [line for line in lines if line.get("message") == "claimed"]
        assert TOKEN not in str(lines)
        return status, of_request, of_run

    return call


@pytest.mark.parametrize("payloads", ["false", "true"])
def test_a_payload_is_logged_only_by_its_run_and_only_when_that_is_switched_on(
    lines_of, monkeypatch, payloads
):
    """B186"""
    monkeypatch.setenv("MINUTERO_LOG_PAYLOADS", payloads)
    wiring.settings_here.cache_clear()
    wiring.worker.cache_clear()
    status, of_request, of_run = lines_of(payload={"api_key": SECRET, "name": FORGED})
    assert status == 201
    assert SECRET not in str(of_request)
    assert of_run
    assert (SECRET in str(of_run)) == (payloads == "true")


@pytest.mark.parametrize(
    "body",
    [{"key": FORGED}, {"tenant": FORGED}, {"job": FORGED}, {"run_at": SECRET}, {SECRET: FORGED}],
    ids=str,
)
def test_what_is_refused_forges_no_line_and_leaks_into_none(lines_of, body):
    """B186"""
    status, of_request, _ = lines_of(**{"payload": {"api_key": SECRET}, **body})
    assert status == 400
    assert SECRET not in str(of_request)
