"""Arm again a schedule whose chain has broken, or whose pending time its rule does not name any more."""

import logging
from dataclasses import dataclass

from minutero.domain.instants import HOUR, MINUTE
from minutero.domain.schedule import PARTITIONS, Schedule, pointer_to
from minutero.domain.task import State
from minutero.service.revise_schedule import ReviseSchedule

logger = logging.getLogger(__name__)

EVERY = 5 * MINUTE
"""Each audit looks at the schedules of one partition; so each schedule is looked at every 80 minutes."""

OVERDUE = HOUR
"""Ticks fire what is pending, or leave it out, long before; in an outage it is still `scheduled`."""

BROKEN = "its chain was broken"
RULES_CHANGED = "the rules of its zone have changed"


@dataclass(frozen=True, slots=True)
class Rearm:
    """What should never happen (an occurrence that somebody deleted from the table, or whose row cannot be
    read) and what has to: a new `tzdata` moves times that are armed already."""

    revise: ReviseSchedule

    def look(self, now: int, deadline: int) -> int:
        """How many schedules of a partition had a broken chain: it should be 0. Raises Unavailable."""
        broken = 0
        after: str | None = None
        partition = now // EVERY % PARTITIONS
        while self.revise.clock.now() < deadline:
            schedules, after = self.revise.schedules.page(partition, after)
            for schedule in schedules:
                why = self._what_is_wrong(schedule, now)
                if why and self._arm(schedule, why):
                    broken += why == BROKEN
            if after is None:
                break
        return broken

    def _what_is_wrong(self, schedule: Schedule, now: int) -> str:
        pending = schedule.pending
        if not schedule.enabled:
            return ""
        if pending is None:
            # Whose clock was ahead may have come to the end of the rule before this one does.
            by_then = max(now, schedule.changed_at, schedule.fired_at)
            return "" if schedule.first_time(by_then, by_then) is None else BROKEN
        if pending.run_at + OVERDUE < now:
            task = self.revise.store.get(pointer_to(pending).place)
            return "" if task is not None and task.state is State.SCHEDULED else BROKEN
        named = schedule.times.next(pending.nominal - 1) == pending.nominal
        return "" if named or pending.nominal <= schedule.catch_up_until else RULES_CHANGED

    def _arm(self, seen: Schedule, why: str) -> bool:
        """The first time after now, under another version. What was left out meanwhile is noted as such."""

        def decide(current: Schedule, _: int) -> Schedule | None:
            as_seen = (current.version, current.pending) == (seen.version, seen.pending)
            return current if as_seen else None

        level = logging.ERROR if why == BROKEN else logging.INFO
        logger.log(level, "a schedule is armed again", extra={"schedule": seen.name, "why": why})
        return self.revise(seen.name, decide, why, "lost")[1]
