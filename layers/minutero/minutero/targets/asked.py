"""The payload of a target, read member by member."""

from typing import Any

from minutero.errors import PermanentFailure


def members(payload: Any, needed: dict[str, type], optional: dict[str, type]) -> dict[str, Any]:
    """The payload's members. Raises PermanentFailure, which says what to send: no other attempt helps."""
    known = {**needed, **optional}
    if not isinstance(payload, dict):
        raise PermanentFailure(f"the payload must be an object with {', '.join(known)}")
    unknown = payload.keys() - known.keys()
    if unknown:
        raise PermanentFailure(
            f"the payload has {min(unknown)!r}, which means nothing here; send {', '.join(known)}"
        )
    for name, wanted in known.items():
        if name in payload and not isinstance(payload[name], wanted):
            raise PermanentFailure(f"{name} must be {_WORDS[wanted]}")
        if name in needed and name not in payload:
            raise PermanentFailure(f"the payload has no {name}; send {', '.join(known)}")
    return payload


_WORDS = {str: "text", dict: "an object", object: "JSON"}
