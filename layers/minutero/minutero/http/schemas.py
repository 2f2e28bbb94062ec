"""The shapes of the answers, for the OpenAPI document alone: `answers` makes them, and a fuzz test holds the
two together."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from minutero.domain.history import Came, Happened
from minutero.domain.lifecycle import Status
from minutero.domain.occurrence import Overlap, Trigger
from minutero.domain.schedule import MisfirePolicy
from minutero.domain.timetable import OnGap, OnOverlap
from minutero.service.explain import What

Instant = Annotated[str, Field(json_schema_extra={"format": "date-time"})]


class Shape(BaseModel):
    """Base of them. Nothing is checked by them, so pydantic makes no validator of one before the document is
    asked for: that would be a tenth of the API's cold start."""

    model_config = ConfigDict(defer_build=True)


class ErrorDetail(Shape):
    """What was wrong with a request."""

    code: str = Field(description="A stable word for programs")
    message: str = Field(description="What is wrong and what to send instead")
    field: str | None = Field(default=None, description="The member at fault, where it is one")


class ErrorAnswer(Shape):
    """Every error's body."""

    error: ErrorDetail


class HistoryEntry(Shape):
    """One event of a task's life."""

    what: Happened = Field(description="What happened")
    at: Instant | None = Field(description="When; null where only that it happened is known")
    attempt: int | None = Field(description="Of an attempt: which")
    failed_at: Instant | None = Field(description="Of an attempt that failed: when")
    error: str | None = Field(description="Of an attempt its error, of an end the reason")
    run_at: Instant | None = Field(
        default=None, description="Of a creation and of a move: due since then, null if not known"
    )
    claim_id: str | None = Field(
        default=None,
        description="Of a claim: the batch, as the dispatcher logs it; near: its writer",
    )
    early_ms: int | None = Field(
        default=None, description="Of a claim: how long before run_at, negative when it was late"
    )
    came: Came | None = Field(default=None, description="Of an attempt: what came of it")
    ended_at: Instant | None = Field(default=None, description="Of an attempt: when it ended")


class Timeline(Shape):
    """When what happened, as far as it has."""

    created_at: Instant | None
    claimed_at: Instant | None
    started_at: Instant | None
    finished_at: Instant | None


class AddedTask(Shape):
    """A task as it is told to whom has just added it."""

    task_id: str
    job: str
    payload: Any
    run_at: Instant
    key: str | None
    tenant: str | None
    max_attempts: int
    expires_after_seconds: int | None
    schedule: str | None = Field(description="Name of the schedule that made it")
    scheduled_for: Instant | None = Field(description="The time its schedule names for it")
    trigger: Trigger = Field(description="What made it; manual is a schedule's run-now")
    is_catch_up: bool = Field(description="Whether it makes up for a time that is past")
    status: Status


class TaskAnswer(AddedTask):
    """A task with what became of it."""

    attempts: int = Field(description="How many were started")
    result: Any = Field(description="What the job returned")
    error: str | None
    note: str | None = Field(description="What was left out, such as a result that is too long")
    lateness_ms: int | None = Field(description="First start minus run_at")
    timeline: Timeline
    history: list[HistoryEntry] = Field(
        description="What happened, in order; in a list of tasks that of the last run alone"
    )


class ListedTask(TaskAnswer):
    """A task in a list."""

    payload_omitted: bool = Field(
        default=False, description="True where the payload is long: get the task to see it"
    )


class TaskList(Shape):
    """A page of tasks."""

    tasks: list[ListedTask]
    next_token: str | None = Field(description="For the next page; null at the end")


class BatchEntry(Shape):
    """What became of one task: `status` as HTTP has it."""

    status: int
    task_id: str | None = None
    run_at: Instant | None = None
    error: ErrorDetail | None = None


class BatchAnswer(Shape):
    """What became of each task, in order."""

    results: list[BatchEntry]


class Letter(Shape):
    """A dead run as it is listed."""

    task_id: str | None = Field(description="Null for a row that could not be read")
    run_id: str
    job: str
    tenant: str | None
    reason: str
    died_at: Instant


class LetterWithTask(Letter):
    """A dead run with its task."""

    task: TaskAnswer


class LetterList(Shape):
    """A page of the dead."""

    dead: list[Letter]
    next_token: str | None


class FailedRedrive(Letter):
    """A dead run that could not be redriven, and why."""

    error: ErrorDetail


class RedriveAnswer(Shape):
    """What became of a page of the dead."""

    matched: int
    redriven: int
    failed: list[FailedRedrive]
    dry_run: bool
    next_token: str | None


class JobList(Shape):
    """The deployed jobs."""

    jobs: list[str]


class MisfireAnswer(Shape):
    """What becomes of times that are found late."""

    policy: MisfirePolicy
    grace_seconds: int
    max_catch_up: int


class ListedSchedule(Shape):
    """A schedule in a list: without its payload."""

    name: str
    job: str
    expression: str
    timezone: str
    start_at: Instant | None
    end_at: Instant | None
    jitter_seconds: int
    on_gap: OnGap
    on_overlap: OnOverlap
    misfire: MisfireAnswer
    overlap: Overlap
    enabled: bool
    max_attempts: int
    tenant: str | None
    paused_reason: str | None
    version: int
    next_run_at: Instant | None = Field(description="Null while paused and after the last time")
    last_run_at: Instant | None = Field(description="The last time that fired and has come")
    finished: bool = Field(description="True when no time is to come any more")
    created_at: Instant
    changed_at: Instant


class ScheduleAnswer(ListedSchedule):
    """A schedule."""

    payload: Any


class PutAnswer(ScheduleAnswer):
    """A schedule as it is told to whom has just put it."""

    changed: bool = Field(description="False when it was just so before")
    warnings: list[str] = Field(description="Sentences, such as of a time the clock leaves out")


class ScheduleList(Shape):
    """A page of schedules."""

    schedules: list[ListedSchedule]
    next_token: str | None


class FireTime(Shape):
    """A time, in UTC and by the clock of the zone, and when its run is due: later by the jitter."""

    utc: Instant
    local: Instant
    run_at: Instant


class NextAnswer(Shape):
    """The next times of a schedule; while it is paused those of its rule, of which none fires."""

    name: str
    expression: str
    timezone: str
    paused: bool
    fire_times: list[FireTime]


class ExplainedTime(Shape):
    """A time of a schedule and what became of it."""

    scheduled_for: Instant
    what: What
    why: str | None
    task_id: str | None
    status: Status | None
    lateness_ms: int | None = Field(description="First start minus scheduled_for")


class ExplainAnswer(Shape):
    """What became of each time; `next_from` is where to go on where there are more."""

    name: str
    times: list[ExplainedTime]
    next_from: Instant | None
