"""Request bodies."""

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from minutero.domain.instants import no_instant, parse_instant
from minutero.domain.new_task import (
    NewTask,
    check_delay,
    check_key,
    check_name,
    check_whole,
    due_at,
    encode_payload,
    invalid_member,
)
from minutero.errors import InvalidInput
from minutero.http.fields import (
    LONGEST_EXPIRY,
    MOST_ATTEMPTS,
    Attempts,
    Delay,
    Expiry,
    Instant,
    Key,
    Limit,
    Name,
)
from minutero.http.queries import DeadFilters

MOST_TASKS = 500

Asked = TypeVar("Asked", bound=BaseModel)


class NewTaskBody(BaseModel):
    """`POST /tasks`. Types are checked here, meanings by the domain's own rules."""

    model_config = ConfigDict(extra="forbid", strict=True)

    job: Name = Field(description="Name of a deployed job", examples=["echo"])
    payload: Any = Field(None, description="Any JSON, up to 256 KB; the job is called with it")
    run_at: Instant | None = Field(
        None,
        description="RFC 3339 time with Z or an offset; a past one means now",
        examples=["2026-12-01T09:00:00Z"],
    )
    delay_seconds: Delay | None = Field(None, description="Instead of run_at; 0 and up")
    key: Key | None = Field(
        None, description="Your idempotency key: the same key and body again give the same task"
    )
    max_attempts: Attempts | None = Field(None, description="5 if left out")
    expires_after_seconds: Expiry | None = Field(
        None, description="Not started this long after run_at, it expires"
    )
    tenant: Name | None = Field(None, description="A label; tenants share the queue fairly")

    def to_new_task(self) -> NewTask:
        """Raises InvalidInput."""
        run_at, delay = when(self.run_at, self.delay_seconds)
        return NewTask(
            job=check_name(self.job, "job"),
            payload=encode_payload(self.payload),
            run_at=run_at,
            delay=delay,
            key="" if self.key is None else check_key(self.key),
            tenant="" if self.tenant is None else check_name(self.tenant, "tenant"),
            max_attempts=5
            if self.max_attempts is None
            else check_whole(self.max_attempts, "max_attempts", 1, MOST_ATTEMPTS),
            expires_after_seconds=None
            if self.expires_after_seconds is None
            else check_whole(
                self.expires_after_seconds, "expires_after_seconds", 1, LONGEST_EXPIRY
            ),
        )


class BatchBody(BaseModel):
    """`POST /tasks/batch`. Each of the tasks is checked on its own: a bad one spoils no other."""

    model_config = ConfigDict(extra="forbid", strict=True)

    tasks: list[Any] = Field(
        description=f"1 to {MOST_TASKS} tasks, each as in POST /tasks",
        json_schema_extra={
            "items": {"$ref": "#/components/schemas/NewTaskBody"},
            "minItems": 1,
            "maxItems": MOST_TASKS,
        },
    )

    def checked(self) -> list[Any]:
        """Raises InvalidInput for none, or too many."""
        if 1 <= len(self.tasks) <= MOST_TASKS:
            return self.tasks
        raise InvalidInput(
            "invalid_tasks",
            f"tasks must hold 1 to {MOST_TASKS} tasks; send less at a time",
            "tasks",
        )


class RescheduleBody(BaseModel):
    """`PATCH /tasks/{id}`: one of the two."""

    model_config = ConfigDict(extra="forbid", strict=True)

    run_at: Instant | None = Field(
        None, description="RFC 3339 time with Z or an offset", examples=["2026-12-01T09:00:00Z"]
    )
    delay_seconds: Delay | None = Field(None, description="Instead of run_at; 0 and up")

    def due(self, now: int) -> int:
        """The instant it shall be due, in milliseconds: a past one means now. Raises InvalidInput."""
        run_at, delay = when(self.run_at, self.delay_seconds)
        if run_at is None and delay is None:
            raise InvalidInput(
                "invalid_run_at", "send the new time: run_at, or delay_seconds", "run_at"
            )
        return due_at(run_at, delay, now)


class RedriveBody(DeadFilters):
    """`POST /dead/redrive`: which of the dead, a page at a time."""

    dry_run: bool = Field(default=False, description="Count only")
    limit: Limit | None = Field(None, description="At most so many in this request, 1 to 500; 100")
    next_token: str | None = Field(None, description="The token the last request gave")


def read_task_body(body: Any) -> NewTask:
    """One task of a batch, or of the Python client. Raises InvalidInput."""
    return read_body(NewTaskBody, body).to_new_task()


def read_body(model: type[Asked], body: Any) -> Asked:
    """A parsed body as the model. Raises InvalidInput."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        found = [{**one, "loc": ("body", *one["loc"])} for one in error.errors()]
        raise invalid_input(found) from None


def when(run_at: str | None, delay_seconds: float | None) -> tuple[int | None, int | None]:
    """`run_at` and `delay_seconds` in milliseconds, one of them at most. Raises InvalidInput."""
    if run_at is not None and delay_seconds is not None:
        raise InvalidInput(
            "invalid_run_at",
            "run_at and delay_seconds are two ways to say one thing; send one",
            "run_at",
        )
    return (
        None if run_at is None else parse_instant(run_at),
        None if delay_seconds is None else check_delay(delay_seconds),
    )


def no_object() -> InvalidInput:
    """The refusal of a body that is JSON and no object."""
    return InvalidInput("invalid_body", "the body must be a JSON object, as GET /docs documents it")


_TIMES = {"run_at", "start_at", "end_at", "from", "to"}

_KINDS = {
    "bool": "true or false",
    "dict": "an object",
    "float": "a number",
    "int": "a whole number",
    "list": "a list",
    "model": "an object",
    "string": "text",
}


def invalid_input(errors: Sequence[dict[str, Any]]) -> InvalidInput:
    """The first of pydantic's errors as one of ours: `loc` is ("body", "run_at", ...)."""
    error = errors[0]
    field = ".".join(str(part) for part in error["loc"][1:])
    kind = str(error["type"])
    if kind == "json_invalid":
        return InvalidInput("invalid_json", "the body is not JSON; send an object in UTF-8")
    if len(error["loc"]) < 2:  # noqa: PLR2004 - ("body",) alone
        return no_object()
    if kind == "missing":
        return invalid_member(f"{field} is missing; send it", field)
    if kind == "extra_forbidden":
        return InvalidInput(
            "unknown_field", f"there is no field {field[:80]!r}; take it out", field[:80]
        )
    if kind.startswith("string") and field in _TIMES:
        return no_instant(error["input"], field)
    wanted = next((text for start, text in _KINDS.items() if kind.startswith(start)), "")
    hint = f"must be {wanted}" if wanted else f"is not valid: {error['msg']}"
    return invalid_member(f"{field} {hint}", field)
