"""What surrounds every handler: its log lines name their call, and its metrics go out at its end."""

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

from minutero import wiring
from minutero.aws.json_lines import log_fields

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]


def observed(call_id: str = "request_id") -> Callable[[Handler], Handler]:
    """Decorates a handler. `call_id` is what the id of one call of it is named in its lines.

    The event is never logged: whatever POWERTOOLS_LOGGER_LOG_EVENT says, nothing here asks for it.
    """

    def decorate(handler: Handler) -> Handler:
        @wraps(handler)
        def call(event: dict[str, Any], context: Any) -> dict[str, Any]:
            service = os.environ.get("POWERTOOLS_SERVICE_NAME", "minutero")
            with log_fields(service=service, **{call_id: context.aws_request_id}):
                try:
                    return handler(event, context)
                finally:
                    wiring.METER.emit()

        return call

    return decorate
