"""Create or edit a schedule: what is put is what there is then, however often it is put."""

from dataclasses import dataclass, replace

from minutero.domain.exchanged import ScheduleChange
from minutero.domain.expression import first_fire_time
from minutero.domain.instants import SECOND
from minutero.domain.schedule import Definition, Schedule
from minutero.errors import InvalidSchedule, UnknownJob
from minutero.service.job_catalog import JobCatalog
from minutero.service.revise_schedule import ReviseSchedule

CHANGED = "the schedule was changed"


@dataclass(frozen=True, slots=True)
class Put:
    """The schedule as it is then; `created` and `changed` say what that took."""

    schedule: Schedule
    created: bool
    changed: bool


@dataclass(frozen=True, slots=True)
class PutSchedule:
    """See `__call__`."""

    revise: ReviseSchedule
    jobs: JobCatalog

    def __call__(self, name: str, said: Definition, *, enabled: bool | None = None) -> Put:
        """Makes this definition the one of the schedule. An unchanged one changes nothing.

        `enabled` None leaves a pause as it is: whoever deploys the same schedule again does not end it.
        An edit never fires at once: its first time is after now, and after what has fired.
        Raises UnknownJob, InvalidSchedule (never fires), Unavailable.
        """
        created = self._create(name, said, enabled=enabled is not False)
        if created is not None:
            return Put(created, created=True, changed=True)

        def decide(current: Schedule, now: int) -> Schedule | None:
            wanted = current.enabled if enabled is None else enabled
            if said == current.definition and wanted == current.enabled:
                return None
            if said != current.definition:
                self._check_job(said, now)
            made = replace(current, definition=said, anchor=_anchor(current, said, now))
            if made.times != current.times:
                _check_times(made, now)
            return switched(made, now, enabled=wanted, reason=current.paused_reason)

        schedule, changed = self.revise(name, decide, CHANGED)
        return Put(schedule, created=False, changed=changed)

    def _create(self, name: str, said: Definition, *, enabled: bool) -> Schedule | None:
        """None when there is one of that name."""
        parts = self.revise
        if parts.schedules.get(name) is not None:
            return None
        now = parts.clock.now()
        self._check_job(said, now)
        made = Schedule(name, 1, said, _begin(said, now), created_at=now, changed_at=now)
        first = _check_times(made, now)
        adds = None
        if enabled:
            link = made.link(first, now, parts.shards.for_writing(now))
            made = replace(made, pending=link)
            adds = made.task(link, now, parts.timing.retention)
        else:
            made = switched(made, now, enabled=False)
        keep_until = (now + parts.timing.retention) // SECOND
        if not parts.schedules.create(ScheduleChange(None, made, now, keep_until, now, adds)):
            return None
        parts.send_fired(adds)
        return made

    def _check_job(self, said: Definition, now: int) -> None:
        if not self.jobs.has(said.job, now):
            raise UnknownJob(said.job, self.jobs.names(now))


def switched(schedule: Schedule, now: int, *, enabled: bool, reason: str = "") -> Schedule:
    """The same, running or paused."""
    if enabled:
        return replace(schedule, paused_since=None, paused_reason="")
    since = now + 1 if schedule.paused_since is None else schedule.paused_since
    return replace(schedule, pending=None, paused_since=since, paused_reason=reason)


def _anchor(current: Schedule, said: Definition, now: int) -> int:
    """A rate goes on in its phase unless it is another rate, or starts at another time."""
    before = current.definition
    if (said.expression, said.start_at) == (before.expression, before.start_at):
        return current.anchor
    return _begin(said, now)


def _begin(said: Definition, now: int) -> int:
    return now if said.start_at is None else said.start_at


def _check_times(made: Schedule, now: int) -> int:
    """The first time. Raises InvalidSchedule when there is none any more."""
    first = made.first_time(now, now)
    if first is None:
        first_fire_time(made.times.rule, now)  # tells why, if it is the rule
        raise InvalidSchedule(
            "no time the expression names lies between start_at and end_at", "end_at"
        )
    return first
