"""Types of the fields and parameters, as the OpenAPI document shows them.

Their values are checked by the domain, with messages that say what to send instead.
"""

from typing import Annotated, Any

from pydantic import WithJsonSchema

from minutero.domain.instants import SECOND
from minutero.domain.lifecycle import Status
from minutero.domain.new_task import FURTHEST, KEY_LIMIT, NAME

MOST_ATTEMPTS = 20
LONGEST_EXPIRY = 366 * 86_400
MOST_LISTED = 500


def _whole(least: int, most: int) -> Any:
    return WithJsonSchema({"type": "integer", "minimum": least, "maximum": most})


Instant = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
Name = Annotated[str, WithJsonSchema({"type": "string", "pattern": f"^{NAME}$"})]
Key = Annotated[str, WithJsonSchema({"type": "string", "minLength": 1, "maxLength": KEY_LIMIT})]
Delay = Annotated[
    float, WithJsonSchema({"type": "number", "minimum": 0, "maximum": FURTHEST // SECOND})
]
Attempts = Annotated[int, _whole(1, MOST_ATTEMPTS)]
Expiry = Annotated[int, _whole(1, LONGEST_EXPIRY)]
Limit = Annotated[int, _whole(1, MOST_LISTED)]
LimitText = Annotated[str, _whole(1, MOST_LISTED)]
"""As it stands in a query string."""

StatusName = Annotated[
    str, WithJsonSchema({"type": "string", "enum": [str(status) for status in Status]})
]
