"""A job that does wrong: the others of its batch end right and the next batch too, and its task tells of it.

What ends the whole process is in tests/neighbours.
"""

import asyncio
import json
import logging
import logging.config
import os
import socket
import sys
import threading
from contextlib import suppress

import pytest

from minutero.aws import json_lines
from minutero.domain.run import RESULT_LIMIT

SECRET = "sk-test-123"
FORGED = 'x\n{"level":"INFO","message":"run ended"}'


class Lazy(dict):
    """Reads its members when they are asked for, and cannot by then."""

    def items(self):
        raise ConnectionError("the session is closed")


class Unspeakable(Exception):
    def __str__(self):
        raise KeyError("no text")


class Own(BaseException):
    """A job's own kind of what nobody shall catch."""


def raising(error):
    def does(payload, run):
        raise error

    return does


def without_end(payload, run):
    return without_end(payload, run)


def catches_all(payload, run):
    for error in (KeyboardInterrupt(), SystemExit(3), Own()):
        with suppress(BaseException):
            raise error
    with suppress(BaseException):
        run.skip("nothing to do")
    return "done"


FAIL = {
    "sys.exit": (lambda payload, run: sys.exit(), "Exited: by SystemExit"),
    "sys.exit(0)": (lambda payload, run: sys.exit(0), "Exited: by SystemExit: 0"),
    "sys.exit(text)": (lambda payload, run: sys.exit("usage: job"), "SystemExit: usage: job"),
    "KeyboardInterrupt": (raising(KeyboardInterrupt()), "Exited: by KeyboardInterrupt"),
    "GeneratorExit": (raising(GeneratorExit()), "Exited: by GeneratorExit"),
    "CancelledError": (raising(asyncio.CancelledError()), "Exited: by CancelledError"),
    "of its own": (raising(Own("no")), "Exited: by Own: no"),
    "BaseExceptionGroup": (raising(BaseExceptionGroup("all", [Own()])), "by BaseExceptionGroup"),
    "StopIteration": (raising(StopIteration()), "StopIteration"),
    "MemoryError": (raising(MemoryError()), "MemoryError"),
    "recursion": (without_end, "RecursionError: maximum recursion depth exceeded"),
    "no text": (raising(Unspeakable()), "Unspeakable: (its text cannot be had)"),
    "a megabyte of text": (raising(ValueError("x" * 1_000_000)), "ValueError: xxx"),
    "forged lines": (raising(ValueError(FORGED)), "ValueError: x {"),
    "half a surrogate": (raising(ValueError("\ud800")), "ValueError: ?"),
}
SUCCEED = {
    "an object": (lambda payload, run: object(), "result dropped: TypeError"),
    "a megabyte": (
        lambda payload, run: "x" * 1_000_000,
        f"result dropped: 1000002 bytes of JSON, the limit is {RESULT_LIMIT}",
    ),
    "lazy": (lambda payload, run: Lazy(a=1), "result dropped: ConnectionError: the session"),
    "a generator": (lambda payload, run: (n for n in range(3)), "result dropped: TypeError"),
    "catches all": (catches_all, None),
}


@pytest.fixture
def neighbours(worker, http, messages, batch, register):
    """Runs bad jobs between two good ones, then a good one in a batch of its own. What is told of the bad."""

    def run(*bad, **more):
        for number, function in enumerate(bad):
            register(f"bad-{number}", function)
        good = [http("POST", "/tasks", {"job": "echo", "payload": n})[1]["task_id"] for n in "12"]
        tasks = [
            http("POST", "/tasks", {"job": f"bad-{number}", **more})[1]["task_id"]
            for number in range(len(bad))
        ]
        in_order = [good[0], *tasks, good[1]]
        bodies = sorted(messages(), key=lambda body: [one in body for one in in_order].index(True))
        assert len(bodies) == len(in_order)
        assert worker(batch(bodies))["batchItemFailures"] == []
        good.append(http("POST", "/tasks", {"job": "echo", "payload": "3"})[1]["task_id"])
        (body,) = [one for one in messages() if good[-1] in one]
        assert worker(batch([body]))["batchItemFailures"] == []
        for payload, task in zip("123", good, strict=True):
            told = http("GET", f"/tasks/{task}")[1]
            assert (told["status"], told["result"], told["attempts"]) == ("succeeded", payload, 1)
        return [http("GET", f"/tasks/{task}")[1] for task in tasks]

    return run


