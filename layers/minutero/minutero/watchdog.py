"""Ends this process in time: a Python thread cannot be killed, a process can."""

import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

logger = logging.getLogger(__name__)

EXIT_CODE = 70


def _end_process() -> None:
    os._exit(EXIT_CODE)


@contextmanager
def watchdog(
    seconds: float, last_words: Callable[[], None], end: Callable[[], None] = _end_process
) -> Iterator[None]:
    """Calls `last_words` and ends the process when the body takes longer than `seconds`.

    Lambda would end it too, a moment later, but with nothing acknowledged.
    """

    def bite() -> None:
        try:
            logger.error("a job is over its time-out; the process ends")
        finally:  # whatever the job has made of logging
            try:
                last_words()
            finally:
                end()

    timer = Timer(max(0.0, seconds), bite)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
