"""Minutero, the minute hand: a distributed task scheduler on AWS serverless."""

from typing import TYPE_CHECKING

from minutero.errors import (
    ConditionFailed,
    Conflict,
    InvalidInput,
    InvalidSchedule,
    KeyConflict,
    MinuteroError,
    NotFound,
    NothingDone,
    PermanentFailure,
    RetryLater,
    SettingsError,
    Unavailable,
    UnknownJob,
)
from minutero.jobs import Run, job

if TYPE_CHECKING:
    from minutero.client import Client
    from minutero.expressions import fire_times

__all__ = [
    "Client",
    "ConditionFailed",
    "Conflict",
    "InvalidInput",
    "InvalidSchedule",
    "KeyConflict",
    "MinuteroError",
    "NotFound",
    "NothingDone",
    "PermanentFailure",
    "RetryLater",
    "Run",
    "SettingsError",
    "Unavailable",
    "UnknownJob",
    "fire_times",
    "job",
]


def __getattr__(name: str) -> object:
    """What no job needs comes on first use: `Client` brings boto3 and PynamoDB, `fire_times` zoneinfo."""
    if name == "Client":
        from minutero.client import Client  # noqa: PLC0415 - see above

        return Client
    if name == "fire_times":
        from minutero.expressions import fire_times  # noqa: PLC0415 - see above

        return fire_times
    raise AttributeError(f"module 'minutero' has no attribute {name!r}")
