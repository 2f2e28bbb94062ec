"""What a client may ask for, checked by one set of rules whichever door it came through."""

import hashlib
import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import Any

from minutero.domain.instants import DAY, SECOND, format_instant, meant_as
from minutero.errors import InvalidInput

PAYLOAD_LIMIT = 256 * 1024
INLINE_PAYLOAD_LIMIT = 600
"""Bytes of a payload kept in the task item: an item under 1 KB costs one write unit a touch."""

KEY_LIMIT = 256
NESTING_LIMIT = 32
FURTHEST = 3653 * DAY
"""Ten years ahead."""

NAME = "[A-Za-z0-9._-]{1,128}"
_DIGITS_LIMIT = 4_300
_encode = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class NewTask:
    """A task as a client asks for it. `run_at` and `delay` in milliseconds; neither means now.

    `payload` is JSON text, or None when there is none.
    """

    job: str
    payload: str | None = None
    run_at: int | None = None
    delay: int | None = None
    key: str = ""
    tenant: str = ""
    max_attempts: int = 5
    expires_after_seconds: int | None = None

    def due(self, now: int) -> int:
        """The instant it is due: a past one means now. Raises InvalidInput for one too far ahead."""
        return due_at(self.run_at, self.delay, now)


def due_at(run_at: int | None, delay: int | None, now: int) -> int:
    """The instant meant by a time or a delay, in milliseconds; neither, or a past one, means now.

    Raises InvalidInput for one more than ten years ahead.
    """
    wanted = now + delay if delay is not None else run_at
    if wanted is not None and wanted > now + FURTHEST:
        field = "run_at" if delay is None else "delay_seconds"
        raise InvalidInput(
            f"invalid_{field}",
            f"{field} is more than 10 years ahead; send a time before {format_instant(now + FURTHEST)}",
            field,
        )
    return max(now, wanted if wanted is not None else now)


def invalid_member(message: str, field: str) -> InvalidInput:
    """The refusal of a member of a body. Of one within another (`misfire.policy`) the code names the outer
    one."""
    return InvalidInput(f"invalid_{field.partition('.')[0]}", message, field)


def check_name(value: object, field: str) -> str:
    """Job, schedule name or tenant. Raises InvalidInput."""
    if not isinstance(value, str) or not re.fullmatch(NAME, value):
        raise no_name(field)
    return value


def no_name(field: str) -> InvalidInput:
    """The refusal of what was sent as a name and is none."""
    return invalid_member(f"{field} must be 1 to 128 characters of A-Z a-z 0-9 . _ -", field)


def check_key(value: object) -> str:
    """A client's key. Raises InvalidInput."""
    if not isinstance(value, str) or not (1 <= len(value) <= KEY_LIMIT and value.isprintable()):
        raise InvalidInput(
            "invalid_key", f"key must be 1 to {KEY_LIMIT} printable characters", "key"
        )
    return value


def check_whole(value: Any, field: str, least: int, most: int) -> int:
    """A whole number within bounds; booleans are none. Raises InvalidInput."""
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise invalid_member(f"{field} must be a whole number from {least} to {most}", field)
    return value


def check_delay(value: Any) -> int:
    """`delay_seconds` -> milliseconds, rounded up. Raises InvalidInput."""
    most = FURTHEST // SECOND
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= most:
        meant = meant_as(value)
        hint = f"; it looks like {meant[0]} since 1970: send run_at {meant[1]}" if meant else ""
        raise InvalidInput(
            "invalid_delay_seconds",
            f"delay_seconds must be a number from 0 to {most}{hint}",
            "delay_seconds",
        )
    return -int(-value * SECOND // 1)


def encode_payload(payload: Any) -> str | None:
    """A JSON value -> the text stored. Raises InvalidInput for what JSON or the limits do not allow."""
    if payload is None:
        return None
    check_nesting(payload)
    try:
        text = _encode(payload)
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidInput(
            "invalid_payload", "payload holds a lone surrogate; send whole characters", "payload"
        ) from None
    except (TypeError, ValueError) as error:
        raise InvalidInput(
            "invalid_payload",
            f"payload is not JSON ({error}); send null, text, numbers, lists, objects",
            "payload",
        ) from None
    if size > PAYLOAD_LIMIT:
        raise InvalidInput(
            "payload_too_large",
            f"payload is {size} bytes of JSON, the limit is {PAYLOAD_LIMIT}; "
            "store it elsewhere and send its address",
            "payload",
        )
    return text


def check_nesting(value: Any, field: str = "payload") -> None:
    """Refuses a JSON value nested deeper than 32, or with two members that JSON would call the same. Walks
    with its own stack: the depth may be anything."""
    level = [value]
    for _ in range(NESTING_LIMIT + 1):
        containers = [node for node in level if isinstance(node, dict | list | tuple)]
        if not containers:
            return
        level = []
        for node in containers:
            if isinstance(node, dict):
                _check_names(node, field)
            level.extend(node.values() if isinstance(node, dict) else node)
    raise InvalidInput(
        f"invalid_{field}",
        f"{field} is nested deeper than {NESTING_LIMIT} levels; flatten it",
        field,
    )


def _check_names(members: dict[Any, Any], field: str) -> None:
    if {str}.issuperset(map(type, members)):
        return
    # Python's 1 and "1" are two members; written as JSON they are one, and the first is lost.
    names = {name if isinstance(name, str) else _written(name) for name in members}
    if len(names) < len(members):
        raise InvalidInput(
            f"invalid_{field}", f"{field} has a member twice, as text and as a number", field
        )


def _written(name: Any) -> Any:
    try:
        return json.dumps(name)
    except (TypeError, ValueError):
        return name


def parse_json(text: str | bytes) -> Any:
    """Strict JSON: no NaN or Infinity, no duplicate members, no lone surrogates, no endless integers.

    Raises InvalidInput (`invalid_json`).
    """
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8")
        value = json.loads(
            text,
            object_pairs_hook=_members,
            parse_constant=_no_constant,
            parse_int=_bounded_int,
            parse_float=_finite,
        )
        json.dumps(value, ensure_ascii=False).encode()
    except InvalidInput:
        raise
    except UnicodeError:
        raise InvalidInput(
            "invalid_json", "the body is not whole UTF-8 text; send JSON in UTF-8"
        ) from None
    except RecursionError:
        raise InvalidInput(
            "invalid_json", f"nested too deep; at most {NESTING_LIMIT} levels"
        ) from None
    except ValueError as error:
        marked = text[:1] == "\ufeff"
        why = "it begins with a byte order mark; send it without" if marked else error
        raise InvalidInput("invalid_json", f"the body is not JSON: {why}") from None
    return value


def body_hash(body: dict[str, Any]) -> str:
    """Hash of a parsed body, its members sorted, before defaults are filled in: the same request again
    has the same hash, whatever the order of its members."""
    text = json.dumps(body, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        twice = next(
            name for name, times in Counter(name for name, _ in pairs).items() if times > 1
        )
        raise InvalidInput(
            "invalid_json", f"member {twice[:80]!r} stands twice in one object; send it once"
        )
    return members


def _no_constant(name: str) -> Any:
    raise InvalidInput("invalid_json", f"{name} is not JSON; send a number, a string or null")


def _bounded_int(digits: str) -> int:
    if len(digits) > _DIGITS_LIMIT - 1:
        raise InvalidInput("invalid_json", "an integer is too long; send it as a string")
    return int(digits)


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise InvalidInput("invalid_json", f"{text[:40]} is no finite number; send it as a string")
    return value
