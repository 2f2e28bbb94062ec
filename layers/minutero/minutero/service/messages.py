"""Messages as they arrive: which are ours, and which must be kept."""

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress

from minutero.domain.exchanged import NewerMessage
from minutero.domain.task import Pointer

logger = logging.getLogger(__name__)

Parse = Callable[[str], tuple[Pointer, str]]
"""Reads a message's body: its pointer, and on the dead-letter queue the reason. Raises ValueError for what
no message of ours looks like, NewerMessage for one of a newer version."""


class Kept(Exception):
    """The message must not be acknowledged: SQS delivers it again after its visibility time-out."""


def pointer_in(body: str, parse: Parse) -> Pointer | None:
    """The pointer of a message; None for one to drop: nobody could ever act on it, and the store, which is
    the only truth, knows nothing of it. Raises Kept for one of a newer version."""
    try:
        return parse(body)[0]
    except NewerMessage as error:
        raise Kept(str(error)) from None
    except ValueError as error:
        told = {"error": str(error)}
        logger.error("message dropped, it is none of ours", extra=told)  # noqa: TRY400 - no trace wanted
        return None


def pointers_in(bodies: Iterable[str], parse: Parse) -> Iterator[Pointer]:
    """Those of the messages that have one to act on."""
    for body in bodies:
        with suppress(Kept):
            pointer = pointer_in(body, parse)
            if pointer is not None:
                yield pointer
