"""Page tokens: where a list goes on, signed by the deployment and bound to the query it belongs to.

A token is opaque, short, and good for nothing else: changed by one character, from another deployment or of
another query it is refused, since reading it as "from the start" would show a client what it has seen.
"""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any

from minutero.errors import InvalidInput

LONGEST = 4_600
"""Characters. Ours have some two hundred. The sort key of a row that makes no sense may have DynamoDB's
1,024 bytes, three times that as JSON escapes, and base64 takes a third more: every token that is given is
also taken."""

_MAC_BYTES = 16

Query = Mapping[str, Any]
"""What the page must be asked for with again; the limit is not part of it."""


def sign(position: Sequence[str | int], query: Query, secret: bytes) -> str:
    """The token of a position: text and whole numbers."""
    text = json.dumps(list(position), separators=(",", ":")).encode()
    return _encode(_mac(text, query, secret) + text)


def read(token: str, query: Query, secret: bytes) -> list[Any]:
    """The position in a token that `sign` made. Raises InvalidInput (`invalid_next_token`)."""
    try:
        raw = base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True)
    except (ValueError, UnicodeError):
        raw = b""
    mac, text = raw[:_MAC_BYTES], raw[_MAC_BYTES:]
    sound = len(token) <= LONGEST and hmac.compare_digest(mac, _mac(text, query, secret))
    # Compared as text too: base64's last character holds bits that decode to nothing.
    if not sound or _encode(raw) != token:
        raise InvalidInput(
            "invalid_next_token",
            "next_token is none of this query's; send the one its last page gave, with the same "
            "filters, or leave it out to begin anew",
            "next_token",
        )
    return list(json.loads(text))


def _mac(text: bytes, query: Query, secret: bytes) -> bytes:
    asked = json.dumps(query, sort_keys=True, separators=(",", ":")).encode()
    bound = len(asked).to_bytes(4, "big") + asked + text
    return hmac.digest(secret, bound, hashlib.sha256)[:_MAC_BYTES]


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
