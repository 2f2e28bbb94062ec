"""Types of the fields and parameters, as the OpenAPI document shows them.

Their values are checked by the domain, with messages that say what to send instead.
"""

from typing import Annotated, Any, Literal, get_args

from pydantic import WithJsonSchema

from minutero.domain import expression
from minutero.domain.instants import SECOND
from minutero.domain.lifecycle import Status
from minutero.domain.new_schedule import REASON_LIMIT
from minutero.domain.new_task import FURTHEST, KEY_LIMIT, NAME
from minutero.domain.occurrence import Overlap
from minutero.domain.schedule import LONGEST_GRACE, LONGEST_JITTER, MOST_CATCH_UP, MisfirePolicy
from minutero.domain.timetable import OnGap, OnOverlap

MOST_ATTEMPTS = 20
LONGEST_EXPIRY = 366 * 86_400
MOST_LISTED = 500

ResumeFrom = Literal["now", "backfill"]


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


def _text(most: int) -> Any:
    return WithJsonSchema({"type": "string", "maxLength": most})


def _one_of(choices: object) -> Any:
    return WithJsonSchema({"type": "string", "enum": list(get_args(choices))})


Expression = Annotated[str, _text(expression.LONGEST)]
Jitter = Annotated[int, _whole(0, LONGEST_JITTER)]
Grace = Annotated[int, _whole(0, LONGEST_GRACE)]
CatchUp = Annotated[int, _whole(1, MOST_CATCH_UP)]
Reason = Annotated[str, _text(REASON_LIMIT)]

# Names of choices, which the domain holds against those there are.
OnGapName = Annotated[str, _one_of(OnGap)]
OnOverlapName = Annotated[str, _one_of(OnOverlap)]
OverlapName = Annotated[str, _one_of(Overlap)]
MisfireName = Annotated[str, _one_of(MisfirePolicy)]
ResumeFromName = Annotated[str, _one_of(ResumeFrom)]
