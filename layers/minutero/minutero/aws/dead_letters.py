"""Dead letters: death without a message, and the list of the dead."""

from collections.abc import Sequence

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from minutero.aws.failures import GuardFailed
from minutero.aws.rows import dead_bucket, dead_letter_attributes, to_dead_letter
from minutero.aws.run_record import closing, record_id, taking_back, to_run_record
from minutero.aws.tables import DeadLetterItem, RunItem, TaskItem
from minutero.aws.tasks_table import Entry, TasksTable, check, delete, put, update
from minutero.domain.exchanged import DeadLetter
from minutero.domain.run import Ending, Outcome
from minutero.domain.task import Place, State

STILL_THERE: Condition = TaskItem.bucket.exists()
"""Bury: an update must not make a task of nothing."""

ENDED_DEAD: Condition = RunItem.ending == str(Ending.DEAD)
"""List: it was not redriven or discarded since its message was sent."""

PAGE = 500
"""Rows of one page; a row is a few hundred bytes."""


class DeadLetters(TasksTable):
    """The part of `TaskStore` that knows the dead."""

    def bury(self, letter: DeadLetter) -> bool:
        """End a run as dead without a message. Six units. Finding it buried already is True."""
        outcome = Outcome(Ending.DEAD, reason=letter.reason)
        died_at = letter.died_at
        run = closing(
            self._tables.names.runs,
            letter.run_id,
            outcome,
            died_at,
            letter.keep_until,
            given_up=died_at,
        )
        dead: list[Action] = [TaskItem.state.set(str(State.DEAD))]
        task = self._tables.task(bucket=letter.place.bucket, sk=letter.place.sk)
        entries: list[Entry] = [
            {"Update": run},
            put(self._tables.dead_letter(**dead_letter_attributes(letter))),
            update(task, dead, STILL_THERE),
        ]
        try:
            self._transact(entries)
        except GuardFailed as failed:
            found = failed.found.get(0)
            # Without a task there is nothing to bury: it was moved, or its retention has passed.
            return bool(found) and to_run_record(found or {}).outcome == outcome
        return True

    def bury_unreadable(self, place: Place, reason: str, at: int, keep_until: int) -> None:
        """Mark the row dead, the rest of it kept for who wants to know, and list it by its sort key."""
        letter = DeadLetter(place.sk, place, "", "", reason, at, keep_until)
        dead: list[Action] = [
            TaskItem.state.set(str(State.DEAD)),
            TaskItem.expires_at.set(keep_until),
        ]
        task = self._tables.task(bucket=place.bucket, sk=place.sk)
        entries = [
            put(self._tables.dead_letter(**dead_letter_attributes(letter))),
            update(task, dead, STILL_THERE),
        ]
        try:
            self._transact(entries)
        except GuardFailed:
            # Gone meanwhile: it is in nobody's way.
            return

    def list_dead(self, letter: DeadLetter) -> bool:
        """List a dead run, if it still is dead. Four units."""
        run = self._tables.run(id=record_id(letter.run_id))
        row = self._tables.dead_letter(**dead_letter_attributes(letter))
        try:
            self._transact([check(run, ENDED_DEAD), put(row)])
        except GuardFailed:
            return False
        return True

    def discard(self, letter: DeadLetter) -> bool:
        """Take a dead run off the list. Four units; one for a row that could not be read."""
        row = self._tables.dead_letter(**dead_letter_attributes(letter))
        if not letter.has_run:
            self._ask(row.delete)
            return True
        outcome = Outcome(Ending.DISCARDED, reason=letter.reason)
        run = taking_back(self._tables.names.runs, letter.run_id, outcome)
        try:
            self._transact([{"Update": run}, delete(row)])
        except GuardFailed as failed:
            # Discarded before: the row went with it.
            return failed.found[0].get("ending") == {"S": Ending.DISCARDED}
        return True

    def page_dead(
        self, day: str, shard: int, after: str | None = None
    ) -> tuple[Sequence[DeadLetter], str | None]:
        """One page of the runs that died on a UTC day, and where the next page begins."""
        bucket = dead_bucket(day, shard)
        # A condition, no start key: `after` may be the sort key of another shard's row.
        behind = None if after is None else DeadLetterItem.sk > after

        def read() -> tuple[list[DeadLetter], str | None]:
            rows = self._tables.dead_letter.query(
                bucket, behind, consistent_read=True, limit=PAGE, page_size=PAGE
            )
            letters = [to_dead_letter(row) for row in rows]
            last = rows.last_evaluated_key
            return letters, str(last["sk"]["S"]) if last else None

        return self._ask(read)
