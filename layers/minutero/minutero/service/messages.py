"""Messages as they arrive: which are ours, and which must be kept."""

import logging
from collections.abc import Callable

from minutero.domain.task import Pointer

logger = logging.getLogger(__name__)

Parse = Callable[[str], tuple[Pointer, str]]
"""Reads a message's body: its pointer, and on the dead-letter queue the reason. Raises ValueError for what
no message of ours looks like."""


class Kept(Exception):
    """The message must not be acknowledged: SQS delivers it again after its visibility time-out."""


def pointer_in(body: str, parse: Parse) -> Pointer | None:
    """The pointer of a message; None for one to drop: nobody could ever act on it, and the store, which is
    the only truth, knows nothing of it."""
    try:
        return parse(body)[0]
    except ValueError as error:
        told = {"error": str(error)}
        logger.error("message dropped, it is none of ours", extra=told)  # noqa: TRY400 - no trace wanted
        return None
