"""The functions' logs on the local stack."""

import time
from collections.abc import Iterator
from typing import Any

from minutero_cli.local.stack import LocalStack

# What Lambda itself says around each call; nobody reads it here.
NOISE = ("START RequestId", "END RequestId", "REPORT RequestId")


def lines(stack: LocalStack, *, follow: bool, seconds: float = 1.0) -> Iterator[str]:
    """Yield the functions' log lines, oldest first; go on for ever when told to follow."""
    logs = stack.client("logs")
    names = stack.running().outputs
    functions = sorted(value for key, value in names.items() if key.endswith("FunctionName"))
    seen: set[tuple[str, int, str]] = set()
    since = 0
    while True:
        for event in _new_events(logs, functions, since, seen):
            since = max(since, event["timestamp"] - 5_000)
            message = event["message"].rstrip()
            if not message.startswith(NOISE):
                yield f"{event['function']}: {message}"
        if not follow:
            return
        time.sleep(seconds)


def _new_events(
    logs: Any, functions: list[str], since: int, seen: set[tuple[str, int, str]]
) -> list[dict[str, Any]]:
    found = []
    for function in functions:
        pages = logs.get_paginator("filter_log_events").paginate(
            logGroupName=f"/aws/lambda/{function}", startTime=since
        )
        for event in (event for page in pages for event in page["events"]):
            # MiniStack gives its events no id.
            identity = (event["logStreamName"], event["timestamp"], event["message"])
            if identity not in seen:
                seen.add(identity)
                found.append({**event, "function": function})
    return sorted(found, key=lambda event: event["timestamp"])
