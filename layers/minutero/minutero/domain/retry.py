"""When a failed attempt is tried again."""

from minutero.domain.instants import MINUTE, SECOND

FIRST_DELAY = 2 * SECOND
LONGEST_DELAY = 15 * MINUTE
"""SQS's longest DelaySeconds, so that a retry never needs more than one message."""


def backoff(attempt: int, chance: float) -> int:
    """Milliseconds until the attempt after number `attempt` (1 and up) may start.

    Doubles from 2 s to 15 minutes; `chance` (0 to 1) spreads it over its upper half, so that tasks which
    failed together do not come back together, and none comes back at once.
    """
    ceiling = min(LONGEST_DELAY, FIRST_DELAY << min(attempt - 1, 20))
    return round(ceiling * (0.5 + chance / 2))
