"""Jobs of the stack's tests, built into the worker beside the shipped ones."""

import os
from functools import cache

import boto3

from minutero import PermanentFailure, job


@cache
def runs():
    return boto3.resource("dynamodb").Table(os.environ["MINUTERO_RUNS_TABLE"])


@job("tally")
def tally(payload, run):
    """Counts its own calls, task by task."""
    told = runs().update_item(
        Key={"id": f"tally#{run.task_id}"},
        UpdateExpression="ADD calls :one",
        ExpressionAttributeValues={":one": 1},
        ReturnValues="UPDATED_NEW",
    )
    return int(told["Attributes"]["calls"])


@job("fail_always")
def fail_always(payload, run):
    raise ValueError(f"attempt {run.attempt} fails")


@job("fail_first")
def fail_first(payload, run):
    if run.attempt == 1:
        raise ValueError("the first attempt fails")
    return {"attempt": run.attempt, "key": run.key}


@job("give_up")
def give_up(payload, run):
    raise PermanentFailure("no such wallet")
