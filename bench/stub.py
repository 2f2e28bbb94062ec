"""A server that answers DynamoDB's and SQS's JSON protocol at once, on the loopback interface.

It runs in a process of its own, so that its CPU is not its client's. What it holds is in memory; conditions,
updates and filters are what they are on AWS. A message can be received at once, whatever its delay.

Run alone, `python -m bench.stub` prints its port and serves until its standard input ends.
"""

import asyncio
import http.client
import json
import os
import re
import subprocess
import sys
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import md5
from pathlib import Path
from typing import IO, Any, cast
from unittest.mock import patch
from uuid import uuid4
from zlib import crc32

from bench.stub_tables import Answer, Refused, Request, Tables

ROOT = Path(__file__).parents[1]
HOST = "127.0.0.1"
OVER_TABLES = {"BatchExecuteStatement", "BatchGetItem", "BatchWriteItem", "TransactWriteItems"}
"""Operations that may touch several tables, and tell what they consumed in a list."""

UNITS = {"TableName": "Tasks", "CapacityUnits": 1.0}


class Queues:
    """SQS's operations, as methods named like them. Queues are there when they are first asked for."""

    def __init__(self) -> None:
        self._waiting: dict[str, deque[dict[str, Any]]] = {}
        self._in_hand: dict[str, dict[str, dict[str, Any]]] = {}

    def send_message(self, request: Request) -> Answer:
        message = {"MessageId": str(uuid4()), "Body": request["MessageBody"]}
        message["MD5OfBody"] = md5(message["Body"].encode(), usedforsecurity=False).hexdigest()
        self._waiting.setdefault(request["QueueUrl"], deque()).append(message)
        return {"MessageId": message["MessageId"], "MD5OfMessageBody": message["MD5OfBody"]}

    def send_message_batch(self, request: Request) -> Answer:
        url = request["QueueUrl"]
        sent = [
            {"Id": entry["Id"], **self.send_message({"QueueUrl": url, **entry})}
            for entry in request["Entries"]
        ]
        return {"Successful": sent}

    def receive_message(self, request: Request) -> Answer:
        waiting = self._waiting.get(request["QueueUrl"], deque())
        in_hand = self._in_hand.setdefault(request["QueueUrl"], {})
        received = []
        for _ in range(min(len(waiting), request.get("MaxNumberOfMessages", 1))):
            message = {**waiting.popleft(), "ReceiptHandle": str(uuid4())}
            in_hand[message["ReceiptHandle"]] = message
            received.append({**message, "Attributes": {"ApproximateReceiveCount": "1"}})
        return {"Messages": received} if received else {}

    def delete_message_batch(self, request: Request) -> Answer:
        in_hand = self._in_hand.get(request["QueueUrl"], {})
        for entry in request["Entries"]:
            in_hand.pop(entry["ReceiptHandle"], None)
        return {"Successful": [{"Id": entry["Id"]} for entry in request["Entries"]]}

    def get_queue_attributes(self, request: Request) -> Answer:
        url = request["QueueUrl"]
        counts = {
            "ApproximateNumberOfMessages": len(self._waiting.get(url, ())),
            "ApproximateNumberOfMessagesDelayed": 0,
            "ApproximateNumberOfMessagesNotVisible": len(self._in_hand.get(url, ())),
        }
        return {"Attributes": {name: str(count) for name, count in counts.items()}}


