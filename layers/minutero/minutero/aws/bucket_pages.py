"""Buckets: pages of what is due, and the open claims."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from minutero.aws.rows import read_occurrence, read_open_claim, read_task
from minutero.aws.tables import OPEN
from minutero.aws.tasks_table import TasksTable
from minutero.domain.buckets import CLAIM_PREFIX, claim_sort_key
from minutero.domain.exchanged import Page, Taken
from minutero.domain.task import OpenClaim, Place, Pointer, State, Task, read_sort_key

PAGE = 500
"""Items DynamoDB looks at for one page: under its 1 MB, and soon enough sent on."""

WAITING = "#state IN (:scheduled, :open) OR NOT attribute_type(#state, :text)"
"""A tick's page: what is scheduled, open claims, and rows whose state is missing or no text. A state this
version does not know is a newer version's business."""

CLAIMED_UNDER = "#state = :claimed AND #claim_id = :claim_id"
"""A rescue's page: what that very claim took."""

CLAIMED = "#state = :claimed"
"""An audit's page: what somebody took."""

LISTED = "NOT #state = :moved"
"""A page for people: all but addresses, rows that make no sense among it."""

OF_THE_JOB = "#job = :job"
"""The same, when one job is asked for."""

IS_OPEN = "#state = :open"
"""Of the rows behind the tasks, those that nobody has made dead."""

WANTED = {
    "#sk": "sk",
    "#state": "state",
    "#run_at": "run_at",
    "#job": "job",
    "#tenant": "tenant",
    "#large": "large",
    "#occurrence": "occurrence",
}
PROJECTION = ", ".join(WANTED)
"""What dispatch needs; the rest of an item is parsed for nothing."""

Row = dict[str, dict[str, Any]]


class BucketPages(TasksTable):
    """The part of `TaskStore` that reads buckets. All reads are consistent."""

    def page(self, bucket: str, after: str | None = None) -> Page:
        """One page: what is `scheduled`, open claims, and what cannot be read."""
        answer = self._query(
            bucket,
            after,
            FilterExpression=WAITING,
            ProjectionExpression=PROJECTION,
            ExpressionAttributeNames=WANTED,
            ExpressionAttributeValues={
                ":bucket": {"S": bucket},
                ":scheduled": {"S": State.SCHEDULED},
                ":open": {"S": OPEN},
                ":text": {"S": "S"},
            },
        )
        return _read_page(bucket, answer)

    def page_claimed(self, bucket: str, claim_id: str, after: str | None = None) -> Page:
        """One page of what is claimed under that claim, as `scheduled`."""
        answer = self._query(
            bucket,
            after,
            FilterExpression=CLAIMED_UNDER,
            ProjectionExpression=PROJECTION,
            ExpressionAttributeNames={**WANTED, "#claim_id": "claim_id"},
            ExpressionAttributeValues={
                ":bucket": {"S": bucket},
                ":claimed": {"S": State.CLAIMED},
                ":claim_id": {"S": claim_id},
            },
        )
        return _read_page(bucket, answer)

    def page_taken(
        self, bucket: str, after: str | None = None
    ) -> tuple[Sequence[Taken], str | None]:
        """One page of what is claimed, and since when."""
        answer = self._query(
            bucket,
            after,
            FilterExpression=CLAIMED,
            ProjectionExpression=f"{PROJECTION}, claimed_at",
            ExpressionAttributeNames=WANTED,
            ExpressionAttributeValues={
                ":bucket": {"S": bucket},
                ":claimed": {"S": State.CLAIMED},
            },
        )
        found = (_or_none(_taken, bucket, row) for row in answer["Items"])
        return [taken for taken in found if taken is not None], _next(answer)

    def page_tasks(
        self, bucket: str, after: str, job: str, most: int
    ) -> tuple[Sequence[Task], str | None]:
        """One page of whole tasks. `after` may be any text, so it is a bound and no key to start from."""
        if after >= CLAIM_PREFIX:
            return [], None
        wanted, names = LISTED, {"#sk": "sk", "#state": "state"}
        values = {
            ":bucket": {"S": bucket},
            # The least text beyond `after`.
            ":first": {"S": f"{after}\0"},
            ":last": {"S": CLAIM_PREFIX},
            ":moved": {"S": State.MOVED},
        }
        if job:
            wanted = f"{LISTED} AND {OF_THE_JOB}"
            names["#job"], values[":job"] = "job", {"S": job}
        answer = self._query(
            bucket,
            None,
            KeyConditionExpression="#bucket = :bucket AND #sk BETWEEN :first AND :last",
            FilterExpression=wanted,
            ExpressionAttributeNames=names,
            ExpressionAttributeValues=values,
            Limit=most,
        )
        found = (_or_none(read_task, row) for row in answer["Items"])
        return [task for task in found if task is not None], _next(answer)

    def open_claims(self, bucket: str) -> Sequence[OpenClaim]:
        """All open claims of a bucket, oldest first. Rows that are none are `page`'s to report."""
        return [
            claim
            for row in self._rows_of_claims(bucket)
            if (claim := _or_none(read_open_claim, bucket, row["sk"]["S"])) is not None
        ]

    def _rows_of_claims(self, bucket: str) -> Iterator[Row]:
        after: str | None = None
        while True:
            answer = self._query(
                bucket,
                after,
                KeyConditionExpression="#bucket = :bucket AND begins_with(#sk, :prefix)",
                FilterExpression=IS_OPEN,
                ProjectionExpression="#sk",
                ExpressionAttributeNames={"#sk": "sk", "#state": "state"},
                ExpressionAttributeValues={
                    ":bucket": {"S": bucket},
                    ":prefix": {"S": CLAIM_PREFIX},
                    ":open": {"S": OPEN},
                },
            )
            yield from answer["Items"]
            after = _next(answer)
            if after is None:
                return

    def _query(self, bucket: str, after: str | None, **parts: Any) -> dict[str, Any]:
        request: dict[str, Any] = {
            "TableName": self._tables.names.tasks,
            "KeyConditionExpression": "#bucket = :bucket",
            "ConsistentRead": True,
            "Limit": PAGE,
            **parts,
        }
        request["ExpressionAttributeNames"] = {
            **parts["ExpressionAttributeNames"],
            "#bucket": "bucket",
        }
        if after is not None:
            request["ExclusiveStartKey"] = {"bucket": {"S": bucket}, "sk": {"S": after}}
        answer: Any = self._ask(lambda: self._tables.client.query(**request))
        return dict(answer)

    def open_claim(self, claim: OpenClaim) -> None:
        """Writes the note. No guard: its claim id is fresh, writing it twice is writing it once."""
        request: Any = {
            "TableName": self._tables.names.tasks,
            "Item": {**_claim_key(claim), "state": {"S": OPEN}},
        }
        self._ask(lambda: self._tables.client.put_item(**request))

    def close_claim(self, claim: OpenClaim) -> None:
        """Deletes the note, and only this one."""
        request: Any = {"TableName": self._tables.names.tasks, "Key": _claim_key(claim)}
        self._ask(lambda: self._tables.client.delete_item(**request))


