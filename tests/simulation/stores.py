"""The in-memory stores as the simulation uses them: they tell the watch each effect, and lose parts of
batches before their effect. A queue that delivers, late, twice, or never acknowledges for one."""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from minutero.domain.buckets import parse_bucket
from minutero.domain.exchanged import Claim, Move, Outgoing, Page, Sent
from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.run import Outcome, RunRecord
from minutero.domain.task import KeyRecord, Place, Task
from minutero.testing.memory import MemoryCursorStore, MemoryRunLedger, MemoryTaskStore
from tests.simulation.faults import Rates
from tests.simulation.kernel import Kernel
from tests.simulation.watch import Watch


class WatchedLedger(MemoryRunLedger):
    def __init__(self, watch: Watch) -> None:
        super().__init__()
        self.watch = watch

    def start(self, run_id: str, owner: str, now: int, until: int, keep_until: int) -> RunRecord:
        record = super().start(run_id, owner, now, until, keep_until)
        if record.owner == owner:
            self.watch.attempt_started(run_id, owner)
        return record

    def finish(self, run_id: str, owner: str, outcome: Outcome, now: int) -> bool:
        before = self.records.get(run_id)
        done = super().finish(run_id, owner, outcome, now)
        if done and self.records[run_id] is not before:
            self.watch.run_ended(run_id, owner, outcome.ending)
        return done

    def fail(self, run_id: str, owner: str, error: str, now: int) -> bool:
        done = super().fail(run_id, owner, error, now)
        if done:
            self.watch.attempt_failed(run_id, owner)
        return done

    def end_unowned(
        self,
        run_id: str,
        outcome: Outcome,
        now: int,
        keep_until: int,
        given_up: int,
        token: str = "",
    ) -> RunRecord:
        before = self.records.get(run_id)
        record = super().end_unowned(run_id, outcome, now, keep_until, given_up, token)
        if record is not before and record.outcome == outcome:
            self.watch.closed_from_outside(run_id, before)
            self.watch.run_ended(run_id, None, outcome.ending)
        return record


class WatchedTasks(MemoryTaskStore):
    def __init__(
        self,
        ledger: WatchedLedger,
        cursors: "WatchedCursors",
        kernel: Kernel,
        rates: Rates,
        page: int,
    ) -> None:
        super().__init__(ledger, page)
        self._watch = ledger.watch
        self._cursors = cursors
        self._kernel = kernel
        self._rates = rates
        if rates.page_takes:
            self.page = self._slow_page

    def _slow_page(self, bucket: str, after: str | None = None) -> Page:
        self._kernel.pause(self._rates.page_takes)
        return super().page(bucket, after)

    def put(self, task: Task) -> None:
        if self.get(task.place) is None:
            self._watch.task_put(task, self._watermark(task))
        super().put(task)

    def put_many(self, tasks: Sequence[Task]) -> list[bool]:
        chance = self._kernel.chance
        not_done, unheard = self._rates.parts(self._kernel)
        answers = []
        for task in tasks:
            luck = chance()
            if luck >= not_done:
                self._watch.task_put(task, self._watermark(task))
                super().put_many([task])
            answers.append(not_done <= luck < unheard)
        return answers

    def put_keyed(self, task: Task, key: KeyRecord, now: int) -> KeyRecord | None:
        holder = super().put_keyed(task, key, now)
        if holder is None:
            self._watch.task_put(task, self._watermark(task))
        return holder

    def _carry_out(self, move: Move) -> None:
        super()._carry_out(move)
        self._watch.task_moved(move)
        self._watch.task_put(move.to, self._watermark(move.to))

    def claim(
        self, places: Sequence[Place], claim_id: str, at: int, taken_from: str | None = None
    ) -> list[Claim]:
        claim, chance = super().claim, self._kernel.chance
        not_done, unheard = self._rates.parts(self._kernel)
        answers = []
        for place in places:
            luck = chance()
            told = claim([place], claim_id, at, taken_from) if luck >= not_done else None
            answers.append(told[0] if told and luck < unheard else Claim.UNKNOWN)
        return answers

    def _watermark(self, task: Task) -> int | None:
        cursor = self._cursors.get(parse_bucket(task.place.bucket)[1])
        return None if cursor is None else cursor.watermark


