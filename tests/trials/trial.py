"""The services as wired for Lambda, in this process, over a MiniStack; the clock and the deliveries are the
test's. What users were promised is reckoned here, from what the jobs saw and what lies in the tables."""

import json
import random
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import botocore.endpoint

from minutero import wiring
from minutero.aws import clients, oldest_message
from minutero.aws.queue import parse_message
from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.new_task import NewTask, body_hash
from minutero.domain.schedule import Definition
from minutero.errors import MinuteroError
from minutero.jobs import Job, JobRegistry, Run
from minutero.service.add_tasks import Wanted
from minutero.service.claim_batch import chunks
from minutero.service.entries import Api, Tick
from minutero.service.execute import Verdict
from minutero.service.messages import Kept
from minutero.service.run_messages import Delivery
from minutero.testing import SettableClock
from minutero.testing.memory import one_by_one
from minutero.wiring import of_api
from tests.contract.worlds import NOW, TABLES, create_tables, tables_of_template
from tests.trials.broken_wire import BrokenWire, Died
from tests.trials.seen import Seen

REGION = "us-east-1"
TICK_TIME = 45 * SECOND
WORKER_TIME = 60 * SECOND
VISIBILITY = 6 * WORKER_TIME
"""As template.yaml has it: how long SQS hides what a worker has in hand."""

AUDIT_EVERY = 5
"""Minutes, as template.yaml has it."""

MOST_ADDED = 500
"""Tasks of one request to the API."""

HIDDEN = 12 * 60 * 60
"""Seconds; the emulator's queue is emptied at once, what comes of a message is decided here."""


@dataclass
class Message:
    """A message in hand: when it is visible by the trial's clock."""

    body: str
    receipt: str
    visible: int
    receives: int = 0


