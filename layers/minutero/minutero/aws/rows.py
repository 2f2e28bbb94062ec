"""Between the domain's values and the items of the Tasks table."""

import logging
from collections.abc import Mapping
from typing import Any, get_args

from minutero.aws.compact import encode, made, members
from minutero.aws.tables import PAYLOAD_SK, DeadLetterItem, TaskItem
from minutero.domain.buckets import CLAIM_PREFIX, claim_sort_key, parse_bucket
from minutero.domain.exchanged import DeadLetter
from minutero.domain.instants import SECOND, format_instant
from minutero.domain.occurrence import Occurrence, Overlap, Trigger
from minutero.domain.task import KeyRecord, OpenClaim, Place, State, Task, read_sort_key

logger = logging.getLogger(__name__)

Row = Mapping[str, Mapping[str, Any]]
"""An item as DynamoDB's API has it."""

DEFAULT_MAX_ATTEMPTS = 5
"""Of a task whose item does not say."""

KNOWN = frozenset(TaskItem.get_attributes())
"""Attributes of a task's item; what else there is, a newer version wrote."""


def task_attributes(task: Task) -> dict[str, Any]:
    """The attributes of a task's item; what says nothing is left out, since bytes are billed."""
    attributes = {
        "bucket": task.place.bucket,
        "sk": task.place.sk,
        "state": str(task.state),
        "job": task.job,
        "run_at": task.run_at,
        "created_at": task.created_at,
        "expires_at": task.keep_until,
        "max_attempts": task.max_attempts,
        "payload": None if task.large else task.payload,
        "large": task.large or None,
        "tenant": task.tenant or None,
        "key": task.key or None,
        "expires_after": task.expires_after_seconds,
        "claim_id": task.claim_id or None,
        "claimed_at": task.claimed_at,
        "moved_bucket": task.moved_to.bucket if task.moved_to else None,
        "moved_sk": task.moved_to.sk if task.moved_to else None,
        "attempts_before": task.attempts_before or None,
        "occurrence": encode(task.occurrence) if task.occurrence else None,
    }
    return {name: value for name, value in attributes.items() if value is not None}


def payload_attributes(task: Task) -> dict[str, Any]:
    """The attributes of the item of a large payload, which expires with its task."""
    return {
        "bucket": payload_bucket(task.task_id),
        "sk": PAYLOAD_SK,
        "payload": task.payload,
        "expires_at": task.keep_until,
    }


def raw_item(attributes: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Attributes as DynamoDB's API has them. By hand: PynamoDB takes ten times as long."""
    return {name: _raw_value(value) for name, value in attributes.items()}


def _raw_value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"BOOL": value}
    return {"S": value} if isinstance(value, str) else {"N": str(value)}


def to_task(row: Row) -> Task:
    """A task's item -> the task, without a payload that lies elsewhere. Raises ValueError or KeyError when
    it makes no sense. By hand: PynamoDB takes ten times as long, and a worker does this for each task."""
    bucket, sk = row["bucket"]["S"], row["sk"]["S"]
    task_id, run_no = read_sort_key(sk)
    moved_sk = _text(row, "moved_sk")
    occurrence = _text(row, "occurrence")
    return Task(
        task_id=task_id,
        run_no=run_no,
        place=Place(bucket, sk),
        job=_text(row, "job") or "",
        run_at=int(row["run_at"]["N"]),
        created_at=_whole(row, "created_at") or 0,
        keep_until=_whole(row, "expires_at") or 0,
        payload=_text(row, "payload"),
        large="large" in row and bool(row["large"]["BOOL"]),
        state=State(row["state"]["S"]),
        tenant=_text(row, "tenant") or "",
        key=_text(row, "key") or "",
        max_attempts=_whole(row, "max_attempts") or DEFAULT_MAX_ATTEMPTS,
        expires_after_seconds=_whole(row, "expires_after"),
        claim_id=_text(row, "claim_id") or "",
        claimed_at=_whole(row, "claimed_at"),
        moved_to=Place(row["moved_bucket"]["S"], moved_sk) if moved_sk else None,
        attempts_before=_whole(row, "attempts_before") or 0,
        occurrence=None if occurrence is None else read_occurrence(occurrence),
        carried={name: row[name] for name in row.keys() - KNOWN},
    )


