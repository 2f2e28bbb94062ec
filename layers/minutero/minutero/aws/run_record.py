"""The item of a run record: Powertools' own attributes, and ours beside them.

`id`, `status`, `data`, `expiration` (seconds) and `in_progress_expiration` (milliseconds) are what Powertools'
DynamoDB layer has: https://docs.aws.amazon.com/powertools/python/latest/utilities/idempotency/
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from minutero.domain.run import Attempt, Outcome, RunRecord

KEY_PREFIX = "run"
"""Ours, where Powertools would take the function's name: renaming a function must not run tasks again."""

HASH_FUNCTION = "sha256"
IN_PROGRESS = "INPROGRESS"
COMPLETED = "COMPLETED"

Item = Mapping[str, Mapping[str, Any]]


def record_id(run_id: str) -> str:
    """The hash key of a run's record, as Powertools computes it."""
    return f"{KEY_PREFIX}#{hashlib.new(HASH_FUNCTION, json.dumps(run_id).encode()).hexdigest()}"


def encode_outcome(outcome: Outcome) -> str:
    """The JSON text of an outcome."""
    return json.dumps(outcome.to_json(), separators=(",", ":"))


def decode_outcome(text: str) -> Outcome:
    """Reads what `encode_outcome` wrote."""
    return Outcome.from_json(json.loads(text))


def to_run_record(item: Item) -> RunRecord:
    """An item of the Runs table -> the record."""
    finished = _text(item, "status") == COMPLETED
    return RunRecord(
        run_id=_text(item, "run_id"),
        attempts=_number(item, "attempts") or 0,
        in_progress_until=_number(item, "in_progress_expiration") or 0,
        outcome=decode_outcome(_text(item, "data")) if finished else None,
        owner=_text(item, "owner"),
        started_at=_number(item, "started_at"),
        finished_at=_number(item, "finished_at"),
        failures=tuple(
            Attempt(
                _number(one["M"], "number") or 0,
                _number(one["M"], "at") or 0,
                _text(one["M"], "error"),
            )
            for one in item.get("failures", {}).get("L", ())
        ),
    )


def _text(item: Item, name: str) -> str:
    return str(item[name]["S"]) if name in item else ""


def _number(item: Item, name: str) -> int | None:
    return int(item[name]["N"]) if name in item else None
