"""What the tasks of a stretch of time come to: how many have which status, how late they began."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter

from minutero.domain.buckets import minute_of
from minutero.domain.instants import SECOND
from minutero.domain.lifecycle import Status
from minutero.service.read_task import TaskView

OVERDUE = 5 * SECOND
"""What has not begun so long after it was due is overdue: twice as late as a deployment that keeps up."""

SHOWN = 10
"""Running tasks that are named."""

_WAITING = (Status.SCHEDULED, Status.CLAIMED)


@dataclass(frozen=True, slots=True)
class Quantiles:
    """Of so many `samples`: values that are samples themselves, None where there are none."""

    samples: int
    p50: int | None
    p90: int | None
    p99: int | None
    max: int | None


@dataclass(slots=True)
class Backlog:
    """Tasks, looked at one after the other. `minutes` counts by the minute they are due in; it has those with
    tasks alone."""

    counts: Counter[Status] = field(default_factory=Counter)
    minutes: dict[int, Counter[Status]] = field(default_factory=dict)
    oldest_overdue: TaskView | None = None
    _lateness: list[int] = field(default_factory=list)
    _running: list[TaskView] = field(default_factory=list)

    def add(self, view: TaskView) -> None:
        """Looks at one more."""
        self.counts[view.status] += 1
        self.minutes.setdefault(minute_of(view.task.run_at), Counter())[view.status] += 1
        if view.lateness_ms is not None:
            self._lateness.append(view.lateness_ms)
        if view.status is Status.RUNNING:
            self._running.append(view)
        oldest = self.oldest_overdue
        if is_overdue(view) and (oldest is None or view.task.run_at < oldest.task.run_at):
            self.oldest_overdue = view

    @property
    def lateness(self) -> Quantiles:
        """First start minus `run_at`, in milliseconds, of those that have started."""
        return quantiles(self._lateness)

    @property
    def running(self) -> Sequence[TaskView]:
        """Those that run, the longest-running first, and no more than SHOWN."""
        return sorted(self._running, key=_since)[:SHOWN]


def is_overdue(view: TaskView) -> bool:
    """Due, and not even begun."""
    return view.status in _WAITING and view.task.run_at + OVERDUE < view.at


def quantiles(values: Sequence[int]) -> Quantiles:
    """By the nearest rank: the least value that so many of a hundred do not exceed."""
    ordered = sorted(values)
    if not ordered:
        return Quantiles(0, None, None, None, None)
    ranks = (-(-len(ordered) * percent // 100) for percent in (50, 90, 99, 100))
    return Quantiles(len(ordered), *(ordered[rank - 1] for rank in ranks))


def by_minute(backlog: Backlog) -> Sequence[tuple[int, Mapping[Status, int]]]:
    """The counts of each minute that has tasks, in order."""
    return sorted(backlog.minutes.items(), key=itemgetter(0))


def _since(view: TaskView) -> int:
    run = view.run
    return run.starts[-1] if run is not None and run.starts else view.task.run_at
