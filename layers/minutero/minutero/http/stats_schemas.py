"""The shapes of `GET /stats`, for the OpenAPI document alone; see `schemas`."""

from pydantic import Field

from minutero.domain.lifecycle import Status
from minutero.http.schemas import Instant, Shape


class Depth(Shape):
    """Messages, as SQS estimates them."""

    ready: int
    delayed: int
    in_flight: int


class Watermark(Shape):
    """Every bucket up to here is settled; six minutes behind now is normal."""

    oldest: Instant | None
    lag_seconds: int | None


class Minute(Shape):
    """The tasks that are due in a minute; a status that none has is left out."""

    at: Instant
    counts: dict[Status, int]


class Backlog(Shape):
    """Tasks due in a stretch of time; `complete` is false where there were too many to count them all."""

    start: Instant = Field(alias="from")
    end: Instant = Field(alias="to")
    complete: bool
    counts: dict[Status, int]
    minutes: list[Minute] = Field(description="The same, by the minute; those with tasks alone")


class Lateness(Shape):
    """First start minus run_at, in milliseconds, of those tasks of the backlog that have started."""

    samples: int = Field(description="How many: each value is that of one of them")
    p50: int | None
    p90: int | None
    p99: int | None
    max: int | None


class Overdue(Shape):
    """The oldest task that was due 5 s ago and has not begun; nulls where there is none."""

    start: Instant = Field(
        alias="from", description="Looked at were tasks due from then on: since the watermark"
    )
    end: Instant = Field(alias="to", description="And before then")
    complete: bool = Field(description="False where there were too many to look at them all")
    task_id: str | None
    run_at: Instant | None
    age_seconds: int | None


class RunningTask(Shape):
    """A task of the backlog that runs."""

    task_id: str
    job: str
    attempt: int
    started_at: Instant | None


class StatsAnswer(Shape):
    """The numbers of a deployment; `tzdata` is the version of the time zones it has, such as 2026f."""

    now: Instant
    shards: int
    watermark: Watermark
    queue: Depth
    dead_letter_queue: Depth
    backlog: Backlog
    lateness_ms: Lateness
    overdue: Overdue
    running: list[RunningTask] = Field(description="Up to ten, the longest-running first")
    tzdata: str
