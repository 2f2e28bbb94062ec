"""The process ends in time, with its last words said."""

import subprocess
import sys
from threading import Event

import pytest

from minutero import watchdog as module
from minutero.watchdog import EXIT_CODE, watchdog

LONG = 3_600


class Bitten:
    """What happened, in order; nothing is ended."""

    def __init__(self):
        self.happened = []
        self.over = Event()

    def says(self):
        self.happened.append("last words")

    def ends(self):
        self.happened.append("end")
        self.over.set()


@pytest.fixture
def dog():
    return Bitten()


@pytest.mark.parametrize("seconds", [0.001, 0, -5])
def test_it_bites_with_last_words_and_then_ends(dog, caplog, seconds):
    with watchdog(seconds, dog.says, dog.ends):
        assert dog.over.wait(10)
    assert dog.happened == ["last words", "end"]
    assert "over its time-out" in caplog.text


def test_it_is_silent_when_the_body_is_in_time(dog, timers):
    with watchdog(LONG, dog.says, dog.ends):
        pass
    [timer] = timers
    timer.join(10)
    assert not timer.is_alive()
    assert dog.happened == []


def test_it_is_silent_when_the_body_raises_in_time(dog, timers):
    with pytest.raises(ValueError, match="no such wallet"), watchdog(LONG, dog.says, dog.ends):
        raise ValueError("no such wallet")
    [timer] = timers
    timer.join(10)
    assert not timer.is_alive()
    assert dog.happened == []


def test_it_ends_even_when_the_last_words_fail(dog, timers, monkeypatch):
    raised = []
    monkeypatch.setattr("threading.excepthook", lambda args: raised.append(args.exc_type))

    def stammers():
        dog.says()
        raise OSError

    with watchdog(0, stammers, dog.ends):
        assert dog.over.wait(10)
        timers[0].join(10)
    assert dog.happened == ["last words", "end"]
    assert raised == [OSError]


def test_it_ends_with_its_last_words_said_though_nothing_can_be_logged(dog, timers, monkeypatch):
    """A job has closed what the log goes to."""
    raised = []
    monkeypatch.setattr("threading.excepthook", lambda args: raised.append(args.exc_type))

    def closed(*_):
        raise ValueError("I/O operation on closed file")

    monkeypatch.setattr(module.logger, "error", closed)
    with watchdog(0, dog.says, dog.ends):
        assert dog.over.wait(10)
        timers[0].join(10)
    assert dog.happened == ["last words", "end"]
    assert raised == [ValueError]


def test_a_process_does_not_wait_for_it(dog, timers):
    with watchdog(LONG, dog.says, dog.ends):
        assert timers[0].daemon


def test_the_process_really_ends_with_its_last_words_said():
    code = (
        "import threading\n"
        "from minutero.watchdog import watchdog\n"
        "with watchdog(0.001, lambda: print('done: 3', flush=True)):\n"
        "    threading.Event().wait(60)\n"
        "print('never')\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == EXIT_CODE == 70
    assert ended.stdout == "done: 3\n"


@pytest.fixture
def timers(monkeypatch):
    """The timers it makes."""
    made = []
    real = module.Timer

    def timer(*args):
        made.append(real(*args))
        return made[-1]

    monkeypatch.setattr(module, "Timer", timer)
    return made