def _text(row: Row, name: str) -> str | None:
    return row[name]["S"] if name in row else None


def _whole(row: Row, name: str) -> int | None:
    return int(row[name]["N"]) if name in row else None


def read_occurrence(text: str) -> Occurrence:
    """The text of a task's `occurrence` -> the value. Raises ValueError."""
    said = members(text)
    trigger = Trigger(said.get("trigger", Trigger.SCHEDULE))
    overlap = said.get("overlap", "allow")
    if overlap not in get_args(Overlap):
        # A newer version's: none is left out that way, and none overlaps.
        overlap = "queue"
    return made(Occurrence, {**said, "trigger": trigger, "overlap": overlap})


def read_task(row: Row) -> Task:
    """A raw item -> the task.

    One that makes no sense becomes a task without a job, so that who runs it finds no such job and makes
    it dead: neither skipped nor in the way. Raises ValueError only when the sort key is no task's.
    """
    try:
        return to_task(row)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        place = Place(row["bucket"]["S"], row["sk"]["S"])
        task_id, run_no = read_sort_key(place.sk)
        told = {"task_id": task_id, "bucket": place.bucket, "sk": place.sk, "error": str(error)}
        logger.error("unreadable task", extra=told)  # noqa: TRY400 - no trace wanted
        minute, _ = parse_bucket(place.bucket)
        due = minute + int(place.sk[:2]) * SECOND
        # A tick may have made it dead, and listed it.
        state = State.DEAD if row.get("state") == {"S": str(State.DEAD)} else State.CLAIMED
        return Task(task_id, run_no, place, "", due, due, due // SECOND, state=state)


def read_open_claim(bucket: str, sk: str) -> OpenClaim:
    """Sort key of an open claim -> the claim. Raises ValueError for anything else."""
    opened_at, _, claim_id = sk.removeprefix(CLAIM_PREFIX).partition("#")
    claim = OpenClaim(bucket, claim_id, int(opened_at))
    if claim_sort_key(claim.opened_at, claim_id) != sk or not claim_id:
        raise ValueError(f"not the sort key of an open claim: {sk!r}")
    return claim


def key_bucket(tenant: str, key: str) -> str:
    """Partition of a key's item. Tenants hold no `#`, so two pairs never meet in one."""
    return f"key#{tenant}#{key}"


def to_key_record(tenant: str, key: str, row: Row) -> KeyRecord:
    """A key's item -> the record."""
    task_id, body_hash = row["task_id"]["S"], row["body_hash"]["S"]
    return KeyRecord(tenant, key, task_id, body_hash, int(row["expires_at"]["N"]))


def payload_bucket(task_id: str) -> str:
    """Partition of the item of a large payload."""
    return f"payload#{task_id}"


def dead_bucket(day: str, shard: int) -> str:
    """Partition of the runs that died on a UTC day (`2026-11-29`)."""
    return f"dead#{day}#{shard:02d}"


def dead_sort_key(letter: DeadLetter) -> str:
    """Oldest first; unlike for two runs that die in the same millisecond."""
    return f"{letter.died_at:014d}#{letter.run_id}"


def dead_letter_attributes(letter: DeadLetter) -> dict[str, Any]:
    """Attributes of a letter's row; the shard is that of the place, so that the rows are spread."""
    attributes = {
        "bucket": dead_bucket(
            format_instant(letter.died_at)[:10], parse_bucket(letter.place.bucket)[1]
        ),
        "sk": dead_sort_key(letter),
        "task_bucket": letter.place.bucket,
        "task_sk": letter.place.sk,
        "job": letter.job,
        "tenant": letter.tenant or None,
        "reason": letter.reason,
        "expires_at": letter.keep_until,
    }
    return {name: value for name, value in attributes.items() if value is not None}


def to_dead_letter(item: DeadLetterItem) -> DeadLetter:
    """A row of the list of dead runs -> the letter."""
    died_at, _, run_id = item.sk.partition("#")
    return DeadLetter(
        run_id=run_id,
        place=Place(item.task_bucket, item.task_sk),
        job=item.job,
        tenant=item.tenant or "",
        reason=item.reason,
        died_at=int(died_at),
        keep_until=int(item.expires_at),
    )
