"""`minutero stats`: the numbers of a deployment."""

from collections.abc import Iterator, Mapping
from typing import Any

from minutero_cli.api_client import find_api
from minutero_cli.options import JsonOption, StackOption
from minutero_cli.task_view import COLOURS
from minutero_cli.terminal import print_json, show_facts


def stats(*, stack: StackOption = None, as_json: JsonOption = False) -> None:
    """Print how far the deployment is, what its queues hold, and how its tasks fare.

    The tasks counted are those due in the ten minutes around now.
    """
    answer = find_api(stack).get("/stats")
    if as_json:
        print_json(answer)
    else:
        show_facts("stats", _facts(answer.body), _style)


def _facts(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "now", str(told.get("now"))
    yield "shards", str(told.get("shards"))
    yield "settled up to", _watermark(told.get("watermark") or {})
    yield "tasks queue", _depth(told.get("queue") or {})
    yield "dead-letter queue", _depth(told.get("dead_letter_queue") or {})
    backlog = told.get("backlog") or {}
    more = "" if backlog.get("complete", True) else ", and there are more than were counted"
    yield "tasks due", f"from {backlog.get('from')} to {backlog.get('to')}{more}"
    for status, count in (backlog.get("counts") or {}).items():
        yield status, str(count)


def _watermark(watermark: Mapping[str, Any]) -> str:
    if watermark.get("oldest") is None:
        return "nothing yet: no tick has served every shard"
    return f"{watermark['oldest']} ({watermark.get('lag_seconds')} s ago)"


def _depth(depth: Mapping[str, Any]) -> str:
    """Tell what a queue holds, as SQS knew it about a minute ago."""
    parts = ("ready", "delayed", "in_flight")
    return ", ".join(f"{depth.get(part)} {part.replace('_', ' ')}" for part in parts)


def _style(name: str, value: str) -> str:
    return COLOURS.get(name, "") if value != "0" else "dim"
