"""Requests that may be asked twice, asked again while that may help."""

import random
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from minutero_cli.api_client import Answer, Api, ApiError

Given = TypeVar("Given")

PAUSES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0)
"""Seconds between the tries of a request; about half of each, up to all. A minute in all."""

STRANGER = 3
"""Tries of an address that has never answered."""

LONGEST_PAUSE = 60.0
"""Seconds: the longest Retry-After that is waited for."""

TOO_MANY = 429
OURS = 500
"""From here on the API, or what is before it, is at fault, and another time it may not be."""


class Stopped(Exception):
    """There is no point in asking any more."""


@dataclass(frozen=True, slots=True)
class Patience:
    """Waits between tries, until it is told to stop.

    `answered` says that the API is there: until then no answer is likely a wrong address, and not waited
    for so long.
    """

    stopped: threading.Event = field(default_factory=threading.Event)
    answered: threading.Event = field(default_factory=threading.Event)

    def ask(self, call: Callable[[], Given]) -> Given:
        """Make a request, and again while the API is busy or does not answer.

        Raises ApiError for a refusal, and when it had no answer to the last try; Stopped.
        """
        for tries, pause in enumerate(PAUSES, 1):
            try:
                given = call()
            except ApiError as error:
                known = error.status or self.answered.is_set()
                if not may_pass(error.status) or (tries == STRANGER and not known):
                    raise
                wanted = error.retry_after or 0.0
                if wanted > LONGEST_PAUSE:
                    raise
            else:
                self.answered.set()
                return given
            self.wait(pause, wanted)
        return call()

    def wait(self, pause: float, at_least: float = 0.0) -> None:
        """Wait from half a pause to all of it, and never less than is wanted. Raises Stopped."""
        spread = pause * (0.5 + random.random() / 2)  # noqa: S311  # spreads, hides nothing
        if self.stopped.wait(max(spread, at_least)):
            raise Stopped


def may_pass(status: int) -> bool:
    """Tell whether the same request may fare better later; 0 is no answer at all."""
    return status in (0, TOO_MANY) or status >= OURS


@dataclass(frozen=True, slots=True)
class PatientApi:
    """The API, for requests that may be asked twice."""

    api: Api
    patience: Patience

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Answer:
        """GET."""
        return self.patience.ask(lambda: self.api.get(path, query))

    def post(self, path: str, body: Any) -> Answer:
        """POST; `body` may be JSON text in bytes."""
        return self.patience.ask(lambda: self.api.post(path, body))
