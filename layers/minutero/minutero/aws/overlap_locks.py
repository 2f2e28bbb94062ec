"""The locks of schedules whose runs must not overlap: records of the Runs table, `overlap#<schedule>`."""

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from minutero.aws.failures import GuardFailed, ask
from minutero.aws.run_record import seconds_until
from minutero.aws.tables import RunItem, Tables
from minutero.ports import Clock


def free_for(run_id: str, now: int) -> Condition:
    """Take: nobody has it, it is this very run's, or it has run out."""
    free: Condition = (
        RunItem.id.does_not_exist()
        | (RunItem.run_id == run_id)
        | (RunItem.in_progress_expiration < now)
    )
    return free


def held_by(run_id: str) -> Condition:
    """Let go: another may have taken it since it ran out."""
    held: Condition = RunItem.run_id == run_id
    return held


class DynamoOverlapLocks:
    """`OverlapLocks`. `clock` is only slept with, between two tries."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._model = tables.run
        self._clock = clock

    def take(self, schedule: str, run_id: str, now: int, until: int) -> bool:
        """One unit. Asked again after a lost answer, it is this run's already: True."""
        actions: list[Action] = [
            RunItem.run_id.set(run_id),
            RunItem.in_progress_expiration.set(until),
            RunItem.expiration.set(seconds_until(until)),
        ]
        return self._update(schedule, actions, free_for(run_id, now))

    def let_go(self, schedule: str, run_id: str) -> None:
        """One unit. The record stays until it expires."""
        self._update(schedule, [RunItem.in_progress_expiration.set(0)], held_by(run_id))

    def _update(self, schedule: str, actions: list[Action], guard: Condition) -> bool:
        item = self._model(f"overlap#{schedule}")
        try:
            ask(lambda: item.update(actions=actions, condition=guard), self._clock)
        except GuardFailed:
            return False
        return True
