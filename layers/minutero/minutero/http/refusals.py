"""Errors as they are told over HTTP."""

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError

from minutero.errors import Conflict, InvalidInput, JobsUnknown, NotFound, Unavailable
from minutero.http.bodies import invalid_input

TOLD = (
    Conflict,
    InvalidInput,
    NotFound,
    RequestValidationError,
    Unavailable,
    UnicodeDecodeError,
)
"""What a client is told of; anything else is our own fault and a 500."""


NO_ANSWER = "the store did not answer; send the request again, with a key if it adds a task"


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status, what its body says, and after how many seconds to try again (0: not to)."""

    status: HTTPStatus
    code: str
    message: str
    field: str = ""
    retry_after: int = 0

    def body(self) -> dict[str, Any]:
        """`{"error": {"code", "message", "field"}}`; `field` only where one member is at fault."""
        error = {"code": self.code, "message": self.message, "field": self.field}
        return {"error": {name: value for name, value in error.items() if value}}


def refusal_of(error: Exception) -> Refusal:
    """One of the errors in TOLD -> how it is told."""
    match error:
        case RequestValidationError():
            return refusal_of(invalid_input(error.errors()))
        case UnicodeDecodeError():
            return Refusal(
                HTTPStatus.BAD_REQUEST,
                "invalid_json",
                "the body is not whole UTF-8 text; send JSON in UTF-8",
            )
        case InvalidInput():
            large = error.code.endswith("too_large")
            status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE if large else HTTPStatus.BAD_REQUEST
            return Refusal(status, error.code, error.message, error.field)
        case NotFound():
            return Refusal(HTTPStatus.NOT_FOUND, "not_found", str(error))
        case Conflict():
            return Refusal(HTTPStatus.CONFLICT, "conflict", str(error))
        case Unavailable():
            code, message = "unavailable", NO_ANSWER
            if isinstance(error, JobsUnknown):
                code, message = "jobs_unknown", str(error)
            return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, code, message, retry_after=1)
        case _:
            raise error
