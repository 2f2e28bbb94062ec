"""A long mixed load on a deployed local stack: near and far tasks, keyed ones, batches, schedules, cancels,
failures and retries. What it measures each minute must not grow, and at the end all must have ended right."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from minutero_cli.api_client import Api, ApiError

OVER = {"succeeded", "skipped", "expired", "dead", "cancelled"}
FAR_SECONDS = 150
LAST_SECONDS = 150
"""How long the last tasks have to end: a tick, a retry, a cold start."""

WARM_MINUTES = 2
"""Processes start and caches fill; growth is reckoned from then on."""

MEMORY_ALLOWED, FILES_ALLOWED, LAG_ALLOWED = 1.25, 1.25, 9 * 60
"""Times what it was after warming up, and seconds of lag: the settle grace, a tick, and the first hour's
buckets of an emulator at work."""


@dataclass(frozen=True)
class Usage:
    """Of a process and all below it: resident kilobytes and open files."""

    memory_kb: int
    files: int
    processes: int


def usage(pid: int) -> Usage:
    """Reads /proc, so it needs Linux."""
    memory = files = count = 0
    for one in _family(pid):
        with suppress(OSError, StopIteration):
            status = (one / "status").read_text().splitlines()
            memory += int(next(line for line in status if line.startswith("VmRSS")).split()[1])
            files += sum(1 for _ in (one / "fd").iterdir())
            count += 1
    return Usage(memory, files, count)


def _family(pid: int) -> Iterator[Path]:
    yield Path(f"/proc/{pid}")
    with suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                yield from _family(int(child))


class Soak:
    """A load on an API, and what it owes. `owed` is the ending of each task by its id."""

    def __init__(self, api: Api, pid: int, seed: int) -> None:
        self._api, self._pid = api, pid
        self._draw = Random(seed)
        self.owed: dict[str, str] = {}
        self.minutes: list[tuple[Usage, int | None]] = []

    def run(self, minutes: int) -> dict[str, Any]:
        """The load for so long, then what came of it."""
        body = {"job": "tally", "expression": "cron(* * * * ? *)"}
        self._api.put("/schedules/soak", body)
        end, measured = time.monotonic() + 60 * minutes, time.monotonic()
        while time.monotonic() < end:
            self._add()
            time.sleep(0.5)
            if time.monotonic() - measured >= 60:
                measured += 60
                self.measure()
        self._api.post("/schedules/soak/pause", {})
        return self._outcome()

    def _add(self) -> None:
        draw = self._draw
        delay = draw.choice([0, draw.randrange(30), draw.randrange(FAR_SECONDS)])
        kind = draw.choice(["one", "keyed", "batch", "cancelled", "fails", "gives up"])
        task = {"job": "tally", "payload": {"n": draw.randrange(1000)}, "delay_seconds": delay}
        match kind:
            case "keyed":
                self._owe(self._post({**task, "key": f"key-{draw.random()}"}), "succeeded")
            case "batch":
                answer = self._api.post("/tasks/batch", {"tasks": [task] * 5}).body
                for one in answer["results"]:
                    self._owe(one["task_id"], "succeeded")
            case "cancelled":
                task_id = self._post({**task, "delay_seconds": FAR_SECONDS})
                self._api.delete(f"/tasks/{task_id}")
                self._owe(task_id, "cancelled")
            case "fails":
                self._owe(self._post({**task, "job": "fail_first"}), "succeeded")
            case "gives up":
                self._owe(self._post({**task, "job": "give_up"}), "dead")
            case _:
                self._owe(self._post(task), "succeeded")

    def _post(self, body: dict[str, Any]) -> str:
        return str(self._api.post("/tasks", body).body["task_id"])

    def _owe(self, task_id: str, ending: str) -> None:
        self.owed[task_id] = ending

    def measure(self) -> None:
        """Prints one minute's numbers."""
        lag = None
        with suppress(ApiError):
            lag = self._api.get("/stats").body["watermark"]["lag_seconds"]
        now = usage(self._pid)
        self.minutes.append((now, lag))
        print(
            f"minute {len(self.minutes)}: {now.memory_kb // 1024} MB, {now.files} files, "
            f"{now.processes} processes, watermark lag {lag} s, {len(self.owed)} tasks",
            flush=True,
        )

    def _outcome(self) -> dict[str, Any]:
        deadline = time.monotonic() + FAR_SECONDS + LAST_SECONDS
        told: dict[str, Any] = {}
        waiting = set(self.owed)
        while waiting and time.monotonic() < deadline:
            for task_id in list(waiting):
                task = self._api.get(f"/tasks/{task_id}").body
                told[task_id] = task
                if task["status"] in OVER:
                    waiting.discard(task_id)
            time.sleep(2)
        endings = Counter(task["status"] for task in told.values())
        late = sorted(t["lateness_ms"] for t in told.values() if t["lateness_ms"] is not None)
        return {
            "tasks": len(self.owed),
            "endings": dict(endings),
            "early": sum(one < 0 for one in late),
            "lost": sum(told[one]["status"] != ending for one, ending in self.owed.items()),
            # `tally` tells how often it was called for its task.
            "doubled": sum(t["job"] == "tally" and (t["result"] or 0) > 1 for t in told.values()),
            "lateness_ms": {"p50": late[len(late) // 2], "max": late[-1]} if late else {},
            "grew": self.growth(),
        }

    def growth(self) -> list[str]:
        """What is larger at the end than it was when all was warm; empty for a soak of a few minutes."""
        warm, last = self.minutes[WARM_MINUTES:], self.minutes[-1:]
        if len(warm) < WARM_MINUTES:
            return []
        (first, _), (now, lag) = warm[0], last[0]
        grew = []
        if now.memory_kb > first.memory_kb * MEMORY_ALLOWED:
            grew.append("memory")
        if now.files > first.files * FILES_ALLOWED:
            grew.append("files")
        if lag is not None and lag > LAG_ALLOWED:
            grew.append("unsettled buckets")
        return grew
