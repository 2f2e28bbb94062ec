"""What a job does to its process stays with the job."""

import logging
import logging.config
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from minutero.contained import PARTS, Exited, contained


class Own(BaseException):
    """A job's own kind of what nobody shall catch."""


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (SystemExit(), "by SystemExit"),
        (SystemExit(0), "by SystemExit: 0"),
        (SystemExit("usage: job"), "by SystemExit: usage: job"),
        (KeyboardInterrupt(), "by KeyboardInterrupt"),
        (GeneratorExit(), "by GeneratorExit"),
        (Own("no\nmore"), "by Own: no more"),
    ],
    ids=str,
)
def test_what_would_end_the_process_is_an_exception_that_tells_it(error, told):
    with pytest.raises(Exited) as caught, contained():
        raise error
    assert str(caught.value) == told
    assert caught.value.__cause__ is error


@pytest.mark.parametrize(
    "error", [ValueError("x"), StopIteration(), MemoryError(), OSError(2, "no")]
)
def test_an_exception_leaves_as_it_is(error):
    with pytest.raises(type(error)) as caught, contained():
        raise error
    assert caught.value is error


# --- what is put back

CHANGES = {
    "a variable more": ("the environment", lambda: os.environ.update(NEW="1")),
    "another value": ("the environment", lambda: os.environ.update(PATH="/nowhere")),
    "a variable less": ("the environment", lambda: os.environ.pop("PATH")),
    "no environment": ("the environment", os.environ.clear),
    "elsewhere": ("the working directory", lambda: os.chdir("/")),
    "impatient": ("the time-out of sockets", lambda: socket.setdefaulttimeout(0.001)),
    "no stdout": ("stdout or stderr", lambda: setattr(sys, "stdout", None)),
    "one for both": ("stdout or stderr", lambda: setattr(sys, "stderr", sys.stdout)),
    "a level": ("logging", lambda: logging.getLogger().setLevel(logging.CRITICAL)),
    "no handlers": ("logging", lambda: setattr(logging.getLogger("minutero"), "handlers", [])),
    "a handler more": ("logging", lambda: logging.getLogger().addHandler(logging.NullHandler())),
    "all below": ("logging", lambda: logging.disable(logging.CRITICAL)),
    "cut off": ("logging", lambda: setattr(logging.getLogger("jobs"), "propagate", False)),
    "configured": ("logging", lambda: logging.config.dictConfig({"version": 1})),
}


@pytest.fixture
def configured(monkeypatch):
    """A logger of this package with a handler, as a function has it."""
    ours = logging.getLogger("minutero")
    monkeypatch.setattr(ours, "handlers", [logging.NullHandler()])
    logging.getLogger("minutero.service.execute").disabled = False


def state():
    return [part.read() for part in PARTS]


def test_a_logger_that_is_made_while_loggers_are_looked_at_fails_no_run(monkeypatch):
    """A thread that a job has left may make one at any time."""

    class MadeMeanwhile(logging.Logger):
        @property
        def disabled(self):
            logging.getLogger(f"left.{len(known)}")
            return False

        @disabled.setter
        def disabled(self, _):
            pass

    known = dict(logging.root.manager.loggerDict)
    known["one"] = MadeMeanwhile("one")
    known["another"] = logging.getLogger("another")
    monkeypatch.setattr(logging.root.manager, "loggerDict", known)
    before = len(known)
    with contained():
        pass
    assert len(known) > before


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("leaves_by", [None, ValueError, SystemExit])
def test_what_was_changed_is_put_back_and_told_whatever_the_end(
    configured, caplog, kind, leaves_by
):
    part, change = CHANGES[kind]
    before = state()
    try:
        with contained():
            change()
            assert state() != before
            if leaves_by:
                raise leaves_by
    except (ValueError, Exited):
        assert leaves_by
    assert state() == before
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert part in record.changed


def test_a_job_that_changes_nothing_is_told_of_nothing(caplog):
    with contained():
        pass
    assert caplog.records == []


def test_a_folder_that_is_gone_stops_nobody(tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.chdir(home)
    with contained():
        home.rmdir()
    with contained():
        os.chdir(tmp_path)
    assert Path.cwd() == tmp_path


def test_a_closed_stdout_and_stderr_are_opened_again():
    """In a process of its own: they are what Python opened."""
    code = (
        "import logging, sys\n"
        "from minutero.contained import contained\n"
        "logging.basicConfig(stream=sys.stderr)\n"
        "with contained():\n"
        "    print('before')\n"
        "    sys.stdout.close()\n"
        "    sys.stderr.close()\n"
        "print('after')\n"
        "print('told', file=sys.stderr)\n"
        "with contained():\n"
        "    sys.stdout.close()\n"
        "print('again')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (0, "before\nafter\nagain\n")
    assert "told" in ended.stderr
