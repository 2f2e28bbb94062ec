"""Request bodies of schedules."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from minutero.domain.new_schedule import (
    check_choice,
    check_misfire,
    check_reason,
    check_rule,
    check_span,
    encode_sorted,
)
from minutero.domain.new_task import check_name, check_whole
from minutero.domain.occurrence import Overlap
from minutero.domain.schedule import (
    DEFAULT_CATCH_UP,
    DEFAULT_GRACE_SECONDS,
    LONGEST_JITTER,
    Definition,
)
from minutero.domain.timetable import OnGap, OnOverlap
from minutero.http.fields import (
    MOST_ATTEMPTS,
    Attempts,
    CatchUp,
    Expression,
    Grace,
    Instant,
    Jitter,
    MisfireName,
    Name,
    OnGapName,
    OnOverlapName,
    OverlapName,
    Reason,
    ResumeFrom,
    ResumeFromName,
)


class MisfireBody(BaseModel):
    """What becomes of times that are found later than the grace allows."""

    model_config = ConfigDict(extra="forbid", strict=True)

    policy: MisfireName | None = Field(
        None, description="None of them runs, the latest does, or all up to max_catch_up; once"
    )
    grace_seconds: Grace | None = Field(
        None,
        description=f"As late as this it runs as if in time; {DEFAULT_GRACE_SECONDS} if left out",
    )
    max_catch_up: CatchUp | None = Field(
        None,
        description=f"So many of the latest are made up for, at most; {DEFAULT_CATCH_UP} if left out",
    )


class ScheduleBody(BaseModel):
    """`PUT /schedules/{name}`: the whole of it, so what is left out has its default."""

    model_config = ConfigDict(extra="forbid", strict=True)

    job: Name = Field(description="Name of a deployed job", examples=["echo"])
    payload: Any = Field(None, description="Any JSON, up to 256 KB; the job is called with it")
    expression: Expression = Field(
        description="cron(...), rate(...) or at(...)", examples=["cron(0 18 ? * FRI *)"]
    )
    timezone: str | None = Field(
        None, description="An IANA name; UTC if left out", examples=["America/Mexico_City"]
    )
    start_at: Instant | None = Field(
        None, description="No time before this instant; a rate counts from it"
    )
    end_at: Instant | None = Field(None, description="No time after this instant")
    jitter_seconds: Jitter | None = Field(
        None, description="Each run is put off by up to this, always alike for the same time; 0"
    )
    on_gap: OnGapName | None = Field(
        None, description="A time the clock leaves out: skip it, or fire next after it; skip"
    )
    on_overlap: OnOverlapName | None = Field(
        None, description="A time that comes twice: fire at the first, or at both; first"
    )
    misfire: MisfireBody | None = Field(
        None, description="What becomes of times that are found late, as after an outage"
    )
    overlap: OverlapName | None = Field(
        None, description="While a run goes on the next one starts, is skipped, or waits; allow"
    )
    enabled: bool | None = Field(
        None, description="Left out: a new schedule is enabled, and a paused one stays paused"
    )
    max_attempts: Attempts | None = Field(None, description="5 if left out")
    tenant: Name | None = Field(None, description="A label; tenants share the queue fairly")

    def to_definition(self, now: int) -> Definition:
        """Raises InvalidInput."""
        start_at, end_at = check_span(self.start_at, self.end_at, now)
        misfire = self.misfire or MisfireBody()
        return check_rule(
            Definition(
                job=check_name(self.job, "job"),
                expression=self.expression,
                timezone=_or(self.timezone, "UTC"),
                payload=encode_sorted(self.payload),
                start_at=start_at,
                end_at=end_at,
                jitter_seconds=check_whole(
                    _or(self.jitter_seconds, 0), "jitter_seconds", 0, LONGEST_JITTER
                ),
                on_gap=check_choice(_or(self.on_gap, "skip"), "on_gap", OnGap),
                on_overlap=check_choice(_or(self.on_overlap, "first"), "on_overlap", OnOverlap),
                misfire=check_misfire(
                    _or(misfire.policy, "once"),
                    _or(misfire.grace_seconds, DEFAULT_GRACE_SECONDS),
                    _or(misfire.max_catch_up, DEFAULT_CATCH_UP),
                ),
                overlap=check_choice(_or(self.overlap, "allow"), "overlap", Overlap),
                max_attempts=check_whole(
                    _or(self.max_attempts, 5), "max_attempts", 1, MOST_ATTEMPTS
                ),
                tenant="" if self.tenant is None else check_name(self.tenant, "tenant"),
            )
        )


class PauseBody(BaseModel):
    """`POST /schedules/{name}/pause`; it may have no body."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reason: Reason | None = Field(None, description="Why, for whoever looks at the schedule")

    def checked(self) -> str:
        """The reason, "" for none. Raises InvalidInput."""
        return check_reason(_or(self.reason, ""))


class ResumeBody(BaseModel):
    """`POST /schedules/{name}/resume`; it may have no body."""

    model_config = ConfigDict(extra="forbid", strict=True)

    since: ResumeFromName | None = Field(
        None,
        alias="from",
        description="now, or backfill: the latest max_catch_up times of the pause are made up for",
    )

    def checked(self) -> str:
        """Where to go on from. Raises InvalidInput."""
        return str(check_choice(_or(self.since, "now"), "from", ResumeFrom))


def _or(said: Any, otherwise: Any) -> Any:
    """What was said, null and nothing being the same."""
    return otherwise if said is None else said