@pytest.mark.parametrize("kinds", [list(FAIL)[:8], list(FAIL)[8:]], ids=["exits", "errors"])
def test_whatever_leaves_a_job_is_a_failed_attempt_of_its_task_alone(neighbours, kinds):
    for kind, told in zip(kinds, neighbours(*(FAIL[kind][0] for kind in kinds)), strict=True):
        assert (told["status"], told["attempts"]) == ("retrying", 1), kind
        assert FAIL[kind][1] in told["history"][-1]["error"], kind


def test_whatever_a_job_returns_it_has_succeeded_once(neighbours):
    found = neighbours(*(does for does, _ in SUCCEED.values()))
    for (kind, (_, note)), told in zip(SUCCEED.items(), found, strict=True):
        assert (told["status"], told["attempts"]) == ("succeeded", 1), kind
        assert told["result"] == ("done" if note is None else None), kind
        assert (told["note"] or "").startswith(note or ""), kind


# --- what it does to its process


@pytest.fixture
def printed(capsys):
    """The lines of the functions since this was last asked. Each must be JSON."""
    capsys.readouterr()
    return lambda: [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def leaves_a_mess(payload, run):
    os.environ["POWERTOOLS_IDEMPOTENCY_DISABLED"] = "true"
    del os.environ["MINUTERO_RUNS_TABLE"]
    os.chdir(payload)
    socket.setdefaulttimeout(1e-9)
    logging.config.dictConfig({"version": 1, "disable_existing_loggers": True})
    logging.getLogger("minutero").handlers.clear()
    sys.stdout = sys.stderr = None


def test_what_a_job_changes_of_its_process_reaches_nobody_and_is_told(
    neighbours, printed, tmp_path
):
    (told,) = neighbours(leaves_a_mess, payload=str(tmp_path))
    assert told["status"] == "succeeded"
    lines = printed()
    (line,) = [line for line in lines if "changed" in line]
    assert line["task_id"] == told["task_id"]
    assert line["changed"].count(", ") == 4
    assert sum(line.get("message") == "run ended" for line in lines) == 4, "those after it are told"


def test_a_thread_that_a_job_leaves_behind_harms_nobody_and_its_error_ends_no_run(
    neighbours, monkeypatch
):
    go_on, raised = threading.Event(), []
    monkeypatch.setattr(threading, "excepthook", lambda args: raised.append(args.exc_type))
    left = []

    def leaves(payload, run):
        def works_on():
            go_on.wait(60)
            raise Own

        left.append(threading.Thread(target=works_on, daemon=True))
        left[0].start()

    (told,) = neighbours(leaves)
    go_on.set()
    left[0].join(60)
    assert raised == [Own]
    assert told["status"] == "succeeded"


# --- what it logs


def test_secrets_and_forged_text_that_a_job_logs_stay_in_the_fields_of_its_own_lines(
    neighbours, printed, monkeypatch
):
    handler = json_lines._Stdout()
    handler.setFormatter(json_lines.FORMATTER)
    monkeypatch.setattr(logging.getLogger("jobs"), "handlers", [handler])

    def chatty(payload, run):
        logging.getLogger("jobs.chatty").warning(FORGED, extra={"key": SECRET})
        return {"key": SECRET}

    (told,) = neighbours(chatty, payload={"key": SECRET})
    lines = printed()
    assert all(line.get("message") != "run ended" or "run_id" in line for line in lines)
    (own,) = [line for line in lines if SECRET in json.dumps(line)]
    assert (own["name"], own["message"], own["task_id"]) == ("jobs.chatty", FORGED, told["task_id"])
