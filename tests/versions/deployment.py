"""Two versions of the package over the same tables, each in a process of its own."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from worlds import ROOT

from minutero.domain.instants import SECOND, format_instant

HERE = Path(__file__).parent
BEFORE = HERE / "before.zip"
PACKAGES = {
    "before": BEFORE / "layers" / "minutero",
    "now": ROOT / "layers" / "minutero",
}


class Version:
    """The process of one version."""

    def __init__(self, name: str, environment: dict[str, str]) -> None:
        self.name = name
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "driver.py")],
            env={**environment, "PYTHONPATH": str(PACKAGES[name])},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, now: int, call: str, dies: bool, given: dict[str, Any]) -> None:
        asked = {"now": now, "call": call, "dies": dies, "with": given}
        try:
            print(json.dumps(asked), file=self._process.stdin, flush=True)
        except BrokenPipeError:
            raise AssertionError(self._why_it_does_not_run()) from None

    def answer(self) -> dict[str, Any]:
        line = self._process.stdout.readline()
        assert line, self._why_it_does_not_run()
        return json.loads(line)

    def end(self) -> None:
        self._process.communicate()

    def _why_it_does_not_run(self) -> str:
        if self.name == "now":
            return "tests/versions/driver.py does not run; the captured stderr says why"
        with ZipFile(BEFORE) as frozen:
            pins = frozen.read("layers/dependencies/requirements.txt").decode()
        return (
            "the frozen version does not run, the captured stderr says why; what to do is in"
            f" docs/decisions/0011-two-versions-alive.md. It was made for:\n{pins}"
        )


@dataclass
class Message:
    """What SQS would have in hand. `visible` in milliseconds."""

    body: str
    visible: int


@dataclass
class Deployment:
    """Tables that both versions work on, and what is between them: the clock and the queues, of which the
    test is the only hand. `ran` lists each attempt of a job."""

    now: int
    environment: dict[str, str]
    client: Any
    messages: list[Message] = field(default_factory=list)
    dead_messages: list[str] = field(default_factory=list)
    ran: list[dict[str, Any]] = field(default_factory=list)

    @property
    def succeeded(self) -> list[str]:
        """Ids of tasks, once for each attempt that succeeded."""
        return [one["task_id"] for one in self.ran if one["did"] == "succeed"]

    def taken_in(self, told: dict[str, Any]) -> Any:
        """The result of a call; what it sent is in the queues, what it ran is noted."""
        for one in told["sent"]:
            if one["queue"] == self.environment["MINUTERO_TASKS_QUEUE_URL"]:
                visible = self.now + one["delay"] * SECOND
                self.messages.append(Message(one["body"], visible))
            else:
                self.dead_messages.append(one["body"])
        self.ran += told["ran"]
        if "error" in told:
            raise Refused(told["error"], told["why"])
        return told.get("result")

    def received(self) -> list[str]:
        """The bodies that are visible, taken off the queue."""
        taken = [one.body for one in self.messages if one.visible <= self.now]
        self.messages = [one for one in self.messages if one.visible > self.now]
        return taken

    def row(self, table: str, key: dict[str, str]) -> dict[str, Any]:
        raw = {name: {"S": value} for name, value in key.items()}
        return self.client.get_item(TableName=table, Key=raw, ConsistentRead=True)["Item"]


class Refused(Exception):
    """The call raised: `error` is the name of the exception."""

    def __init__(self, error: str, why: str) -> None:
        super().__init__(f"{error}: {why}")
        self.error = error


class Half:
    """One version at work on a deployment."""

    def __init__(self, version: Version, deployment: Deployment) -> None:
        self.version = version
        self._deployment = deployment
        self.call("open", environment=deployment.environment)

    def call(self, call: str, *, dies: bool = False, **given: Any) -> Any:
        self.ask(call, dies=dies, **given)
        return self.answer()

    def ask(self, call: str, *, dies: bool = False, **given: Any) -> None:
        self.version.ask(self._deployment.now, call, dies, given)

    def answer(self) -> Any:
        return self._deployment.taken_in(self.version.answer())

    def add(self, payload: Any = None, **wanted: Any) -> str:
        """The id of a new task; `run_at` in milliseconds."""
        if "run_at" in wanted:
            wanted["run_at"] = format_instant(wanted["run_at"])
        return self.call("add", payload=payload or {}, **wanted)["task_id"]

    def tick(self, *, dies: bool = False) -> Any:
        return self.call("tick", dies=dies)

    def work(self, bodies: list[str] | None = None, *, dies: bool = False) -> list[str]:
        """What became of the messages that are visible, or of these."""
        taken = self._deployment.received() if bodies is None else bodies
        return self.call("work", bodies=taken, dies=dies) if taken else []

    def bury(self) -> list[str]:
        """What became of the messages on the dead-letter queue."""
        taken, self._deployment.dead_messages = self._deployment.dead_messages, []
        return self.call("bury", bodies=taken)

    def read(self, task_id: str) -> Any:
        return self.call("read", task_id=task_id)

    def status(self, task_id: str) -> str:
        return self.read(task_id)["status"]
