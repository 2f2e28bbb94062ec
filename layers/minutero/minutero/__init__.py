"""Minutero, the minute hand: a distributed task scheduler on AWS serverless."""

from minutero.errors import (
    Conflict,
    InvalidInput,
    KeyConflict,
    MinuteroError,
    NotFound,
    PermanentFailure,
    RetryLater,
    SettingsError,
    Unavailable,
    UnknownJob,
)
from minutero.jobs import Run, job

__all__ = [
    "Client",
    "Conflict",
    "InvalidInput",
    "KeyConflict",
    "MinuteroError",
    "NotFound",
    "PermanentFailure",
    "RetryLater",
    "Run",
    "SettingsError",
    "Unavailable",
    "UnknownJob",
    "job",
]


def __getattr__(name: str) -> object:
    """`minutero.Client` on first use: it brings boto3 and PynamoDB, which no job needs."""
    if name == "Client":
        from minutero.client import Client  # noqa: PLC0415 - see above

        return Client
    raise AttributeError(f"module 'minutero' has no attribute {name!r}")