class Trial:
    """One empty deployment; its services reach AWS at `via`, or as the test does. `sent` lists the bodies
    that SQS was asked to take, in order. A request takes `request_time` milliseconds by the trial's clock."""

    def __init__(
        self,
        endpoint: str,
        wire: BrokenWire,
        patch: Any,
        *,
        via: str = "",
        shards: int = 1,
        request_time: int = 0,
    ) -> None:
        self.clock, self.wire, self._patch = SettableClock(NOW), wire, patch
        self.seen = Seen()
        self.sent: list[str] = []
        self.messages: list[Message] = []
        self._request_time, self._shards = request_time, shards
        self._waiting: dict[str, int] = {}
        self._received_of = 0
        self._next_tick = NOW
        self.dynamodb = clients.dynamodb(REGION, endpoint, connections=32)
        self._sqs = clients.sqs(REGION, endpoint)
        self._environment(via or endpoint, shards)
        self._hooks()
        self.jobs = JobRegistry()
        self.jobs.add(Job("work", self._work, result_required=False))
        self._worker().announce(self.jobs.names())
        self.api: Api = wiring.api()
        self.dispatchers = [self._dispatcher(), self._dispatcher()]

    def _environment(self, endpoint: str, shards: int) -> None:
        suffix = secrets.token_hex(4)
        names = create_tables(self.dynamodb, suffix, tables_of_template())
        self.names, self.wallets = names, f"wallets-{suffix}"
        self.dynamodb.create_table(
            TableName=self.wallets,
            BillingMode="PAY_PER_REQUEST",
            KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
        )
        self.queue, dead = (
            self._sqs.create_queue(QueueName=f"{kind}-{suffix}")["QueueUrl"]
            for kind in ("tasks", "dead")
        )
        for name, value in {
            **{f"MINUTERO_{table.upper()}_TABLE": getattr(names, table) for table in TABLES},
            "MINUTERO_TASKS_QUEUE_URL": self.queue,
            "MINUTERO_DEAD_LETTER_QUEUE_URL": dead,
            "MINUTERO_WORKER_FUNCTION": "worker",
            "MINUTERO_DISPATCHER_FUNCTION": "dispatcher",
            "MINUTERO_SHARDS": str(shards),
            "AWS_ENDPOINT_URL": endpoint,
            "AWS_DEFAULT_REGION": REGION,
        }.items():
            self._patch.setenv(name, value)

    def _hooks(self) -> None:
        """The clock, the pauses and every random number are the trial's; so a seed plays alike again."""
        # A busy machine is none of the faults.
        self._patch.setattr(clients, "READ_TIMEOUT", 60.0)
        real = {"dynamodb": clients.dynamodb, "sqs": clients.sqs}
        for service, make in real.items():
            self._patch.setattr(clients, service, self._broken(make))
        self._patch.setattr(wiring.CLOCK, "now", self.clock.now, raising=False)
        self._patch.setattr(wiring.CLOCK, "sleep", self.clock.sleep, raising=False)
        oldest = lambda now: min(self._waiting.values(), default=now)  # noqa: E731 - as CloudWatch would say
        self._patch.setattr(oldest_message, "OldestMessage", lambda *_: oldest)
        # botocore draws its pauses from a random of its own; and none is waited for.
        pauses = SimpleNamespace(sleep=lambda _: self.clock.sleep(SECOND // 2))
        self._patch.setattr(botocore.endpoint, "time", pauses)
        for module in (wiring, of_api):
            self._patch.setattr(module, "side_by_side", one_by_one)
        draw = self.wire.random
        self._patch.setattr(secrets, "token_bytes", draw.randbytes)
        self._patch.setattr(secrets, "token_hex", lambda size: draw.randbytes(size).hex())
        self._patch.setattr(random, "random", draw.random)
        for built in list(vars(wiring).values()):
            if hasattr(built, "cache_clear"):
                built.cache_clear()

    def _broken(self, make: Callable[..., Any]) -> Callable[..., Any]:
        @cache
        def one_each(tries: int) -> Any:
            client = make(tries=tries)
            events = client.meta.events
            events.register("before-parameter-build.sqs.SendMessageBatch", self._held_here)
            events.register("before-send", self._takes_time)
            self.wire.between(client)
            return client

        def made(region=None, endpoint=None, connections=10, session=None, tries=clients.TRIES):
            return one_each(tries)

        return made

    def _takes_time(self, **_: Any) -> None:
        self.clock.sleep(self._request_time)

    def _held_here(self, params: Any, **_: Any) -> None:
        """SQS's own clock is not the trial's: the delay goes along, and is waited for here."""
        for entry in params["Entries"]:
            visible = str(self.clock.now() + entry.pop("DelaySeconds") * SECOND)
            told = {"DataType": "Number", "StringValue": visible}
            entry["MessageAttributes"] = {"visible": told}
            self.sent.append(entry["MessageBody"])
            self._waiting.setdefault(entry["MessageBody"], self.clock.now())

    def _worker(self) -> Any:
        return wiring.worker(self.jobs)

    def _dispatcher(self) -> Tick:
        """A dispatcher of a process of its own."""
        wiring.dispatcher.cache_clear()
        return wiring.dispatcher()

    # --- what clients do

    def add(self, name: str, run_at: int, payload: Any = None, *, key: str = "") -> None:
        """One task, by a client that asks again only with a key."""
        wanted = self._wanted(name, run_at, payload, key)
        while True:
            try:
                self._confirm(name, self.api.add_task(wanted.new, wanted.body_hash).task)
            except MinuteroError:
                if key:
                    continue
                self.seen.in_doubt.add(name)
            return

    def add_many(self, due: dict[str, int], payload: Any = None) -> None:
        """Many tasks without keys, by name."""
        for some in chunks(list(due), MOST_ADDED):
            wanted = [self._wanted(name, due[name], payload, "") for name in some]
            for name, end in zip(some, self.api.add_tasks(wanted), strict=True):
                if isinstance(end, MinuteroError):
                    self.seen.in_doubt.add(name)
                else:
                    self._confirm(name, end.task)

    def _wanted(self, name: str, run_at: int, payload: Any, key: str) -> Wanted:
        text = json.dumps({"name": name, **(payload or {})})
        new = NewTask("work", text, run_at, key=key, max_attempts=20)
        return Wanted(new, body_hash({"job": "work", "payload": name}))

    def _confirm(self, name: str, task: Any) -> None:
        self.seen.confirmed[name] = task.task_id

    def put_schedule(self, name: str, expression: str) -> None:
        said = Definition(
            "work", expression, payload=json.dumps({"schedule": name}), max_attempts=20
        )
        while True:
            try:
                self.api.put_schedule(name, said)
            except MinuteroError:
                continue
            return

    # --- what AWS does

    def play(
        self,
        until: int,
        *,
        ticks: int = 2,
        works: bool = True,
        audits: bool = False,
        deaths_in_jobs: float = 0.0,
    ) -> None:
        """Ticks each minute, doubled, and delivers what is visible, up to an instant."""
        self._deaths_in_jobs = deaths_in_jobs
        while self.clock.now() < until:
            if self.clock.now() >= self._next_tick:
                for at in range(ticks):
                    self.tick(at)
                if audits and self._next_tick // MINUTE % AUDIT_EVERY == 0:
                    wiring.auditor().audit(self.clock.now() + TICK_TIME)
                self._next_tick = self.clock.now() // MINUTE * MINUTE + MINUTE
            if works:
                self._receive()
                ready = [one for one in self.messages if one.visible <= self.clock.now()][:10]
                if ready:
                    self._deliver(ready)
                    continue
            soonest = [one.visible for one in self.messages] if works else []
            upcoming = min([*soonest, self._next_tick, until])
            self.clock.set(max(self.clock.now(), upcoming))

    def tick(self, which: int = 0) -> Any:
        """A tick of one of the two dispatchers; one that died is another process the next time."""
        self.wire.mortal = True
        try:
            return self.dispatchers[which].tick(None, self.clock.now() + TICK_TIME)
        except Died:
            self.dispatchers[which] = self._dispatcher()
        except MinuteroError:
            return None  # the next minute brings another
        finally:
            self.wire.mortal = False

    def serve_at_once(self, groups: list[list[int]]) -> None:
        """Invocations of dispatchers for some shards each, side by side, each in a process of its own."""
        processes, deadline = [self._dispatcher() for _ in groups], self.clock.now() + TICK_TIME
        with ThreadPoolExecutor(len(groups)) as threads:
            list(threads.map(lambda one, group: one.tick(group, deadline), processes, groups))

    def _receive(self) -> None:
        """What came since the last time; nothing can have, if nothing was sent."""
        if self._received_of == len(self.sent):
            return
        self._received_of = len(self.sent)
        while True:
            told = self._sqs.receive_message(
                QueueUrl=self.queue,
                MaxNumberOfMessages=10,
                VisibilityTimeout=HIDDEN,
                MessageAttributeNames=["All"],
            ).get("Messages", [])
            for one in told:
                visible = int(one["MessageAttributes"]["visible"]["StringValue"])
                self.messages.append(Message(one["Body"], one["ReceiptHandle"], visible))
            if not told:
                return

    def _deliver(self, messages: list[Message]) -> None:
        """One batch to a worker, which may die of it: then nobody has acknowledged, and all come again."""
        for one in messages:
            one.visible, one.receives = self.clock.now() + VISIBILITY, one.receives + 1
        self.wire.mortal = True
        try:
            done = self._run([Delivery(one.body, one.receipt, one.receives) for one in messages])
        except (Died, MinuteroError):
            return
        finally:
            self.wire.mortal = False
        if done:
            entries = [{"Id": str(at), "ReceiptHandle": receipt} for at, receipt in enumerate(done)]
            self._sqs.delete_message_batch(QueueUrl=self.queue, Entries=entries)
        gone = set(done)
        self.messages = [one for one in self.messages if one.receipt not in gone]

    def _run(self, deliveries: list[Delivery]) -> list[str]:
        batch, done = self._worker().batch(self.clock.now() + WORKER_TIME), []
        for delivery in batch.read(deliveries):
            try:
                verdict = batch.run(delivery)
            except (Kept, MinuteroError):
                continue
            task_id = parse_message(delivery.body)[0].task_id
            if verdict in {Verdict.ENDED, Verdict.KNOWN}:
                self.seen.over.add(task_id)
            self.seen.ended[task_id] += verdict is Verdict.ENDED
            done.append(delivery.receipt)
            self._waiting.pop(delivery.body, None)
        return done

    def _work(self, payload: Any, run: Run) -> Any:
        """The job: one effect, by its name; some fail at first, some processes die of it."""
        name = payload.get("name") or f"{payload['schedule']} {run.scheduled_for:%H:%M}"
        now, seen = self.clock.now(), self.seen
        if not seen.starts[name]:
            seen.lateness.append(now - int(run.run_at.timestamp() * SECOND))
        seen.starts[name] += 1
        if now < int(run.run_at.timestamp() * SECOND):
            seen.early.append(name)
        if run.task_id in seen.over:
            seen.again.append(name)
        if payload.get("fails") and run.attempt == 1:
            raise ValueError("the first attempt fails")
        if payload.get("effect", True):
            with run.once(name) as tx:
                tx.update(self.wallets, {"id": name}, "ADD coins :one", values={":one": 1})
        if self.wire.dies(self._deaths_in_jobs):
            raise Died
        return name

    # --- what came of it

    def coins(self) -> dict[str, int]:
        """How often each effect took place."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.wallets)
        rows = [row for page in pages for row in page["Items"]]
        return {row["id"]["S"]: int(row["coins"]["N"]) for row in rows}

    def numbers(self) -> dict[str, Any]:
        """What is promised, in numbers; and what went wrong meanwhile."""
        faults = {"messages": len(self.sent), "faults": dict(self.wire.told)}
        return {**self.seen.numbers(self.coins()), **faults}

    def watermarks(self) -> list[int]:
        """Of each shard."""
        cursors = [self.api.stats.cursors.get(shard) for shard in range(self._shards)]
        return [cursor.watermark for cursor in cursors if cursor is not None]

    def open_claims(self) -> int:
        """Notes of batches that are left."""
        pages = self.dynamodb.get_paginator("scan").paginate(TableName=self.names.tasks)
        return sum(row["sk"]["S"].startswith("~") for page in pages for row in page["Items"])
