"""An empty deployment on a MiniStack, its functions in this process, and a clock that is moved by hand.

Lambda's part is played here: API Gateway's and EventBridge's events, and the polling of the queue in batches
of ten. What each call of a function costs is counted too.
"""

import io
import json
import secrets
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout
from functools import cache
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import botocore.session

from bench.meter import Meter
from bench.replay import load_function
from minutero import jobs, wiring
from minutero.aws import clients
from minutero.aws.tables import TableNames, bind
from minutero.domain.exchanged import Growth
from minutero.domain.instants import SECOND, format_instant
from minutero.testing.clock import SettableClock

ROOT = Path(__file__).parents[1]
REGION = "us-east-1"
START = 1_900_000_020_000
"""The beginning of a minute."""

MEMORY_GB = {"api": 0.5, "dispatcher": 1.0, "worker": 0.5, "auditor": 0.5}
"""As template.yaml has it."""

REQUEST_SECONDS = 0.006
CALL_SECONDS = 0.003
"""Reckoned, not measured: what a request to DynamoDB or SQS takes within a region, with its CPU, and what a
call of a function takes beyond its requests. They count one after the other, although many are made side by
side; so the time of a function is more in the ledger than it is."""

LAMBDA_LINES = 3
LAMBDA_LINE_BYTES = 150
LINE_OVERHEAD = 26
"""START, END and REPORT of each call; and what CloudWatch adds to each line."""

BATCH = 10
VISIBILITY = "3600"
JOB = "measured"


@cache
def function(name: str) -> ModuleType:
    """One of the functions, imported once."""
    if name == "worker":
        sys.path.insert(0, str(ROOT / "functions" / name))
    return load_function(name)


class Deployment:
    """See the module. `meter` counts what its functions do."""

    def __init__(self, endpoint: str, meter: Meter, plain: Any, sqs: Any, queue: str) -> None:
        self.endpoint, self.meter, self.clock = endpoint, meter, SettableClock(START)
        self._plain, self._sqs, self._queue = plain, sqs, queue
        self._held: deque[tuple[int, dict[str, Any]]] = deque()
        self._received = 0.0

    def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """One HTTP request; the parsed answer. Raises AssertionError for one that is refused."""
        event = json.loads((ROOT / "events/http_post_tasks.json").read_text("utf-8"))
        event |= {"rawPath": path, "body": json.dumps(body)}
        event["requestContext"]["http"]["path"] = path
        self.meter.add("http_requests", 1)
        answer = self._call("api", event)
        if answer["statusCode"] >= 300:
            raise AssertionError(answer["body"])
        return json.loads(answer["body"])

    def tick(self) -> Any:
        """EventBridge's minute."""
        return self._call("dispatcher", {"time": format_instant(self.clock.now())})

    def audit(self) -> Any:
        """EventBridge's five minutes."""
        return self._call("auditor", {})

    def begin(self, shards: int) -> None:
        """Announces the jobs, and has so many shards since now: there is no backlog to walk over."""
        self._call("worker", {"minutero": "announce_jobs"})
        wiring.api().settings.grow(Growth(shards, START))

    def deliver(self) -> int:
        """Receives what was sent, and has the worker run what is due; how many messages that were."""
        while self._received < self.meter.total("messages_sent"):
            self._receive()
        ready = []
        while self._held and self._held[0][0] <= self.clock.now():
            ready.append(self._held.popleft()[1])
        for start in range(0, len(ready), BATCH):
            self._work(ready[start : start + BATCH])
        return len(ready)

    def _receive(self) -> None:
        """SQS's clock is not ours: what comes is held here until it is due, as SQS would have held it."""
        answer = self._sqs.receive_message(QueueUrl=self._queue, MaxNumberOfMessages=BATCH)
        for one in answer["Messages"]:
            self._held.append((json.loads(one["Body"])["due"], one))
        self._received += len(answer["Messages"])

    def _work(self, messages: list[dict[str, Any]]) -> None:
        self.meter.add("messages", len(messages))
        records = [
            {
                "messageId": one["MessageId"],
                "receiptHandle": one["ReceiptHandle"],
                "body": one["Body"],
                "attributes": {"ApproximateReceiveCount": "1"},
                "eventSource": "aws:sqs",
            }
            for one in messages
        ]
        kept = self._call("worker", {"Records": records})["batchItemFailures"]
        if kept:
            raise AssertionError(f"the worker kept {kept}")
        entries: Any = [
            {"Id": str(at), "ReceiptHandle": one["ReceiptHandle"]}
            for at, one in enumerate(messages)
        ]
        self._sqs.delete_message_batch(QueueUrl=self._queue, Entries=entries)

    def _call(self, name: str, event: dict[str, Any]) -> Any:
        context = SimpleNamespace(
            aws_request_id=secrets.token_hex(16),
            function_name=name,
            memory_limit_in_mb=512,
            invoked_function_arn=f"arn:aws:lambda:{REGION}:000000000000:function:{name}",
            get_remaining_time_in_millis=lambda: 50 * SECOND,
        )
        meter, log = self.meter, io.StringIO()
        before = meter.total("dynamodb_requests") + meter.total("sqs_requests")
        with redirect_stdout(log):
            answer = function(name).handler(event, context)
        requests = meter.total("dynamodb_requests") + meter.total("sqs_requests") - before
        lines = log.getvalue().splitlines()
        meter.add("function_calls", 1)
        meter.add("gb_seconds", MEMORY_GB[name] * (CALL_SECONDS + REQUEST_SECONDS * requests))
        told = LAMBDA_LINES * (LAMBDA_LINE_BYTES + LINE_OVERHEAD)
        meter.add("log_bytes", told + sum(len(line) + LINE_OVERHEAD for line in lines))
        meter.metrics |= {name for line in lines for name in _metrics(line)}
        return answer


