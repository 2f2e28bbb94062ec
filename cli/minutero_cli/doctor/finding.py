"""What a check has found."""

from dataclasses import dataclass
from enum import StrEnum


class State(StrEnum):
    """FAILED: something does not work, or a promise does not hold. WARNING: it may come to that."""

    OK = "ok"
    WARNING = "warning"
    FAILED = "failed"
    NOT_CHECKED = "not checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at: `what` it is, what was `found`, and the `advice`, what to do about it."""

    state: State
    what: str
    found: str
    advice: str = ""


def ok(what: str, found: str) -> Finding:
    """As it should be."""
    return Finding(State.OK, what, found)


def warning(what: str, found: str, advice: str) -> Finding:
    """It works, and may not for long, or not for everything."""
    return Finding(State.WARNING, what, found, advice)


def failed(what: str, found: str, advice: str) -> Finding:
    """It does not work, or a promise does not hold."""
    return Finding(State.FAILED, what, found, advice)


def not_checked(what: str, why: str) -> Finding:
    """Nobody could look."""
    return Finding(State.NOT_CHECKED, what, why)


DEPLOY_AGAIN = "put back what template.yaml says: somebody has changed it"
