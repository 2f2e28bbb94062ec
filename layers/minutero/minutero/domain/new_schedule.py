"""What a client may ask of a schedule, beside the rules it has in common with a task."""

import json
from typing import Any, get_args

from minutero.domain.instants import format_instant, parse_instant
from minutero.domain.new_task import FURTHEST, check_whole, encode_payload, invalid_member
from minutero.domain.schedule import (
    LONGEST_GRACE,
    MOST_CATCH_UP,
    Definition,
    Misfire,
    MisfirePolicy,
)
from minutero.domain.times import Times
from minutero.errors import InvalidInput

REASON_LIMIT = 256


def check_choice(value: Any, field: str, choices: object) -> Any:
    """One of the values of a Literal. Raises InvalidInput, which names them."""
    known = get_args(choices)
    if value not in known:
        said = f"{field} must be {' or '.join(known)}, not {str(value)[:40]!r}"
        raise invalid_member(said, field)
    return value


def check_span(start_at: str | None, end_at: str | None, now: int) -> tuple[int | None, int | None]:
    """Start and end in milliseconds, where they are given. A past start is fine. Raises InvalidInput."""
    start = None if start_at is None else parse_instant(start_at, "start_at")
    end = None if end_at is None else parse_instant(end_at, "end_at")
    if start is not None and start > now + FURTHEST:
        until = format_instant(now + FURTHEST)
        raise invalid_member(
            f"start_at is more than 10 years ahead; send a time before {until}", "start_at"
        )
    if start is not None and end is not None and end <= start:
        raise invalid_member("end_at must be after start_at", "end_at")
    return start, end


def check_misfire(policy: Any, grace_seconds: Any, max_catch_up: Any) -> Misfire:
    """What becomes of times that are found late. Raises InvalidInput."""
    return Misfire(
        check_choice(policy, "misfire.policy", MisfirePolicy),
        check_whole(grace_seconds, "misfire.grace_seconds", 0, LONGEST_GRACE),
        check_whole(max_catch_up, "misfire.max_catch_up", 1, MOST_CATCH_UP),
    )


def check_rule(said: Definition) -> Definition:
    """The definition, if its expression can be read in its zone. Raises InvalidSchedule."""
    _ = Times(said.expression, said.timezone, 0, None, None, said.on_gap, said.on_overlap).rule
    return said


def check_reason(value: str) -> str:
    """Why a schedule is paused; it may be left empty. Raises InvalidInput."""
    if len(value) > REASON_LIMIT or not value.isprintable():
        raise InvalidInput(
            "invalid_reason", f"reason must be up to {REASON_LIMIT} printable characters", "reason"
        )
    return value


def encode_sorted(payload: Any) -> str | None:
    """The text stored of a schedule's payload: the same JSON in another order is the same schedule.

    Raises InvalidInput.
    """
    text = encode_payload(payload)
    if text is None:
        return None
    return json.dumps(json.loads(text), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