class Services:
    """Both services, and how often each operation was called."""

    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()
        self._tables, self._queues = Tables(), Queues()

    def answer(self, target: str, body: bytes) -> tuple[int, Answer]:
        """`DynamoDB_20120810.Query` and what it was sent -> the status and what is sent back."""
        service, _, operation = target.partition(".")
        self._calls[operation] += 1
        name = re.sub(r"(?<!^)(?=[A-Z])", "_", operation).lower()
        of_service = self._tables if service.startswith("DynamoDB") else self._queues
        method = getattr(of_service, name, None)
        if method is None:
            return 400, {"__type": "UnknownOperationException", "message": f"no {target} here"}
        request = json.loads(body)
        try:
            answer: Answer = method(request)
        except Refused as refused:
            return 400, refused.answer
        if "ReturnConsumedCapacity" in request:
            answer["ConsumedCapacity"] = [UNITS] if operation in OVER_TABLES else UNITS
        return 200, answer

    def about(self, body: bytes) -> tuple[int, Answer]:
        """What a stub's owner asks: the counts. After `clear`, everything is forgotten."""
        calls: Answer = dict(self._calls)
        if body == b"clear":
            self._calls.clear()
            self._tables, self._queues = Tables(), Queues()
        return 200, calls


class Connection(asyncio.Protocol):
    """One connection that is kept; requests come one after the other."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, found, rest = self._received.partition(b"\r\n\r\n")
        if not found:
            return
        headers = {
            name.lower(): value.strip()
            for name, _, value in (line.partition(":") for line in head.decode().split("\r\n"))
        }
        length = int(headers.get("content-length", "0"))
        if len(rest) < length:
            return
        self._received = rest[length:]
        target, body = headers.get("x-amz-target"), rest[:length]
        told = self._services.answer(target, body) if target else self._services.about(body)
        self._transport.write(_response(*told))


def _response(status: int, answer: Answer) -> bytes:
    """The headers are those of DynamoDB: to parse them is a part of what a call costs."""
    body = json.dumps(answer, separators=(",", ":")).encode()
    head = (
        f"HTTP/1.1 {status} {'OK' if status == 200 else 'Bad Request'}\r\n"
        "Server: Server\r\nDate: Mon, 30 Nov 2026 00:00:00 GMT\r\n"
        f"Content-Type: application/x-amz-json-1.0\r\nContent-Length: {len(body)}\r\n"
        f"Connection: keep-alive\r\nx-amzn-RequestId: {uuid4()}\r\nx-amz-crc32: {crc32(body)}\r\n\r\n"
    )
    return head.encode() + body


class Stub:
    """A stub that runs."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.url = f"http://{HOST}:{port}"

    @property
    def environment(self) -> Mapping[str, str]:
        """What the functions of a deployment would find in theirs, were it deployed to the stub."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "MINUTERO_TASKS_TABLE": "Tasks",
            "MINUTERO_SCHEDULES_TABLE": "Schedules",
            "MINUTERO_CURSORS_TABLE": "Cursors",
            "MINUTERO_RUNS_TABLE": "Runs",
            "MINUTERO_TASKS_QUEUE_URL": f"{self.url}/000000000000/tasks",
            "MINUTERO_DEAD_LETTER_QUEUE_URL": f"{self.url}/000000000000/dead-letters",
            "MINUTERO_WORKER_FUNCTION": "worker",
            "MINUTERO_DISPATCHER_FUNCTION": "dispatcher",
        }

    def calls(self) -> Counter[str]:
        """How often each operation was called, since the start or the last `clear`."""
        return self._ask("")

    def clear(self) -> Counter[str]:
        """Forgets all items, messages and counts; what the counts were."""
        return self._ask("clear")

    def _ask(self, body: str) -> Counter[str]:
        connection = http.client.HTTPConnection(HOST, self._port, timeout=10)
        connection.request("POST", "/", body)
        calls = Counter(json.loads(connection.getresponse().read()))
        connection.close()
        return calls


@contextmanager
def running() -> Iterator[Stub]:
    """Starts a stub and ends it."""
    command = [sys.executable, "-m", "bench.stub"]
    with subprocess.Popen(  # noqa: S603 - this very module
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        yield Stub(int(cast("IO[str]", process.stdout).readline()))


@contextmanager
def deployed() -> Iterator[Stub]:
    """A stub that this process takes for the deployment."""
    with running() as stub, patch.dict(os.environ, stub.environment):
        yield stub


async def _serve() -> None:
    services = Services()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(services), HOST, 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    # Whoever started it is gone when its standard input ends.
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_serve())
