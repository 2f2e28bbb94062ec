"""The functions' log lines: JSON, one a record, and nothing in them can be taken for another."""

import io
import json
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutero.aws.json_lines import FORMATTER, TEXT_LIMIT, JsonLines, _Stdout, log_fields

ROOT = Path(__file__).parents[2]
EMF = '{"_aws":{"CloudWatchMetrics":[{"Namespace":"Minutero"}]},"Dead":1}'
HOSTILE = [
    "line\nline",
    "line\r\nERROR: forged",
    "\x1b[2J\x1b[31mred",
    "\x9b31m",
    "\u2028\u2029\x85",
    "\x00\x07\x7f",
    "\ud800",
    "\u202egnp.exe",
    '"}\n{"level":"ERROR","message":"forged"}',
    '{"level":"ERROR","message":"forged"}',
    "}" * 100,
    "%s %d %(name)s {name}",
    EMF,
    "\n" + EMF,
    "[" * 100_000,
    "x" * 1_000_000,
]


def line_of(message, *args, error=None, **extra):
    """The one line of a record."""
    logger = logging.getLogger("minutero.test")
    info = (type(error), error, None) if error else None
    record = logger.makeRecord(
        logger.name, logging.INFO, __file__, 1, message, args, info, extra=extra
    )
    text = JsonLines().format(record)
    assert text.isascii()
    assert text.isprintable()
    assert len(text) < 8 * TEXT_LIMIT
    return json.loads(text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_in_its_field(text):
    plain = line_of("a message", key="harmless", payload="harmless")
    line = line_of("a message", key=text, payload=text)
    assert line.keys() == plain.keys()
    assert (line["level"], line["message"]) == ("INFO", "a message")
    assert line["key"][:TEXT_LIMIT] == text[:TEXT_LIMIT]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_in_a_message_or_an_error_stays_there(text):
    keys = line_of("plain").keys()
    assert line_of(text).keys() == keys
    assert line_of(text)["message"][:TEXT_LIMIT] == text[:TEXT_LIMIT]
    assert line_of("of %s", text)["message"].startswith("of " + text[: TEXT_LIMIT - 3])
    assert line_of("failed", error=ValueError(text)).keys() == keys | {
        "exception",
        "exception_name",
    }


@given(st.text(st.characters(codec=None)), st.text(st.characters(codec=None)))
def test_any_text_comes_back_as_it_went_in(message, field):
    line = line_of(message, field=field)
    assert (line["message"], line["field"]) == (message, field)


def test_a_field_that_is_too_long_says_how_long_it_was():
    assert line_of("m", key="x" * 10_000)["key"].endswith("... (10000 characters)")
    nested = line_of("m", ids=["y" * 25] * 10_000)["ids"]
    assert len(nested) < TEXT_LIMIT + 100


def test_numbers_and_short_lists_stay_what_they_are():
    line = line_of("m", n=3, x=1.5, yes=True, nothing=None, ids=["a", "b"], tick={"sent": 1})
    assert (line["n"], line["x"], line["yes"], line["ids"], line["tick"]) == (
        3,
        1.5,
        True,
        ["a", "b"],
        {"sent": 1},
    )


def test_an_object_that_cannot_tell_itself_breaks_no_line():
    class Mute:
        def __str__(self):
            raise RuntimeError

    assert line_of("m", thing=Mute())["thing"] == "<Mute>"


def test_an_errors_locals_are_not_told():
    def fails():
        secret = "hun" + "ter2"
        raise ValueError(len(secret))

    try:
        fails()
    except ValueError as error:
        told = line_of("failed", error=error)
    assert "hunter2" not in json.dumps(told)
    assert told["exception_name"] == "ValueError"


def test_a_line_says_when_in_utc_and_where():
    line = line_of("m")
    assert line["timestamp"].endswith("+00:00")
    assert line["level"] == "INFO"


def test_nobody_fails_for_a_line_that_cannot_be_written(monkeypatch):
    """A job may have closed both."""
    for name in ("stdout", "stderr"):
        closed = io.StringIO()
        closed.close()
        monkeypatch.setattr(sys, name, closed)
    handler = _Stdout()
    handler.setFormatter(FORMATTER)
    handler.handle(logging.makeLogRecord({"msg": "told to nobody"}))


def test_fields_are_in_every_line_meanwhile_and_not_after():
    logger = logging.getLogger("jobs.any")

    def keys():
        record = logger.makeRecord(logger.name, logging.INFO, __file__, 1, "m", (), None)
        return json.loads(FORMATTER.format(record)).keys()

    with log_fields(run_id="r"), log_fields(task_id="t"):
        assert {"run_id", "task_id"} <= keys()
    assert not {"run_id", "task_id"} & keys()


LAMBDA = """
import logging, sys, warnings

class LambdaLoggerHandler(logging.StreamHandler):
    def format(self, record):
        return "[TEXT] " + super().format(record)

logging.getLogger().addHandler(LambdaLoggerHandler(sys.stdout))
sys.path.insert(0, "functions/worker")
import app
from minutero.aws.json_lines import function_logger
function_logger()
logging.getLogger("minutero.service.execute").info("ours", extra={"task_id": "1a"})
logging.getLogger("jobs.echo").info("a job's")
logging.getLogger("urllib3.connectionpool").warning("a library's")
logging.getLogger("botocore.credentials").info("not told")
app.logger.info("the function's")
"""


def test_every_record_of_a_function_is_one_line_of_json_and_comes_once():
    """With a handler on the root logger as Lambda has one."""
    done = subprocess.run(
        [sys.executable, "-c", LAMBDA], cwd=ROOT, capture_output=True, text=True, check=True
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["message"] for line in lines] == [
        "ours",
        "a job's",
        "a library's",
        "the function's",
    ]
    assert lines[0]["task_id"] == "1a"
    assert done.stderr == ""
