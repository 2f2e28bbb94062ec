"""Between the domain's values and the items of the Schedules table."""

import hashlib
import json
import logging
from collections.abc import Mapping
from typing import Any

from minutero.aws.compact import dump, encode, made, members
from minutero.aws.tables import FateItem, ScheduleItem
from minutero.domain.schedule import Definition, Fate, Link, Misfire, Schedule, partition_of
from minutero.domain.times import Times

logger = logging.getLogger(__name__)

Row = Mapping[str, Mapping[str, Any]]


def schedule_partition(number: int) -> str:
    """One of the partitions of the rows of schedules."""
    return f"schedules#{number:02d}"


def schedule_key(name: str) -> dict[str, Any]:
    """Where a schedule's row lies."""
    return {"partition": schedule_partition(partition_of(name)), "name": name}


def payload_partition(name: str) -> str:
    """Partition of the item of a schedule's payload."""
    return f"payload#{name}"


def schedule_attributes(schedule: Schedule) -> dict[str, Any]:
    """The attributes of a schedule's row beside its key; None where there is nothing to say.

    A schedule that was read and is written again says the same of what has not changed.
    """
    pending = schedule.pending
    return {
        "version": schedule.version,
        "created_at": schedule.created_at,
        "changed_at": schedule.changed_at,
        "anchor": schedule.anchor,
        "definition": encode(schedule.definition, "payload"),
        "payload_hash": payload_hash(schedule.definition.payload),
        "pending_task": pending.task_id if pending else None,
        "pending_time": pending.nominal if pending else None,
        "pending_run_at": pending.run_at if pending else None,
        "fired": _encode_links(schedule.fired) if schedule.fired else None,
        "catch_up_until": schedule.catch_up_until or None,
        "paused_since": schedule.paused_since,
        "paused_reason": schedule.paused_reason or None,
        "fired_at": schedule.fired_at or None,
    }


def payload_hash(payload: str | None) -> str | None:
    """Row and payload are read in one request and yet apart: the hash tells whether they belong together."""
    if payload is None:
        return None
    return hashlib.blake2b(payload.encode(), digest_size=12).hexdigest()


def read_schedule(
    model: type[ScheduleItem], row: dict[str, dict[str, Any]], payload: str | None = None
) -> Schedule | None:
    """A raw row, and its payload -> the schedule; None, and an error in the log, when it makes no sense."""
    try:
        return _to_schedule(model.from_raw_data(row), payload)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        told = {"schedule": row["name"]["S"], "error": str(error)}
        logger.error("unreadable schedule", extra=told)  # noqa: TRY400 - no trace wanted
        return None


def _to_schedule(item: ScheduleItem, payload: str | None) -> Schedule:
    pending = None
    if item.pending_task:
        pending = Link(int(item.pending_time), int(item.pending_run_at), item.pending_task)
    return Schedule(
        name=item.name,
        version=int(item.version),
        definition=_definition(item.definition, payload),
        anchor=int(item.anchor),
        created_at=int(item.created_at),
        changed_at=int(item.changed_at),
        pending=pending,
        fired=_links(item.fired) if item.fired else (),
        catch_up_until=int(item.catch_up_until or 0),
        paused_since=_whole(item.paused_since),
        paused_reason=item.paused_reason or "",
        fired_at=int(item.fired_at or 0),
    )


def _whole(number: float | None) -> int | None:
    return None if number is None else int(number)


def _definition(text: str, payload: str | None) -> Definition:
    said = members(text)
    misfire = made(Misfire, said.get("misfire", {}))
    return made(Definition, {**said, "payload": payload, "misfire": misfire})


def _encode_links(links: tuple[Link, ...]) -> str:
    return dump([[link.nominal, link.run_at, link.task_id] for link in links])


def _links(text: str) -> tuple[Link, ...]:
    return tuple(
        Link(int(nominal), int(run_at), str(task_id))
        for nominal, run_at, task_id, *_ in json.loads(text)
    )


def fates_partition(name: str) -> str:
    """Partition of what became of a schedule's times."""
    return f"fates#{name}"


def fate_key(name: str, first: int) -> dict[str, Any]:
    """Where the fate that begins with that time lies."""
    return {"partition": fates_partition(name), "name": f"{first:014d}"}


def fate_attributes(name: str, fate: Fate, keep_until: int) -> dict[str, Any]:
    """The attributes of a fate's item."""
    attributes = {
        **fate_key(name, fate.first),
        "fate": fate.name,
        "last": fate.last,
        "times": encode(fate.times),
        "task_id": fate.task_id or None,
        "expires_at": keep_until,
    }
    return {name: value for name, value in attributes.items() if value is not None}


def read_fate(model: type[FateItem], row: dict[str, dict[str, Any]]) -> Fate | None:
    """A raw item -> the fate; None, and an error in the log, when it makes no sense."""
    try:
        item = model.from_raw_data(row)
        name: Any = item.fate
        times = made(Times, members(item.times))
        return Fate(name, int(item.name), int(item.last), times, item.task_id or "")
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        told = {"partition": row["partition"]["S"], "name": row["name"]["S"], "error": str(error)}
        logger.error("unreadable fate", extra=told)  # noqa: TRY400 - no trace wanted
        return None
