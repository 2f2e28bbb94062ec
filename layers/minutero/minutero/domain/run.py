"""A run record and the outcomes a run can have."""

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

RESULT_LIMIT = 32_768
"""Longest result kept, in bytes of JSON; a longer one is dropped and the run still succeeds."""

ERROR_LIMIT = 500
"""Characters kept of an error's text."""


class Ending(StrEnum):
    """How a run ended. `cancelled` and `superseded` close a run that nobody runs; `discarded` is a dead one
    that was taken off the list. `unknown` is what a newer version wrote: over, and never written here."""

    SUCCEEDED = "succeeded"
    SKIPPED = "skipped"
    EXPIRED = "expired"
    DEAD = "dead"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"
    DISCARDED = "discarded"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, value: object) -> "Ending":  # noqa: ARG003 - whatever it is, it is an ending
        return cls.UNKNOWN


TOLD_AS = {Ending.DISCARDED: Ending.DEAD}
"""Endings that came later, and what a version that does not know them is to take them for."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended, with the JSON text of its result or the reason. `note` tells what was left out."""

    ending: Ending
    result: str | None = None
    reason: str = ""
    note: str = ""

    def to_json(self) -> dict[str, str]:
        """The members that say something, as stored in the run record: `ending`, which every version reads,
        and `exactly` where a newer one can tell more."""
        ending = TOLD_AS.get(self.ending, self.ending)
        members = {
            "exactly": "" if ending is self.ending else str(self.ending),
            "result": self.result,
            "reason": self.reason,
            "note": self.note,
        }
        return {"ending": str(ending), **{name: text for name, text in members.items() if text}}

    @classmethod
    def from_json(cls, stored: dict[str, Any]) -> "Outcome":
        """Reads what `to_json` wrote; members and endings of a newer version are passed over."""
        exactly = Ending(stored.get("exactly", ""))
        return cls(
            Ending(stored.get("ending", "")) if exactly is Ending.UNKNOWN else exactly,
            stored.get("result"),
            stored.get("reason", ""),
            stored.get("note", ""),
        )


_ENCODER = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":"))


def succeeded(result: Any) -> Outcome:
    """The outcome of a job that returned. What cannot be stored is dropped, with a note: the work is done,
    and running it again because its answer is too long would do it twice."""
    if result is None:
        return Outcome(Ending.SUCCEEDED)
    try:
        text = _ENCODER.encode(result)
        size = len(text.encode())
    except Exception as error:  # noqa: BLE001 - whatever keeps it from being read, the work is done
        return Outcome(Ending.SUCCEEDED, note=f"result dropped: {short(error)}")
    if size > RESULT_LIMIT:
        return Outcome(
            Ending.SUCCEEDED,
            note=f"result dropped: {size} bytes of JSON, the limit is {RESULT_LIMIT}",
        )
    return Outcome(Ending.SUCCEEDED, text)


def short(error: BaseException) -> str:
    """An error in one bounded line: `ValueError: no such wallet`."""
    try:
        text = str(error)
    except Exception:  # noqa: BLE001 - an error of a user's that cannot even tell itself
        text = "(its text cannot be had)"
    return bounded(f"{type(error).__name__}: {text}")


def bounded(text: str) -> str:
    """A reason in one line that can always be stored, whatever a job made it of."""
    return " ".join(text.split()).encode("utf-8", "replace").decode()[:ERROR_LIMIT]


@dataclass(frozen=True, slots=True)
class Attempt:
    """One try of a run that failed; `at` is when its failure was written."""

    number: int
    at: int
    error: str


@dataclass(frozen=True, slots=True)
class Superseded:
    """What a move leaves in the record of the run it closes, since the task's item goes elsewhere: when it
    was due, who had claimed it, and the attempts of the runs before it.

    `redriven_at` is None but for a redrive, which keeps the reason of the death in `reason`: `finished_at` of
    the record is then the time of the death, else that of the move.
    """

    due: int
    claim_id: str = ""
    claimed_at: int | None = None
    attempts_before: int = 0
    redriven_at: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What the ledger knows of a run. Times in milliseconds.

    `outcome` is None until the run ended. `in_progress_until` is 0 after a failed attempt; past, it means
    that an attempt was started and never told its end. `starts` are those of the attempts, ascending: of the
    last ones alone where an older version has started the first.
    """

    run_id: str
    attempts: int
    in_progress_until: int
    outcome: Outcome | None = None
    owner: str = ""
    started_at: int | None = None
    finished_at: int | None = None
    failures: tuple[Attempt, ...] = ()
    starts: tuple[int, ...] = ()
    superseded: Superseded | None = None

    def may_start(self, now: int) -> bool:
        """Nobody runs it and it is not over: a start, a cancel or a move may have it, whoever is first.

        A cancel or a move passes an earlier `now` by as much as its client's clock may be ahead: else it
        would take a living attempt for one that has run out of time.
        """
        return self.outcome is None and self.in_progress_until < now

    def is_running(self, now: int) -> bool:
        return self.outcome is None and self.in_progress_until >= now
