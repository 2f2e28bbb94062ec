"""Keep the runs of a schedule from overlapping, where it says so."""

from dataclasses import dataclass

from minutero.domain.exchanged import Failed, Finished, RunResult
from minutero.domain.instants import SECOND
from minutero.domain.run import Ending, Outcome
from minutero.domain.task import State, Task
from minutero.domain.timing import Timing
from minutero.errors import RetryLater
from minutero.ports import Clock, OverlapLocks

PAUSE = 10 * SECOND
"""After so long a run that waits for another looks again whether that is over."""

OVER = (State.CANCELLED, State.MOVED, State.DEAD)
"""Set together with the end of the run."""

OVERLAPS = "another run of its schedule was not over"


@dataclass(frozen=True, slots=True)
class OneAtATime:
    """The lock of a schedule, from a run's first attempt to its end, with the pauses between its attempts.

    It runs out like an attempt does, a margin after the process that has it is ended: so a crash keeps the
    schedule waiting no longer than the run itself.
    """

    locks: OverlapLocks
    clock: Clock
    timing: Timing

    def may_run(self, task: Task, deadline: int) -> bool:
        """False when another run has the lock."""
        if _allows_overlap(task):
            return True
        now, until = self.clock.now(), deadline + self.timing.run_margin
        return self.locks.take(_schedule(task), task.task_id, now, until)

    def waits(self, task: Task) -> bool:
        """Whether a run that may not start is put off; else it is skipped.

        One that is over by its task waits for nothing: put off, its message would come back for as long as
        the other goes on.
        """
        is_over = task.state in OVER
        return task.occurrence is not None and task.occurrence.overlap == "queue" and not is_over

    def concluded(self, task: Task, result: RunResult, pause: int) -> None:
        """After an attempt: keep the lock for the next one, which starts after `pause`, or let it go."""
        if _allows_overlap(task):
            return
        if isinstance(result, Finished):
            # A late message of a run that was moved: the lock may be that of the task's next run by now.
            if result.outcome.ending is not Ending.SUPERSEDED:
                self.locks.let_go(_schedule(task), task.task_id)
        elif isinstance(result, Failed):
            now = self.clock.now()
            until = now + pause + self.timing.worker_timeout + self.timing.run_margin
            # Taken by another meanwhile, the next attempt waits for it.
            self.locks.take(_schedule(task), task.task_id, now, until)


def skipped(attempt: int) -> Outcome:
    """What becomes of a run that may not start. One that has begun before is not left half done."""
    if attempt > 1:
        raise RetryLater(PAUSE / SECOND, OVERLAPS)
    return Outcome(Ending.SKIPPED, reason=OVERLAPS)


def _allows_overlap(task: Task) -> bool:
    return task.occurrence is None or task.occurrence.overlap == "allow"


def _schedule(task: Task) -> str:
    return task.occurrence.schedule if task.occurrence else ""
