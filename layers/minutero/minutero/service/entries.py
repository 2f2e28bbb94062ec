"""The entries: what each function of the deployment calls. `wiring` builds them."""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from minutero.domain.instants import MINUTE, SECOND
from minutero.errors import Unavailable
from minutero.ports import Clock, Inbox, ScheduleStore, SettingsStore
from minutero.service.fan_out import groups
from minutero.service.run_messages import Batch, RunMessages

if TYPE_CHECKING:
    from minutero.domain.task import Task
    from minutero.service.add_task import AddTask
    from minutero.service.add_tasks import AddTasks
    from minutero.service.audit import Auditor, AuditReport
    from minutero.service.cancel import CancelTask
    from minutero.service.dead_list import DeadList
    from minutero.service.dispatch import Dispatcher, ShardReport
    from minutero.service.job_catalog import JobCatalog
    from minutero.service.list_tasks import ListTasks
    from minutero.service.move import MoveTask
    from minutero.service.pause_schedule import PauseSchedule
    from minutero.service.put_schedule import PutSchedule
    from minutero.service.read_stats import ReadStats
    from minutero.service.read_task import ReadTask
    from minutero.service.rearm import Rearm
    from minutero.service.revise_schedule import ReviseSchedule
    from minutero.service.run_schedule import RunScheduleNow
    from minutero.service.shards import Shards

logger = logging.getLogger(__name__)

CLOCK_TOLERANCE = 5 * MINUTE
"""A tick's own time and the clock are further apart by a fault alone: a tick is dropped after a minute."""


@dataclass(frozen=True, slots=True)
class Api:
    """What the HTTP API and the Python client call. `task_entry` makes an entry of a transaction of the
    caller's own that adds a task."""

    add_task: "AddTask"
    add_tasks: "AddTasks"
    read_task: "ReadTask"
    list_tasks: "ListTasks"
    cancel: "CancelTask"
    move: "MoveTask"
    dead: "DeadList"
    stats: "ReadStats"
    put_schedule: "PutSchedule"
    pause_schedule: "PauseSchedule"
    run_schedule: "RunScheduleNow"
    revise_schedule: "ReviseSchedule"
    schedules: ScheduleStore
    jobs: "JobCatalog"
    settings: SettingsStore
    task_entry: "Callable[[Task], Mapping[str, Any]]"
    clock: Clock

    def signing_secret(self) -> bytes:
        """What page tokens are signed with."""
        return self.settings.token_secret()

    def job_names(self) -> frozenset[str]:
        """Names of the deployed jobs."""
        return self.jobs.names(self.clock.now())


@dataclass(frozen=True, slots=True)
class Tick:
    """What the dispatcher function calls. `call_another` has a further dispatcher serve some shards of the
    same tick."""

    dispatcher: "Dispatcher"
    counts: "Shards"
    clock: Clock
    call_another: Callable[[list[int], int | None], None]

    def tick(
        self, shards: Sequence[int] | None, deadline: int, at: int | None = None
    ) -> "list[ShardReport]":
        """One tick over these shards, or (None) over all there are, with the help of others.

        `at` is the tick's own time, None when it is not known. A clock that is far from it is told in the
        log, and no bucket is settled by it: it would put the watermark before tasks that are still to come.
        """
        now = self.clock.now()
        if at is not None and abs(now - at) > CLOCK_TOLERANCE:
            told = {"error": f"the clock is {(now - at) / SECOND:.0f} s ahead of its tick"}
            logger.warning("a tick and the clock do not agree", extra=told)
        growth = self.counts.for_dispatch(now)
        if shards is None:
            shards, others = groups(growth[-1].shards)
            for group in others:
                self.call_another(group, at)
        latest = None if at is None else at + CLOCK_TOLERANCE
        return self.dispatcher.tick(shards, growth, deadline, latest)


@dataclass(frozen=True, slots=True)
class Audit:
    """What the auditor function calls."""

    auditor: "Auditor"
    rearm: "Rearm"
    counts: "Shards"
    clock: Clock

    def audit(self, deadline: int) -> "AuditReport":
        """Goes on where the last audit stopped."""
        growth = self.counts.for_dispatch(self.clock.now())
        report = self.auditor.audit(range(growth[-1].shards), deadline)
        try:
            report.rearmed = self.rearm.look(self.clock.now(), deadline)
        except Unavailable as error:
            report.unavailable.append(f"schedules: {error}")
        return report


@dataclass(frozen=True, slots=True)
class Worker:
    """What the worker function calls."""

    messages: RunMessages
    inbox: Inbox
    settings: SettingsStore
    clock: Clock

    def batch(self, deadline: int) -> Batch:
        """One delivery of SQS; `deadline` in milliseconds is when this process will be ended."""
        return Batch(self.messages, self.inbox, deadline)

    def announce(self, names: frozenset[str]) -> None:
        """Tells writers which jobs there are; writes only when that has changed.

        Unanswered, it is logged and left: writers ask again for a name they do not know."""
        try:
            if self.settings.jobs() != names:
                self.settings.announce_jobs(names)
        except Unavailable as error:
            logger.warning("the names of the jobs are not announced", extra={"error": str(error)})