@contextmanager
def deployed(endpoint: str, shards: int) -> Iterator[Deployment]:
    """A fresh deployment that this process takes for its own."""
    session = botocore.session.get_session()
    suffix = secrets.token_hex(4)
    with patch.dict("os.environ", _environment(endpoint, suffix, shards)):
        plain = clients.dynamodb(
            connections=2 * wiring.THREADS, session=botocore.session.get_session()
        )
        meter = Meter(session, plain)
        session.register("before-parameter-build.sqs.SendMessageBatch", _at_once(meter))
        _make(plain, session, suffix)
        queue = f"{endpoint}/000000000000/tasks-{suffix}"
        with patch.object(clients, "_session", lambda: session), _forgotten():
            deployment = Deployment(endpoint, meter, plain, clients.sqs(), queue)
            clock = deployment.clock
            with (
                patch.object(wiring.CLOCK, "now", clock.now),
                patch.object(wiring.CLOCK, "sleep", clock.sleep),
            ):
                yield deployment


def _environment(endpoint: str, suffix: str, shards: int) -> dict[str, str]:
    tables = {f"MINUTERO_{name.upper()}_TABLE": f"{name}-{suffix}" for name in TableNames.__slots__}
    return {
        **tables,
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "MINUTERO_TASKS_QUEUE_URL": f"{endpoint}/000000000000/tasks-{suffix}",
        "MINUTERO_DEAD_LETTER_QUEUE_URL": f"{endpoint}/000000000000/dead-{suffix}",
        "MINUTERO_WORKER_FUNCTION": "worker",
        "MINUTERO_DISPATCHER_FUNCTION": "dispatcher",
        "MINUTERO_SHARDS": str(shards),
        "POWERTOOLS_DEV": "false",
    }


def _make(dynamodb: Any, session: Any, suffix: str) -> None:
    names = TableNames(**{name: f"{name}-{suffix}" for name in TableNames.__slots__})
    tables = bind(dynamodb, names)
    for model in (tables.task, tables.run, tables.cursor, tables.schedule):
        model.create_table(billing_mode="PAY_PER_REQUEST")
    sqs = clients.sqs(session=botocore.session.get_session())
    for kind in ("tasks", "dead"):
        sqs.create_queue(QueueName=f"{kind}-{suffix}", Attributes={"VisibilityTimeout": VISIBILITY})


def _at_once(meter: Meter) -> Any:
    def send(params: Any, **_: Any) -> None:
        for entry in params["Entries"]:
            entry.pop("DelaySeconds")
        meter.add("messages_sent", len(params["Entries"]))

    return send


@contextmanager
def _forgotten() -> Iterator[None]:
    """The builders of the wiring, and what the worker announced, are this deployment's alone."""
    jobs.registry._jobs[JOB] = jobs.Job(JOB, lambda *_: None, result_required=False)
    _forget()
    yield
    _forget()


def _forget() -> None:
    for built in list(vars(wiring).values()):
        if hasattr(built, "cache_clear"):
            built.cache_clear()
    function("worker")._announce_once.cache_clear()


def _metrics(line: str) -> Iterator[str]:
    """The names of the metrics an EMF line tells."""
    told = json.loads(line) if '"_aws"' in line else {}
    for directive in told.get("_aws", {}).get("CloudWatchMetrics", ()):
        yield from (metric["Name"] for metric in directive["Metrics"])
