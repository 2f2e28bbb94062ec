"""Put another version of a schedule in the place of the one there is, with all that hangs on it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from minutero.domain.exchanged import Changed, ScheduleChange
from minutero.domain.instants import SECOND
from minutero.domain.run import Ending, Outcome
from minutero.domain.schedule import Fate, FateName, Link, Schedule, pointer_to
from minutero.domain.task import State, run_id_of
from minutero.domain.timing import Timing
from minutero.errors import Unavailable
from minutero.ports import Clock, RunLedger, ScheduleStore, TaskStore
from minutero.service.find_schedule import find_schedule
from minutero.service.send_fired import SendFired
from minutero.service.shards import Shards

TRIES = 10
"""How often a schedule that changes meanwhile is read again."""

Decide = Callable[[Schedule, int], Schedule | None]
"""The schedule as it is, and now -> the same with what is to be different; None: nothing is."""


@dataclass(frozen=True, slots=True)
class ReviseSchedule:
    """Closes what the old version has not begun, and puts the first occurrence of the new one, in one
    transaction. So nobody sees both versions armed, or none.

    `clock_margin` is how far ahead the clock may be, in milliseconds: 0 within AWS.
    """

    schedules: ScheduleStore
    store: TaskStore
    ledger: RunLedger
    send_fired: SendFired
    shards: Shards
    clock: Clock
    timing: Timing
    clock_margin: int = 0

    def __call__(
        self, name: str, decide: Decide, why: str, left_out: FateName = "changed"
    ) -> tuple[Schedule, bool]:
        """The schedule as it is then, and whether that is new. `why` is told by the tasks that are closed,
        `left_out` by the times that have come and neither version fires.

        `decide` leaves `pending` as it is to have the first time after now found; what it sets is kept.
        Raises NotFound, Unavailable, and what `decide` raises.
        """
        for _ in range(TRIES):
            current, now = self._read(name)
            made = decide(current, now)
            if made is None:
                return current, False
            change = self._change(current, made, now, why, left_out)
            if self.schedules.replace(change) is Changed.DONE:
                self.send_fired(change.adds)
                return change.after or made, True
        raise _busy(name)

    def delete(self, name: str) -> Schedule:
        """The schedule as it was; a run that has begun ends as it would. Raises NotFound, Unavailable."""
        for _ in range(TRIES):
            current, now = self._read(name)
            closes, _ = self._closable(current, now)
            change = self._closing(current, None, closes, now, "the schedule was deleted")
            if self.schedules.delete(change) is Changed.DONE:
                return current
        raise _busy(name)

    def _read(self, name: str) -> tuple[Schedule, int]:
        """The schedule, and now: by whichever clock is ahead, this one or that of who fired it last. What
        has come by then may be forgotten in the row, and must not seem to be still to come."""
        current = find_schedule(self.schedules, name)
        return current, max(self.clock.now(), current.fired_at)

    def _change(
        self, current: Schedule, made: Schedule, now: int, why: str, left_out: FateName
    ) -> ScheduleChange:
        closes, kept = self._closable(current, now)
        made = replace(made, version=current.version + 1, changed_at=now, fired=kept)
        made, first = self._first(current, made, closes, now)
        link = None
        if first is not None:
            link = made.link(first, now, self.shards.for_writing(now))
        made = replace(made, pending=link)
        change = self._closing(current, made, closes, now, why)
        adds = None if link is None else made.task(link, now, self.timing.retention)
        fates = _left_out(current, made, closes, now, left_out)
        written = {fate.first for fate in fates}
        forgets = [time for time in change.forgets if time not in written]
        return replace(change, adds=adds, fates=fates, forgets=forgets)

    def _first(
        self, current: Schedule, made: Schedule, closes: Sequence[Link], now: int
    ) -> tuple[Schedule, int | None]:
        """The new version, which says since when it is paused, and its first time, None while paused."""
        as_before = current.enabled and made.times == current.times
        if made.paused_since is not None:
            if current.enabled or made.times != current.times:
                # What is closed is the pause's, be it overdue: where it still is a time of the schedule.
                taken = [link.nominal for link in closes] if as_before else []
                made = replace(made, paused_since=min([now + 1, *taken]))
            return made, None
        if made.pending is not current.pending and made.pending is not None:
            return made, made.pending.nominal
        since = min([current.changed_at, *(link.nominal - 1 for link in closes)])
        return made, made.first_time(now, since if as_before else now)

    def _closing(
        self,
        current: Schedule,
        after: Schedule | None,
        closes: Sequence[Link],
        now: int,
        why: str,
    ) -> ScheduleChange:
        cancelled = Outcome(Ending.CANCELLED, reason=why)
        return ScheduleChange(
            before=current,
            after=after,
            at=now,
            keep_until=(now + self.timing.retention) // SECOND,
            given_up=now - self.clock_margin,
            closes=[(link, cancelled) for link in closes],
            forgets=[link.nominal for link in closes if link in current.fired],
        )

    def _closable(self, current: Schedule, now: int) -> tuple[list[Link], tuple[Link, ...]]:
        """What has not begun, the pending link and those that fired ahead, and what stays.

        A link whose task somebody has moved or cancelled is that somebody's.
        """
        links = [*current.fired, current.pending] if current.pending else current.fired
        if not links:
            return [], current.fired
        tasks = self.store.get_many([pointer_to(link) for link in links])
        records = self.ledger.get_many([run_id_of(link.task_id, 0) for link in links])
        closes = []
        for link in links:
            task = tasks.get(pointer_to(link).place)
            if task is None or task.state not in (State.SCHEDULED, State.CLAIMED):
                continue
            # One that failed and is to be tried again has begun. What its schedule has done with is as much
            # ahead as its task: somebody meant to cancel or move it, and was not answered.
            ahead = link is current.pending or task.run_at > now
            if ahead and run_id_of(link.task_id, 0) not in records:
                closes.append(link)
        return closes, tuple(link for link in current.fired if link not in closes)


def _left_out(
    current: Schedule, made: Schedule, closes: Sequence[Link], now: int, name: FateName
) -> Sequence[Fate]:
    """Times that have come and that the new version does not take: an edit in the midst of an outage makes
    no backlog of its own, and a pause that ends without one leaves out what it lasted."""
    first = min((link.nominal for link in closes), default=now + 1)
    if current.pending is not None:
        first = min(first, current.pending.nominal)
    if current.paused_since is not None:
        first, name = min(first, current.paused_since), "paused"
    if made.paused_since is not None and first >= made.paused_since:
        return ()
    last = now if made.pending is None else min(now, made.pending.nominal - 1)
    times = current.times.latest(first, last, 1) if first <= last else ()
    return [Fate(name, first, times[0], current.times)] if times else []


def _busy(name: str) -> Unavailable:
    return Unavailable(f"schedule {name} changes again and again; try later")
