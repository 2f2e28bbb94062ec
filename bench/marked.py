"""The job of the end-to-end measurement, built into the worker beside the shipped ones."""

import os
import time
from functools import cache
from typing import Any

import boto3

from minutero import Run, job


@cache
def _runs() -> Any:
    return boto3.resource("dynamodb").Table(os.environ["MINUTERO_RUNS_TABLE"])


@job("marked")
def marked(payload: Any, run: Run) -> None:
    """Writes down when it was called first, and how often it was."""
    _runs().update_item(
        Key={"id": f"marked#{run.task_id}"},
        UpdateExpression="SET called_at = if_not_exists(called_at, :now) ADD calls :one",
        ExpressionAttributeValues={":now": int(time.time() * 1000), ":one": 1},
    )
