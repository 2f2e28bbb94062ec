"""The ends of runs in memory, where the Tasks and the Runs table change together: cancel, move, death."""

from collections.abc import Sequence
from dataclasses import replace

from minutero.domain.buckets import parse_bucket
from minutero.domain.exchanged import DeadLetter, Move
from minutero.domain.instants import format_instant
from minutero.domain.run import Ending, Outcome, RunRecord
from minutero.domain.task import KeyRecord, Place, State, Task, first_place
from minutero.testing.memory_buckets import PAGE, MemoryBuckets
from minutero.testing.memory_ledger import MemoryRunLedger


class MemoryClosedRuns(MemoryBuckets):
    """Runs that end without a worker, and the list of the dead."""

    def __init__(self, ledger: MemoryRunLedger, page: int = PAGE) -> None:
        super().__init__(page)
        self._ledger = ledger
        self.keys: dict[tuple[str, str], KeyRecord] = {}
        self.letters: dict[str, DeadLetter] = {}

    # --- cancel and move

    def cancel(self, task: Task, at: int, keep_until: int, given_up: int) -> RunRecord:
        record = self._ledger.end_unowned(
            task.run_id, Outcome(Ending.CANCELLED), at, keep_until, given_up
        )
        stored = self.get(task.place)
        if stored is not None and record.outcome == Outcome(Ending.CANCELLED):
            self._write(stored.place, replace(stored, state=State.CANCELLED))
        return record

    def move(self, move: Move) -> RunRecord | None:
        superseded = Outcome(Ending.SUPERSEDED)
        if move.redrives is None:
            record = self._ledger.end_unowned(
                move.task.run_id,
                superseded,
                move.at,
                move.keep_until,
                move.given_up,
                move.token,
            )
        else:
            record = self._ledger.take_back(move.task.run_id, superseded, move.token)
        if record.owner != move.token:
            return record
        left = record.superseded or move.leaves
        self._ledger.records[record.run_id] = replace(record, superseded=left)
        if self.get(move.to.place) is None:
            self._carry_out(move)
        return None

    def _carry_out(self, move: Move) -> None:
        first = first_place(move.task.task_id)
        if move.task.place != first:
            self._delete(move.task.place)
        address = self.get(first)
        if address is not None:
            self._write(first, replace(address, state=State.MOVED, moved_to=move.to.place))
        self._write(move.to.place, move.to)
        holder = self.keys.get((move.task.tenant, move.task.key))
        if move.task.key and holder is not None:
            self.keys[move.task.tenant, move.task.key] = replace(
                holder, keep_until=move.to.keep_until
            )
        if move.redrives is not None:
            self.letters.pop(move.redrives.run_id, None)

    # --- dead letters

    def bury(self, letter: DeadLetter) -> bool:
        dead = Outcome(Ending.DEAD, reason=letter.reason)
        record = self._ledger.end_unowned(
            letter.run_id, dead, letter.died_at, letter.keep_until, given_up=letter.died_at
        )
        if record.outcome != dead:
            return False
        task = self.get(letter.place)
        if task is not None:
            self._write(task.place, replace(task, state=State.DEAD))
        self.letters[letter.run_id] = letter
        return True

    def bury_unreadable(self, place: Place, reason: str, at: int, keep_until: int) -> None:
        self._delete(place)
        self.letters[place.sk] = DeadLetter(place.sk, place, "", "", reason, at, keep_until)

    def list_dead(self, letter: DeadLetter) -> bool:
        record = self._ledger.get(letter.run_id)
        if record is None or record.outcome is None or record.outcome.ending is not Ending.DEAD:
            return False
        self.letters[letter.run_id] = letter
        return True

    def discard(self, letter: DeadLetter) -> bool:
        if letter.has_run:
            discarded = Outcome(Ending.DISCARDED, reason=letter.reason)
            record = self._ledger.take_back(letter.run_id, discarded)
            if record.outcome is None or record.outcome.ending is not Ending.DISCARDED:
                return False
        self.letters.pop(letter.run_id, None)
        return True

    def page_dead(
        self, day: str, shard: int, after: str | None = None
    ) -> tuple[Sequence[DeadLetter], str | None]:
        oldest_first = sorted(
            (f"{letter.died_at:014d}#{run_id}", letter)
            for run_id, letter in self.letters.items()
            if format_instant(letter.died_at)[:10] == day
            and parse_bucket(letter.place.bucket)[1] == shard
        )
        rest = [(key, letter) for key, letter in oldest_first if after is None or key > after]
        page = rest[: self._page]
        return [letter for _, letter in page], page[-1][0] if len(rest) > len(page) else None
