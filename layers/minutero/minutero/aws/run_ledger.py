"""The Runs table: who may run what, and how it went. One request a transition."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from minutero.aws.batches import batch_get
from minutero.aws.failures import GuardFailed, Item, ask
from minutero.aws.run_record import (
    COMPLETED,
    IN_PROGRESS,
    NAMES,
    AttributeValues,
    closing,
    encode_outcome,
    record_id,
    seconds_until,
    to_run_record,
)
from minutero.domain.run import Outcome, RunRecord
from minutero.ports import Clock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

STARTABLE = (
    "attribute_not_exists(id) OR"
    " (#status = :in_progress AND in_progress_expiration < :now AND expiration >= :seconds)"
)
"""Start: no attempt yet, or one that failed (its time is 0) or ran out of time without a word."""

RETENTION_PASSED = "attribute_not_exists(id) OR expiration < :seconds"
"""Start afresh: the record has expired and TTL has not come round yet (or just has)."""

OURS_UNFINISHED = "#owner = :owner AND #status = :in_progress"
"""Finish: no other attempt has taken the run since ours started."""

OURS_RUNNING = "#owner = :owner AND #status = :in_progress AND in_progress_expiration <> :failed"
"""Fail: still ours, and not told yet, so that one failure is listed once."""


class DynamoRunLedger:
    """`RunLedger` over the Runs table. `clock` is only slept with, between two tries."""

    def __init__(self, client: "DynamoDBClient", table: str, clock: Clock) -> None:
        self._client = client
        self._table = table
        self._clock = clock

    def start(self, run_id: str, owner: str, now: int, until: int, keep_until: int) -> RunRecord:
        """Start an attempt and count it; `keep_until` in seconds. One unit."""
        values: AttributeValues = {
            ":run_id": {"S": run_id},
            ":owner": {"S": owner},
            ":in_progress": {"S": IN_PROGRESS},
            ":until": {"N": str(until)},
            ":keep_until": {"N": str(keep_until)},
            ":now": {"N": str(now)},
            ":seconds": {"N": str(seconds_until(now))},
            ":one": {"N": "1"},
            ":start": {"NS": [str(now)]},
        }
        try:
            answer = self._update(
                run_id,
                "SET run_id = :run_id, #status = :in_progress, #owner = :owner,"
                " in_progress_expiration = :until, expiration = :keep_until,"
                " started_at = if_not_exists(started_at, :now) ADD attempts :one, starts :start",
                STARTABLE,
                values,
                returns="ALL_NEW",
            )
        except GuardFailed as failed:
            found = failed.found[0]
            if int(found["expiration"]["N"]) < seconds_until(now):
                return self._start_afresh(run_id, values)
            # Also our own start, its answer lost: then the owner in the record is ours.
            return to_run_record(found)
        return to_run_record(answer)

    def _start_afresh(self, run_id: str, values: AttributeValues) -> RunRecord:
        """Replace a record whose retention has passed, its attempts and failures with it."""
        item: AttributeValues = {
            "id": {"S": record_id(run_id)},
            "run_id": values[":run_id"],
            "status": values[":in_progress"],
            "owner": values[":owner"],
            "in_progress_expiration": values[":until"],
            "expiration": values[":keep_until"],
            "started_at": values[":now"],
            "attempts": values[":one"],
            "starts": values[":start"],
        }
        request: Any = {
            "TableName": self._table,
            "Item": item,
            "ConditionExpression": RETENTION_PASSED,
            "ExpressionAttributeValues": {":seconds": values[":seconds"]},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        try:
            ask(lambda: self._client.put_item(**request), self._clock)
        except GuardFailed as failed:
            return to_run_record(failed.found[0])
        return to_run_record(item)

    def finish(self, run_id: str, owner: str, outcome: Outcome, now: int) -> bool:
        """End a run. One unit while the result is small."""
        try:
            self._update(
                run_id,
                "SET #status = :completed, #data = :data, ending = :ending, finished_at = :now",
                OURS_UNFINISHED,
                {
                    ":owner": {"S": owner},
                    ":in_progress": {"S": IN_PROGRESS},
                    ":completed": {"S": COMPLETED},
                    ":data": {"S": encode_outcome(outcome)},
                    ":ending": {"S": str(outcome.ending)},
                    ":now": {"N": str(now)},
                },
            )
        except GuardFailed as failed:
            # Ours and completed: our own try, its answer lost.
            return _is_ours(failed.found[0], owner, COMPLETED)
        return True

    def fail(self, run_id: str, owner: str, error: str, now: int) -> bool:
        """End an attempt, keeping its error. An update, no delete: the attempts must add up.

        Reads first, for the attempt's number, which no update can copy into a list; while the record
        is ours the number cannot change. The read is paid for by failures alone.
        """
        record = self.get(run_id)
        if record is None or record.owner != owner or record.outcome is not None:
            return False
        number = str(record.attempts)
        failure = {"number": {"N": number}, "at": {"N": str(now)}, "error": {"S": error}}
        try:
            self._update(
                run_id,
                "SET in_progress_expiration = :failed,"
                " failures = list_append(if_not_exists(failures, :none), :failure)",
                OURS_RUNNING,
                {
                    ":owner": {"S": owner},
                    ":in_progress": {"S": IN_PROGRESS},
                    ":failed": {"N": "0"},
                    ":none": {"L": []},
                    ":failure": {"L": [{"M": failure}]},
                },
            )
        except GuardFailed as failed:
            # Ours and failed: our own try, its answer lost.
            return _is_ours(failed.found[0], owner, IN_PROGRESS)
        return True

    def close(self, run_id: str, outcome: Outcome, now: int, keep_until: int) -> RunRecord:
        """End a run that nobody is running; `keep_until` in seconds. One unit."""
        request: Any = closing(self._table, run_id, outcome, now, keep_until, given_up=now)
        request["ReturnValues"] = "ALL_NEW"
        try:
            answer: Any = ask(lambda: self._client.update_item(**request), self._clock)
        except GuardFailed as failed:
            # Our own try, its answer lost, reads as closed before, which it is.
            return to_run_record(failed.found[0])
        return to_run_record(answer["Attributes"])

    def known(self, run_ids: Sequence[str]) -> frozenset[str]:
        """Which of up to 100 runs have a record, in one eventually consistent read of keys."""
        return frozenset(self._batch(run_ids, {"ProjectionExpression": "id"}))

    def get_many(self, run_ids: Sequence[str]) -> dict[str, RunRecord]:
        """Read the records of up to 100 runs in one request."""
        items = self._batch(run_ids, {"ConsistentRead": True})
        return {run_id: to_run_record(item) for run_id, item in items.items()}

    def _batch(self, run_ids: Sequence[str], options: Mapping[str, Any]) -> dict[str, Item]:
        by_id = {record_id(run_id): run_id for run_id in run_ids}
        keys: list[AttributeValues] = [{"id": {"S": one}} for one in by_id]
        rows = batch_get(self._client, self._table, keys, self._clock, options)
        return {by_id[row["id"]["S"]]: row for row in rows}

    def get(self, run_id: str) -> RunRecord | None:
        """Read the record of a run."""
        request: Any = {
            "TableName": self._table,
            "Key": {"id": {"S": record_id(run_id)}},
            "ConsistentRead": True,
        }
        answer: Any = ask(lambda: self._client.get_item(**request), self._clock)
        return to_run_record(answer["Item"]) if "Item" in answer else None

    def _update(
        self,
        run_id: str,
        changes: str,
        guard: str,
        values: AttributeValues,
        returns: str = "NONE",
    ) -> AttributeValues:
        used = f"{changes} {guard}"
        request: Any = {
            "TableName": self._table,
            "Key": {"id": {"S": record_id(run_id)}},
            "UpdateExpression": changes,
            "ConditionExpression": guard,
            # DynamoDB refuses names and values that no expression uses.
            "ExpressionAttributeNames": {name: NAMES[name] for name in NAMES if name in used},
            "ExpressionAttributeValues": values,
            "ReturnValues": returns,
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        answer: Any = ask(lambda: self._client.update_item(**request), self._clock)
        return dict(answer.get("Attributes", ()))


def _is_ours(item: Item, owner: str, status: str) -> bool:
    return item.get("owner") == {"S": owner} and item.get("status") == {"S": status}
