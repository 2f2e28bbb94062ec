"""An occurrence: a task that a schedule made, for one of its times."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

Overlap = Literal["allow", "skip", "queue"]


class Trigger(StrEnum):
    """What made a task: somebody who asked for it, a schedule's time, or a schedule's run-now."""

    TASK = "task"
    SCHEDULE = "schedule"
    MANUAL = "manual"

    @classmethod
    def _missing_(cls, value: object) -> "Trigger":  # noqa: ARG003 - what a newer version wrote
        return cls.TASK


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Which schedule a task belongs to, in which version, and for which of its times.

    `nominal` is the time the rule names, in milliseconds, before jitter and however late it runs.
    """

    schedule: str
    version: int
    nominal: int
    trigger: Trigger = Trigger.SCHEDULE
    is_catch_up: bool = False
    overlap: Overlap = "allow"

    @property
    def is_a_link(self) -> bool:
        """Before it is claimed, the next occurrence has to be there. A run-now is outside the chain."""
        return self.trigger is Trigger.SCHEDULE
