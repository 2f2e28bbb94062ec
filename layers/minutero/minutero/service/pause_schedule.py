"""Pause and resume a schedule."""

from dataclasses import dataclass, replace

from minutero.domain.schedule import Link, Schedule
from minutero.errors import InvalidInput
from minutero.service.put_schedule import switched
from minutero.service.revise_schedule import ReviseSchedule


@dataclass(frozen=True, slots=True)
class PauseSchedule:
    """Both may be asked for twice: what is so already stays so."""

    revise: ReviseSchedule

    def pause(self, name: str, reason: str = "") -> Schedule:
        """Nothing that has not begun runs any more. Raises NotFound, Unavailable."""

        def decide(current: Schedule, now: int) -> Schedule | None:
            if not current.enabled and reason in ("", current.paused_reason):
                return None
            return switched(current, now, enabled=False, reason=reason)

        return self.revise(name, decide, "the schedule was paused")[0]

    def resume(self, name: str, since: str = "now") -> Schedule:
        """From `now` on, or with a `backfill` of what the pause took: the latest `max_catch_up` of its times.

        Raises InvalidInput, NotFound, Unavailable.
        """
        if since not in ("now", "backfill"):
            raise InvalidInput("invalid_from", "from is now or backfill", "from")

        def decide(current: Schedule, now: int) -> Schedule | None:
            if current.paused_since is None:
                return None
            made = switched(current, now, enabled=True)
            return _with_backfill(made, current.paused_since, now) if since == "backfill" else made

        return self.revise(name, decide, "the schedule was resumed")[0]


def _with_backfill(made: Schedule, since: int, now: int) -> Schedule:
    missed = made.latest_left(since, now, made.definition.misfire.max_catch_up)
    if not missed:
        return made
    # What comes first; its link is made with the new version.
    first = Link(missed[0], missed[0], "")
    return replace(made, pending=first, catch_up_until=missed[-1])
