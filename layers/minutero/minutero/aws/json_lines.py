"""The functions' log: one line of JSON a record, by Powertools' Logger.

Everything that goes through `logging` comes out so: this package's records, a job's, and the libraries'
warnings. What stands outside is what Lambda itself writes (START, END, REPORT, an error that ended the call)
and what a job prints.
"""

import json
import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

from aws_lambda_powertools import Logger
from aws_lambda_powertools.logging.formatter import LambdaPowertoolsFormatter

PACKAGE = "minutero"

TEXT_LIMIT = 8_000
"""Characters kept of one field. CloudWatch takes 256 KB an event, and bills each."""


class JsonLines(LambdaPowertoolsFormatter):
    """One line, in ASCII, of bounded length: whatever a name, a key, a payload or an error's text holds, it
    stays inside its field. Line breaks, controls and half surrogates are escaped."""

    def __init__(self) -> None:
        super().__init__(
            utc=True,
            use_rfc3339=True,
            # The traceback's text is enough; its frames a second time would double the line.
            serialize_stacktrace=False,
            # A message that looks like JSON stays the text it is.
            json_deserializer=str,
        )

    def serialize(self, log: Any) -> str:
        line = _dumps(log)
        # No field of a short line is long.
        if len(line) <= TEXT_LIMIT:
            return line
        return _dumps({name: _bounded(value) for name, value in log.items()})


class _Stdout(logging.StreamHandler[TextIO]):
    """Writes to what stdout is at that moment."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)

    @property
    def stream(self) -> TextIO:  # type: ignore[override]  # as logging's own last resort does
        return sys.stdout

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        """Nobody fails for a line that cannot be written: a job may have closed stderr as well, which logging
        would tell it on."""
        with suppress(Exception):
            super().handleError(record)


FORMATTER = JsonLines()


def function_logger() -> Logger:
    """The logger of this package, configured for a function of the deployment. The loggers of its modules
    are children of it, so their records come out by it."""
    _take_over_the_root()
    return Logger(
        service=PACKAGE, logger_formatter=FORMATTER, logger_handler=_Stdout(), name="%(name)s"
    )


@contextmanager
def log_fields(**fields: Any) -> Iterator[None]:
    """Every line of this process has these fields meanwhile, whoever writes it, in whatever thread."""
    FORMATTER.append_keys(**fields)
    try:
        yield
    finally:
        FORMATTER.remove_keys(fields)


def _take_over_the_root() -> None:
    """Lambda puts a handler of its own there, which writes text."""
    root = logging.getLogger()
    for handler in list(root.handlers):
        if type(handler).__name__.startswith("LambdaLogger"):
            root.removeHandler(handler)
    if not root.handlers:
        handler = _Stdout()
        handler.setFormatter(FORMATTER)
        root.addHandler(handler)


def _bounded(value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else _dumps(value)
    if len(text) <= TEXT_LIMIT:
        return value
    return f"{text[:TEXT_LIMIT]}... ({len(text)} characters)"


def _told(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - somebody's object that cannot even tell itself
        return f"<{type(value).__name__}>"


_dumps = json.JSONEncoder(default=_told, separators=(",", ":")).encode
