"""Keeps what a job does to its process from the jobs after it.

Not all can be kept from them: docs/jobs.md tells what a job must not do.
"""

import logging
import os
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple, TextIO, cast

from minutero.domain.run import short

logger = logging.getLogger(__name__)


class Exited(Exception):
    """The job ended by what ends a process or a coroutine: `sys.exit`, Ctrl-C, a cancelled task."""


@contextmanager
def contained() -> Iterator[None]:
    """Surrounds the call of a job: whatever leaves it is an Exception, so a failed attempt of this run alone,
    and what it changed of the process is put back, and told."""
    before = [part.read() for part in PARTS]
    try:
        yield
    except Exception:
        raise
    except BaseException as error:
        raise Exited(f"by {short(error).removesuffix(':')}") from error
    finally:
        # Logging is put back before it is logged that it was.
        changed = [
            part.name for part, was in zip(PARTS, before, strict=True) if _put_back(part, was)
        ]
        if changed:
            told = {"changed": ", ".join(changed)}
            logger.warning("a job left its process changed, which was put back", extra=told)


class Part(NamedTuple):
    """A part of the process: how to read it, as a value that can be compared, and to put that back."""

    name: str
    read: Callable[[], Any]
    put_back: Callable[[Any], None]


def _put_back(part: Part, was: Any) -> bool:
    """Whether it had been changed."""
    if part.read() == was:
        return False
    with suppress(OSError):  # a folder that is gone
        part.put_back(was)
    return True


_ENVIRON = os.environ


def _environment() -> tuple[int, dict[bytes, bytes]]:
    # As Python keeps it: decoding each name and value would take a hundred times as long.
    return id(os.environ), _ENVIRON._data.copy()  # type: ignore[attr-defined]  # noqa: SLF001


def _put_environment(was: tuple[int, dict[bytes, bytes]]) -> None:
    os.environ = _ENVIRON  # noqa: B003 - a job may have put another object there
    variables = {os.fsdecode(name): os.fsdecode(value) for name, value in was[1].items()}
    for name in os.environ.keys() - variables.keys():
        del os.environ[name]
    os.environ.update(variables)


def _folder() -> str:
    with suppress(OSError):
        return os.getcwd()  # noqa: PTH109 - a Path of it takes ten times as long
    return ""


def _streams() -> list[tuple[TextIO, bool]]:
    return [(one, getattr(one, "closed", False)) for one in (sys.stdout, sys.stderr)]


def _put_streams(was: list[tuple[TextIO, bool]]) -> None:
    (sys.stdout, _), (sys.stderr, _) = was
    # Closing one of Python's own leaves the descriptor open.
    if sys.stdout.closed:
        sys.stdout = _open(1)
    if sys.stderr.closed:
        sys.stderr = _open(2)


def _open(descriptor: int) -> TextIO:
    return cast("TextIO", os.fdopen(descriptor, "w", buffering=1, encoding="utf-8", closefd=False))


OURS = (logging.getLogger(), logging.getLogger("minutero"), logging.getLogger("jobs"))
"""The loggers that bring out what this package and the jobs log."""


class _Logging(NamedTuple):
    loggers: list[tuple[list[logging.Handler], int, bool]]
    disabled: list[logging.Logger]
    below: int


def _logging() -> _Logging:
    """`logging.config` disables each logger that it does not name."""
    # A copy, in one step: a thread that a job has left may make a logger meanwhile.
    known: Iterable[Any] = list(logging.root.manager.loggerDict.values())
    return _Logging(
        [(list(one.handlers), one.level, one.propagate) for one in OURS],
        # Some hundred, twice a run: no call for each.
        [one for one in known if one.__class__ is not logging.PlaceHolder and one.disabled],
        logging.root.manager.disable,
    )


def _put_logging(was: _Logging) -> None:
    for one, (handlers, level, propagate) in zip(OURS, was.loggers, strict=True):
        one.handlers[:] = handlers
        one.propagate = propagate
        one.setLevel(level)
    for one in _logging().disabled:
        one.disabled = one in was.disabled
    logging.disable(was.below)


PARTS = (
    Part("the environment", _environment, _put_environment),
    Part("the working directory", _folder, os.chdir),
    Part("the time-out of sockets", socket.getdefaulttimeout, socket.setdefaulttimeout),
    Part("stdout or stderr", _streams, _put_streams),
    Part("logging", _logging, _put_logging),
)