def _claim_key(claim: OpenClaim) -> Row:
    """The sort key says all there is. The item has no TTL: only who has finished the batch may delete it."""
    return {
        "bucket": {"S": claim.bucket},
        "sk": {"S": claim_sort_key(claim.opened_at, claim.claim_id)},
    }


def _read_page(bucket: str, answer: dict[str, Any]) -> Page:
    scheduled: list[Pointer] = []
    claims: list[OpenClaim] = []
    unreadable: list[str] = []
    for row in answer["Items"]:
        sk = row["sk"]["S"]
        if sk.startswith(CLAIM_PREFIX):
            claim = _or_none(read_open_claim, bucket, sk) if _is_text(row, "state") else None
            unreadable.append(sk) if claim is None else claims.append(claim)
        else:
            pointer = _or_none(_pointer, bucket, row)
            unreadable.append(sk) if pointer is None else scheduled.append(pointer)
    return Page(scheduled, claims, unreadable, _next(answer))


def _pointer(bucket: str, row: Row) -> Pointer:
    read_sort_key(row["sk"]["S"])
    if not (_is_text(row, "state") and _is_text(row, "job")):
        raise ValueError("no task")
    return Pointer(
        Place(bucket, row["sk"]["S"]),
        int(row["run_at"]["N"]),
        row["tenant"]["S"] if "tenant" in row else "",
        "large" in row and bool(row["large"]["BOOL"]),
        read_occurrence(row["occurrence"]["S"]) if "occurrence" in row else None,
    )


def _taken(bucket: str, row: Row) -> Taken:
    return Taken(_pointer(bucket, row), int(row["claimed_at"]["N"]))


def _is_text(row: Row, name: str) -> bool:
    return "S" in row.get(name, ())


def _or_none(read: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return read(*arguments)
    except (ValueError, KeyError):
        return None


def _next(answer: dict[str, Any]) -> str | None:
    last = answer.get("LastEvaluatedKey")
    return str(last["sk"]["S"]) if last else None
