"""The built functions, run in one of two ways: in containers by sam, or under the emulator alone."""

import json
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from minutero_cli.local.state import HOST

PATIENCE_SECONDS = 300
"""For what takes seconds on a machine that does nothing else."""
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class FunctionError(Exception):
    """A function could not be run, or did not answer; says what it said instead."""


@dataclass(frozen=True)
class Told:
    """What a function answered, and what it logged."""

    answer: Any
    logs: str


class Functions(Protocol):
    """The functions of the built template against a local stack."""

    @property
    def where(self) -> str:
        """In what they run, for people."""

    def invoke(self, function: str, event: Path) -> Told:
        """Call a function by its logical id. Raises FunctionError when it fails."""

    def http(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Ask the API: status and parsed body."""


def told_by(answer: str, logs: str) -> Told:
    """sam and the emulator end with 0 whatever happened: only what was answered tells."""
    try:
        found = json.loads(answer)
    except ValueError:
        raise FunctionError(f"no JSON came back: {answer[-500:]!r}\n{logs[-3000:]}") from None
    if isinstance(found, dict) and "errorMessage" in found:
        raise FunctionError(f"{found['errorMessage']}\n{logs[-3000:]}")
    return Told(found, logs)


def ask(method: str, url: str, body: Any = None) -> tuple[int, Any]:
    """One request over loopback, its body and its answer in JSON."""
    status, told = ask_text(method, url, None if body is None else json.dumps(body))
    return status, json.loads(told)


def ask_text(method: str, url: str, text: str | None) -> tuple[int, str]:
    """One request over loopback: status and body."""
    data = None if text is None else text.encode()
    kind = {"Content-Type": "application/json"}
    request = urllib.request.Request(url, data, kind, method=method)
    try:
        with _direct.open(request, timeout=PATIENCE_SECONDS) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


@contextmanager
def process(
    command: list[str], log: Path, environment: dict[str, str], folder: Path
) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is ended with the block, gently first."""
    with log.open("wb") as output:
        started = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env=environment, cwd=folder, start_new_session=True,
        )  # fmt: skip
    try:
        yield started
    finally:
        started.terminate()
        try:
            started.wait(20)
        except subprocess.TimeoutExpired:
            started.kill()
            started.wait()


def wait_for(started: subprocess.Popen[bytes], log: Path, port: int) -> None:
    """Wait until the process listens on this loopback port, or raise what it said."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while started.poll() is None and time.monotonic() < deadline:
        with socket.socket() as probe:
            if not probe.connect_ex((HOST, port)):
                return
        time.sleep(0.1)
    raise FunctionError(f"nothing serves on port {port}:\n{log.read_text()[-3000:]}")
