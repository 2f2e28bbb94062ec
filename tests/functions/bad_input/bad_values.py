"""Values that no door takes, by the field they stand in."""

from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

SOON, NEXT, LATER = (
    f"{datetime.now(UTC) + timedelta(hours=3, seconds=seconds):%Y-%m-%dT%H:%M:%SZ}"
    for seconds in (0, 1, 3600)
)
TIMES = [
    "",
    "soon",
    "2026-12-01",
    "2026-12-01T09:00:00",
    "2026-12-01T09:00:00+0600",
    "2026-02-30T09:00:00Z",
    "2016-12-31T23:59:60Z",
    "2026-12-01T24:00:00Z",
    "2026-12-01T09:00:00+24:00",
    "2026-12-01T09:00:00Z\n",
    "2026-12-01T09:00:00Z\x00",
    "1793511000",
    "1793511000000",
    "-1",
]
FIELDS = {
    "job": ["", 5, True, [], "a b", "a/b", "x" * 129, "echo\n", "e\x00cho", "\x1b[31m", "é"],
    "run_at": [
        *TIMES,
        *("2099-01-01T00:00:00Z", "9999-12-31T23:59:59-01:00"),
        *(1_793_511_000_000, 1_793_511_000, 253_402_300_800, -1, 0, 1.5, True, [], {}, 10**400),
    ],
    "delay_seconds": [-1, -0.001, "5", True, [], 315_619_201, 1_793_511_000_000, 1e300, 10**400],
    "key": ["", 5, True, [], "x" * 257, "a\nb", "a\x00", "\x7f", "a\u200bb", "a\u2028b", "\ue000"],
    "tenant": ["", 5, True, "a b", "a#b", "x" * 129, "a\n", "a\x00", "\uff41"],
    "max_attempts": [0, 21, -1, 2.5, "5", True, False, [], 10**400],
    "expires_after_seconds": [0, -1, 1.5, "5", True, 366 * 86_400 + 1, 10**400],
}


def query(**parameters):
    """A query string; `from_` is `from`. Lone surrogates are sent as they stand."""
    return urlencode(
        {
            name.rstrip("_"): str(value).encode("utf-8", "surrogatepass")
            for name, value in parameters.items()
        }
    )
