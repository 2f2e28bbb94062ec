"""Query strings: all text on the way in, checked here, never guessed at."""

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.config import JsonDict

from minutero.domain.instants import DAY, MINUTE, parse_instant
from minutero.domain.lifecycle import Status
from minutero.domain.new_task import check_key, check_name, check_whole
from minutero.errors import InvalidInput
from minutero.http.fields import MOST_LISTED, Instant, Key, LimitText, Name, StatusName
from minutero.service.dead_list import DeadQuery
from minutero.service.list_tasks import TaskQuery

LISTED = 100
LONGEST_RANGE = DAY
STATS_RANGE = 5 * MINUTE
"""Before and after now, where `GET /stats` says nothing else."""

_TIME: JsonDict = {"format": "date-time"}
PAGE_HELP = "The token the last page gave; everything else must be asked for as it was then"

Asked = TypeVar("Asked", bound=BaseModel)


class Parameters(BaseModel):
    """Base of the query strings."""

    model_config = ConfigDict(extra="forbid", strict=True)

    def filters(self) -> dict[str, str]:
        """What a page and the next have in common."""
        return self.model_dump(
            by_alias=True, exclude={"limit", "next_token"}, exclude_none=True, mode="json"
        )


class TaskListQuery(Parameters):
    """`GET /tasks`: by time, or the one task of a key."""

    start: Instant | None = Field(None, alias="from", description="Due from this instant on")
    end: Instant | None = Field(
        None,
        alias="to",
        description="Due before this instant, at most 24 h after `from`",
    )
    status: StatusName | None = Field(
        None,
        description="Only tasks of this status",
    )
    job: Name | None = Field(None, description="Only tasks of this job")
    limit: LimitText | None = Field(None, description="At most so many on this page, 1 to 500; 100")
    next_token: str | None = Field(None, description=PAGE_HELP)
    key: Key | None = Field(None, description="Instead of all others: the task of this key")
    tenant: Name | None = Field(None, description="With `key`: whose key it is")

    def to_query(self) -> TaskQuery:
        """Raises InvalidInput."""
        if self.tenant is not None:
            raise InvalidInput(
                "invalid_tenant", "tenant goes with key alone; leave it out of a list", "tenant"
            )
        if self.start is None or self.end is None:
            missing = "from" if self.start is None else "to"
            raise InvalidInput(
                f"invalid_{missing}",
                "say which tasks: from and to (at most 24 h apart), or key",
                missing,
            )
        return TaskQuery(
            *_range(self.start, self.end),
            status=None if self.status is None else status_named(self.status),
            job="" if self.job is None else check_name(self.job, "job"),
        )

    def to_key(self) -> tuple[str, str] | None:
        """Key and tenant, or None where a list is asked for. Raises InvalidInput."""
        if self.key is None:
            return None
        others = self.model_dump(by_alias=True, exclude={"key", "tenant"}, exclude_none=True)
        if others:
            field = min(others)
            raise InvalidInput(
                f"invalid_{field}", f"key names one task; send it without {field}", field
            )
        tenant = "" if self.tenant is None else check_name(self.tenant, "tenant")
        return check_key(self.key), tenant


class DeadFilters(Parameters):
    """Which of the dead; all that are kept where nothing is said."""

    job: Name | None = Field(None, description="Only runs of this job")
    start: Instant | None = Field(None, alias="from", description="Died from this instant on")
    end: Instant | None = Field(None, alias="to", description="Died before this instant")


class DeadListQuery(DeadFilters):
    """`GET /dead`."""

    limit: LimitText | None = Field(None, description="At most so many on this page, 1 to 500; 100")
    next_token: str | None = Field(None, description=PAGE_HELP)


class StatsQuery(Parameters):
    """`GET /stats`."""

    start: Instant | None = Field(
        None,
        alias="from",
        description="Count the tasks due from then on; 5 minutes before now",
    )
    end: Instant | None = Field(
        None,
        alias="to",
        description="And before then, at most 24 h later; 5 minutes after now",
    )

    def to_range(self, now: int) -> tuple[int, int]:
        """Both ends in milliseconds. Raises InvalidInput."""
        if self.start is None and self.end is None:
            return now - STATS_RANGE, now + STATS_RANGE
        if self.start is None or self.end is None:
            missing = "from" if self.start is None else "to"
            raise InvalidInput(f"invalid_{missing}", "send both from and to, or neither", missing)
        return _range(self.start, self.end)


def read_query(model: type[Asked], parameters: Mapping[str, Any]) -> Asked:
    """The query string's parameters as the model. Raises InvalidInput for one that is not in it."""
    try:
        return model.model_validate(dict(parameters))
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])[:80]
        known = ", ".join(field.alias or name for name, field in model.model_fields.items())
        raise InvalidInput(
            "unknown_parameter", f"there is no parameter {name!r}; there are: {known}", name
        ) from None


def dead_query(asked: DeadFilters, kept: tuple[int, int]) -> DeadQuery:
    """The dead that are asked for, among those who died in `kept`. Raises InvalidInput."""
    earliest, latest = kept
    first = earliest if asked.start is None else parse_instant(asked.start, "from")
    last = latest if asked.end is None else parse_instant(asked.end, "to")
    if asked.start is not None and asked.end is not None and last <= first:
        raise InvalidInput("invalid_to", "to must be after from", "to")
    return DeadQuery(
        max(first, earliest),
        min(last, latest),
        "" if asked.job is None else check_name(asked.job, "job"),
    )


def read_limit(text: str | None) -> int:
    """`limit` as it stands in a query string. Raises InvalidInput."""
    return LISTED if text is None else read_count(text, "limit")


def read_count(text: str, field: str) -> int:
    """A number from 1 to 500 in a query string. Raises InvalidInput."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 3 else None  # noqa: PLR2004
    return check_whole(number, field, 1, MOST_LISTED)


def status_named(text: str) -> Status:
    """One of the nine. Raises InvalidInput."""
    try:
        return Status(text)
    except ValueError:
        raise InvalidInput(
            "invalid_status", f"status must be one of {', '.join(Status)}", "status"
        ) from None


def _range(start: str, end: str) -> tuple[int, int]:
    first, last = parse_instant(start, "from"), parse_instant(end, "to")
    if last <= first:
        raise InvalidInput("invalid_to", "to must be after from", "to")
    if last - first > LONGEST_RANGE:
        raise InvalidInput(
            "invalid_to", "from and to are more than 24 h apart; ask for a day at a time", "to"
        )
    return first, last
