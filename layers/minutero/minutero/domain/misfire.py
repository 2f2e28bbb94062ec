"""What is to become of the occurrence that is pending: it fires, or the chain goes on without it."""

from dataclasses import dataclass

from minutero.domain.instants import SECOND
from minutero.domain.schedule import Schedule


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the chain, from the pending time on.

    `fires`: the pending occurrence runs, as a catch-up or not; else the times from it to `skipped_to` are
    left out. `next` is the time that is pending then, None at the end of the rule. `catch_up_until`: times up
    to it are made up for, and not judged again.
    """

    fires: bool
    is_catch_up: bool
    next: int | None
    skipped_to: int = 0
    catch_up_until: int = 0


def next_step(schedule: Schedule, nominal: int, now: int) -> Step:
    """Judge the pending time. The next is reckoned from it, never from `now`: a clock that is wrong makes no
    time come twice, or never.

    Late by more than the grace is a misfire. `skip` leaves out what is as late as that, `once` all that is
    due but the latest, `all` all but the latest `max_catch_up`. So one that is reached again after it was
    kept is kept again.
    """
    made_up = nominal <= schedule.catch_up_until
    following = next(schedule.times_left(nominal), None)
    if made_up or not schedule.is_late(nominal, now):
        return Step(True, made_up, following)
    kept = _first_kept(schedule, nominal, now)
    if kept == nominal:
        return Step(True, True, following)
    # A change of the zone's rules may have taken the pending time itself out of them.
    last = now if kept is None else kept - 1
    skipped = schedule.latest_left(nominal, last, 1) or [nominal]
    once = kept if schedule.definition.misfire.policy == "once" else None
    return Step(False, False, kept, skipped[0], once or 0)


def _first_kept(schedule: Schedule, nominal: int, now: int) -> int | None:
    """The first time, from a late one on, that is not left out; None when the rule ends before."""
    said = schedule.definition
    if said.misfire.policy == "skip":
        reach = (said.misfire.grace_seconds + said.jitter_seconds) * SECOND
        since = max(nominal, now - reach - 1)
        left = schedule.times_left(since)
        return next((time for time in left if not schedule.is_late(time, now)), None)
    most = 1 if said.misfire.policy == "once" else said.misfire.max_catch_up
    return (schedule.latest_left(nominal, now, most) or [nominal])[0]
