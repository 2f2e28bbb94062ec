"""The item of a run record: Powertools' own attributes, and ours beside them.

`id`, `status`, `data`, `expiration` (seconds) and `in_progress_expiration` (milliseconds) are what
Powertools' DynamoDB layer has:
https://docs.aws.amazon.com/powertools/python/latest/utilities/idempotency/
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from minutero.aws.compact import encode, made, members
from minutero.domain.instants import SECOND
from minutero.domain.run import Attempt, Ending, Outcome, RunRecord, Superseded

KEY_PREFIX = "run"
"""Ours, where Powertools has the function's name: a renamed function must not run tasks again."""

HASH_FUNCTION = "sha256"
IN_PROGRESS = "INPROGRESS"
COMPLETED = "COMPLETED"

NOBODY_RUNS_IT = (
    "attribute_not_exists(id) OR expiration < :seconds"
    " OR (#status = :in_progress AND in_progress_expiration < :given_up)"
)
"""Close: what lets a start have the run lets a cancel, a move or a burial have it; the first wins. The
record may have expired before TTL came round. `:given_up` is earlier than now for whom has a clock that may
be ahead."""

NAMES = {"#status": "status", "#owner": "owner", "#data": "data"}

Item = Mapping[str, Mapping[str, Any]]
AttributeValues = dict[str, dict[str, Any]]


def record_id(run_id: str) -> str:
    """Hash key of a run's record, as Powertools computes it."""
    return f"{KEY_PREFIX}#{hashlib.new(HASH_FUNCTION, json.dumps(run_id).encode()).hexdigest()}"


def closing(
    table: str,
    run_id: str,
    outcome: Outcome,
    at: int,
    keep_until: int,
    given_up: int,
    token: str = "",
) -> dict[str, Any]:
    """Build the update that ends a run which nobody is running; attempts and failures stay.

    For UpdateItem and for a transaction alike. `at` and `given_up` in milliseconds, `keep_until` in
    seconds; `token` is left as the record's owner.
    """
    return {
        "TableName": table,
        "Key": {"id": {"S": record_id(run_id)}},
        "UpdateExpression": "SET run_id = :run_id, #status = :completed, #owner = :token,"
        " #data = :data, ending = :ending, finished_at = :now, in_progress_expiration = :none,"
        " expiration = :keep_until ADD attempts :none",
        "ConditionExpression": NOBODY_RUNS_IT,
        "ExpressionAttributeNames": NAMES,
        "ExpressionAttributeValues": {
            **_ended(outcome, token),
            ":run_id": {"S": run_id},
            ":in_progress": {"S": IN_PROGRESS},
            ":completed": {"S": COMPLETED},
            ":now": {"N": str(at)},
            ":given_up": {"N": str(given_up)},
            ":seconds": {"N": str(seconds_until(at))},
            ":keep_until": {"N": str(keep_until)},
            ":none": {"N": "0"},
        },
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


WAS_DEAD = "ending = :dead"
"""Redrive, discard: nobody has redriven or discarded it before."""


def taking_back(table: str, run_id: str, outcome: Outcome, token: str = "") -> dict[str, Any]:
    """Build the update that gives a run which ended `dead` another ending; `token` as in `closing`."""
    return {
        "TableName": table,
        "Key": {"id": {"S": record_id(run_id)}},
        "UpdateExpression": "SET #owner = :token, #data = :data, ending = :ending",
        "ConditionExpression": WAS_DEAD,
        "ExpressionAttributeNames": {"#owner": "owner", "#data": "data"},
        "ExpressionAttributeValues": {**_ended(outcome, token), ":dead": {"S": Ending.DEAD}},
        "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
    }


def _ended(outcome: Outcome, token: str) -> AttributeValues:
    return {
        ":token": {"S": token},
        ":data": {"S": encode_outcome(outcome)},
        ":ending": {"S": str(outcome.ending)},
    }


def leaving(closes: dict[str, Any], left: Superseded) -> dict[str, Any]:
    """The update of a move, made by `closing` or `taking_back`, with what it leaves for the history."""
    changes = closes["UpdateExpression"].replace("SET ", "SET superseded = :left, ", 1)
    values = {**closes["ExpressionAttributeValues"], ":left": {"S": encode(left)}}
    return {**closes, "UpdateExpression": changes, "ExpressionAttributeValues": values}


def seconds_until(ms: int) -> int:
    """First whole second at or after an instant: a TTL before it has passed."""
    return -(-ms // SECOND)


def encode_outcome(outcome: Outcome) -> str:
    """JSON text of an outcome."""
    return json.dumps(outcome.to_json(), separators=(",", ":"))


def decode_outcome(text: str) -> Outcome:
    """Read what `encode_outcome` wrote, in whatever version."""
    return Outcome.from_json(json.loads(text or "{}"))


def to_run_record(item: Item) -> RunRecord:
    """An item of the Runs table -> the record. A status that is not ours is a newer version's for over."""
    finished = _text(item, "status") != IN_PROGRESS
    return RunRecord(
        run_id=_text(item, "run_id"),
        attempts=_number(item, "attempts") or 0,
        in_progress_until=_number(item, "in_progress_expiration") or 0,
        outcome=decode_outcome(_text(item, "data")) if finished else None,
        owner=_text(item, "owner"),
        started_at=_number(item, "started_at"),
        finished_at=_number(item, "finished_at"),
        failures=tuple(_failure(one["M"]) for one in item.get("failures", {}).get("L", ())),
        starts=tuple(sorted(map(int, item["starts"]["NS"]))) if "starts" in item else (),
        superseded=_superseded(item) if "superseded" in item else None,
    )


def _failure(stored: Item) -> Attempt:
    return Attempt(
        _number(stored, "number") or 0, _number(stored, "at") or 0, _text(stored, "error")
    )


def _superseded(item: Item) -> Superseded:
    return made(Superseded, members(_text(item, "superseded")))


def _text(item: Item, name: str) -> str:
    return str(item[name]["S"]) if name in item else ""


def _number(item: Item, name: str) -> int | None:
    return int(item[name]["N"]) if name in item else None
