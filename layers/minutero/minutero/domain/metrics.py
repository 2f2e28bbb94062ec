"""The metrics: what the deployment counts and measures of itself."""

from enum import StrEnum
from typing import Self


class Unit(StrEnum):
    """As CloudWatch names them. Counts are added up; of a time each value counts for itself."""

    COUNT = "Count"
    MILLISECONDS = "Milliseconds"
    SECONDS = "Seconds"


class Metric(StrEnum):
    """The name on CloudWatch, with its unit and what it means."""

    unit: Unit
    meaning: str

    def __new__(cls, name: str, unit: Unit, meaning: str) -> Self:
        metric = str.__new__(cls, name)
        metric._value_ = name
        metric.unit = unit
        metric.meaning = meaning
        return metric

    # --- a task's way
    CREATED = "Created", Unit.COUNT, "tasks the API has stored"
    REFUSED = "Refused", Unit.COUNT, "requests the API answered with an error"
    CLAIMED = "Claimed", Unit.COUNT, "tasks claimed by ticks and audits"
    CLAIMS_LOST = "ClaimsLost", Unit.COUNT, "claims another was faster with, or a cancel or a move"
    RESCUED = "Rescued", Unit.COUNT, "tasks taken over from an open claim whose lease ran out"
    SENT = "Sent", Unit.COUNT, "messages sent by ticks, audits and, for near tasks, the API"
    STARTED = "Started", Unit.COUNT, "attempts started"
    FAILED = "Failed", Unit.COUNT, "attempts that failed and are tried again"
    DUPLICATES = "Duplicates", Unit.COUNT, "messages whose run was over already"
    # --- its end
    SUCCEEDED = "Succeeded", Unit.COUNT, "runs that succeeded"
    SKIPPED = "Skipped", Unit.COUNT, "runs whose job called `run.skip`"
    EXPIRED = "Expired", Unit.COUNT, "runs that would have started too late"
    DEAD = "Dead", Unit.COUNT, "runs that died, whoever ended them"
    # --- a schedule's times
    FIRED = "Fired", Unit.COUNT, "times of schedules that came to run"
    CAUGHT_UP = "CaughtUp", Unit.COUNT, "of those, the ones that were made up for"
    MISFIRES = "Misfires", Unit.COUNT, "times, or stretches of them, left out as found too late"
    GAPS = "Gaps", Unit.COUNT, "times left out since their zone's clock was put forward"
    OVERLAPS = "Overlaps", Unit.COUNT, "runs skipped or put off since the one before was not over"
    # --- how late it is
    LATENESS_AT_CLAIM = (
        "LatenessAtClaim",
        Unit.MILLISECONDS,
        "of tasks claimed after they were due: by how much",
    )
    LATENESS_AT_START = (
        "LatenessAtStart",
        Unit.MILLISECONDS,
        "first start minus `run_at`, of each run",
    )
    WATERMARK_LAG = (
        "WatermarkLag",
        Unit.SECONDS,
        "how far the watermark is behind where it could be; of a tick the largest of its shards",
    )
    # --- the deployment
    TICKS = "Ticks", Unit.COUNT, "ticks that came to their end"
    AUDIT_REPAIRS = (
        "AuditRepairs",
        Unit.COUNT,
        "tasks an audit had to claim or send again, schedules it had to arm",
    )
    READ_UNITS = "ReadUnits", Unit.COUNT, "read units DynamoDB says the functions consumed"
    WRITE_UNITS = "WriteUnits", Unit.COUNT, "write units DynamoDB says the functions consumed"


class Silent:
    """The meter of whoever counts nothing."""

    def add(self, metric: Metric, value: float = 1) -> None:
        """Does nothing."""


SILENT = Silent()