class WatchedCursors(MemoryCursorStore):
    def __init__(self, watch: Watch, *, leases: bool) -> None:
        super().__init__()
        self._watch = watch
        self._leases = leases
        self.tasks: MemoryTaskStore | None = None

    def lease(self, shard: int, owner: str, now: int, until: int) -> bool:
        return super().lease(shard, owner, now, until) if self._leases else True

    def advance(self, shard: int, owner: str, now: int, watermark: int, until: int) -> bool:
        old = self.cursors[shard]
        done = super().advance(shard, owner, now, watermark, until if self._leases else 0)
        if done and self.tasks is not None:
            self._watch.watermark_moved(old, self.cursors[shard], self.tasks.buckets)
        return done


POLL = 300
"""Milliseconds a poll waits for more of what is visible."""


@dataclass(eq=False, slots=True)
class Message:
    """One message of the queue. `gone` once it is acknowledged or has moved to the dead-letter queue."""

    outgoing: Outgoing
    sent_at: int
    receives: int = 0
    gone: bool = False


class SimQueue:
    """`TaskQueue` with SQS's delivery: after the delay, a little late, sometimes much later or twice; again
    when the visibility time-out after a receive has passed and nobody has acknowledged; to the dead letters
    after `most_receives`."""

    def __init__(
        self, kernel: Kernel, rates: Rates, visibility: int, most_receives: int = 20
    ) -> None:
        self._kernel = kernel
        self._rates = rates
        self._visibility = visibility
        self._most_receives = most_receives
        self.deliver: Callable[[list[Message]], None] = lambda _messages: None
        self.deliver_dead: Callable[[Message], None] = lambda _message: None
        self.waiting: set[Message] = set()
        self._ready: list[Message] = []
        self._in_hand: deque[tuple[int, Message]] = deque()

    def send(self, messages: Sequence[Outgoing]) -> list[Sent]:
        if len(messages) > 10:
            raise ValueError("SQS takes 10 messages a request")
        chance = self._kernel.chance
        not_done, unheard = self._rates.parts(self._kernel)
        answers = []
        for message in messages:
            luck = chance()
            if luck >= not_done:
                self._arrive(Message(message, self._kernel.now), message.delay * SECOND)
            answers.append(Sent.SENT if not_done <= luck < unheard else Sent.FAILED)
        return answers

    def _arrive(self, message: Message, delay: int) -> None:
        self.waiting.add(message)
        chance = self._kernel.chance
        luck = chance()
        late = luck * 60_000_000 if luck < 0.005 else luck * 300
        self._visible_in(delay + int(late), message)
        if chance() < 0.02:
            self._visible_in(delay + int(100_000 * chance()), message)

    def _visible_in(self, ms: int, message: Message) -> None:
        self._kernel.at(self._kernel.now + ms, lambda: self._visible(message))

    def _visible(self, message: Message) -> None:
        # SQS may deliver even what was deleted.
        if message.gone and self._kernel.chance() > 0.02:
            return
        self._ready.append(message)
        if len(self._ready) == 1:
            self._kernel.at(self._kernel.now + POLL, self._poll)

    def _poll(self) -> None:
        batch, self._ready = self._ready[:10], self._ready[10:]
        if self._ready:
            self._kernel.at(self._kernel.now + 1, self._poll)
        living = []
        for message in batch:
            message.receives += 1
            if message.receives > self._most_receives:
                self.acknowledge(message)
                self.send_dead(message.outgoing)
            else:
                living.append(message)
        if living:
            self._hand_out(living)
            self.deliver(living)

    def _hand_out(self, messages: list[Message]) -> None:
        # In order of their time-outs, so that one event at a time does for all.
        until = self._kernel.now + self._visibility
        if not self._in_hand:
            self._kernel.at(until, self._take_back)
        self._in_hand.extend((until, message) for message in messages)

    def _take_back(self) -> None:
        in_hand = self._in_hand
        while in_hand and in_hand[0][0] <= self._kernel.now:
            self._visible(in_hand.popleft()[1])
        if in_hand:
            self._kernel.at(in_hand[0][0], self._take_back)

    def oldest(self, now: int) -> int:
        """When the oldest message was sent; now, when there is none."""
        return min((message.sent_at for message in self.waiting), default=now)

    def acknowledge(self, message: Message) -> None:
        """Deletes it, whoever has it in hand."""
        message.gone = True
        self.waiting.discard(message)

    def send_dead(self, message: Outgoing) -> None:
        dead = Message(message, self._kernel.now)
        self.waiting.add(dead)
        self._kernel.at(self._kernel.now + 50, lambda: self._dead_visible(dead))

    def _dead_visible(self, message: Message) -> None:
        if not message.gone:
            self._kernel.at(self._kernel.now + MINUTE, lambda: self._dead_visible(message))
            self.deliver_dead(message)
