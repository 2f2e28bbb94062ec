"""Dead letters: death without a message, and the list of the dead."""

from collections.abc import Sequence

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action
from pynamodb.transactions import TransactWrite

from minutero.aws.failures import GuardFailed
from minutero.aws.rows import dead_bucket, dead_sort_key, to_dead_letter
from minutero.aws.run_record import COMPLETED, encode_outcome, record_id
from minutero.aws.tables import DeadLetterItem, RunItem, TaskItem
from minutero.aws.tasks_table import TasksTable, request_token
from minutero.domain.buckets import parse_bucket
from minutero.domain.instants import SECOND, format_instant
from minutero.domain.run import Ending, Outcome
from minutero.domain.task import Place, State
from minutero.ports import DeadLetter

STILL_THERE: Condition = TaskItem.bucket.exists()
"""Bury: an update must not make a task of nothing."""

ENDED_DEAD: Condition = RunItem.ending == str(Ending.DEAD)
"""List: it was not redriven or discarded since its message was sent."""

PAGE = 500


def never_ran(now: int) -> Condition:
    """Bury: no attempt and no ending, or those of a record that has expired."""
    never: Condition = RunItem.id.does_not_exist() | (RunItem.expiration < -(-now // SECOND))
    return never


class DeadLetters(TasksTable):
    """The part of `TaskStore` that knows the dead."""

    def bury(self, letter: DeadLetter) -> bool:
        """Death without a message, in one transaction: six units. Finding one's own burial is True."""
        outcome = Outcome(Ending.DEAD, reason=letter.reason)
        run = self._tables.run(
            id=record_id(letter.run_id),
            run_id=letter.run_id,
            status=COMPLETED,
            expiration=letter.keep_until,
            data=encode_outcome(outcome),
            ending=str(outcome.ending),
            finished_at=letter.died_at,
        )
        task = self._tables.task(bucket=letter.place.bucket, sk=letter.place.sk)
        dead: list[Action] = [TaskItem.state.set(str(State.DEAD))]

        def write() -> None:
            with TransactWrite(
                connection=self._tables.connection,
                client_request_token=request_token("bury", letter),
            ) as transaction:
                transaction.save(run, condition=never_ran(letter.died_at), return_values="ALL_OLD")
                transaction.save(self._row(letter))
                transaction.update(task, actions=dead, condition=STILL_THERE)

        try:
            self._ask(write)
        except GuardFailed as failed:
            found = failed.found.get(0, {})
            # A run that ended dead without an attempt was buried here, by a try whose answer got lost.
            return found.get("ending") == {"S": Ending.DEAD} and found.get("attempts") == {"N": "0"}
        return True

    def bury_unreadable(self, place: Place, reason: str, at: int, keep_until: int) -> None:
        """Marks the row dead, the rest of it kept for whoever wants to know, and lists it by its sort key."""
        letter = DeadLetter(place.sk, place, "", "", reason, at, keep_until)
        task = self._tables.task(bucket=place.bucket, sk=place.sk)
        actions: list[Action] = [
            TaskItem.state.set(str(State.DEAD)),
            TaskItem.expires_at.set(keep_until),
        ]

        def write() -> None:
            with TransactWrite(
                connection=self._tables.connection,
                client_request_token=request_token("bury", letter),
            ) as transaction:
                transaction.save(self._row(letter))
                transaction.update(task, actions=actions, condition=STILL_THERE)

        try:
            self._ask(write)
        except GuardFailed:
            # Gone meanwhile: it is in nobody's way.
            return

    def list_dead(self, letter: DeadLetter) -> bool:
        """Lists a dead run, if it still is dead."""

        def write() -> None:
            with TransactWrite(
                connection=self._tables.connection,
                client_request_token=request_token("list", letter),
            ) as transaction:
                transaction.condition_check(
                    self._tables.run, record_id(letter.run_id), condition=ENDED_DEAD
                )
                transaction.save(self._row(letter))

        try:
            self._ask(write)
        except GuardFailed:
            return False
        return True

    def page_dead(
        self, day: str, shard: int, after: str | None = None
    ) -> tuple[Sequence[DeadLetter], str | None]:
        """One page of the runs that died on a UTC day; the second value is where the next one begins."""
        bucket = dead_bucket(day, shard)
        start = None if after is None else {"bucket": {"S": bucket}, "sk": {"S": after}}

        def read() -> tuple[list[DeadLetter], str | None]:
            rows = self._tables.dead_letter.query(
                bucket, consistent_read=True, limit=PAGE, page_size=PAGE, last_evaluated_key=start
            )
            letters = [to_dead_letter(row) for row in rows]
            last = rows.last_evaluated_key
            return letters, str(last["sk"]["S"]) if last else None

        return self._ask(read)

    def _row(self, letter: DeadLetter) -> DeadLetterItem:
        return self._tables.dead_letter(
            bucket=dead_bucket(
                format_instant(letter.died_at)[:10], parse_bucket(letter.place.bucket)[1]
            ),
            sk=dead_sort_key(letter),
            task_bucket=letter.place.bucket,
            task_sk=letter.place.sk,
            job=letter.job,
            tenant=letter.tenant or None,
            reason=letter.reason,
            expires_at=letter.keep_until,
        )
