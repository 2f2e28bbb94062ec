"""A stand-in for the HTTP API: it keeps the requests and answers what the test laid ready."""

import contextlib
import io
import json
import logging
import urllib.error
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlsplit

import pytest

from minutero_cli import api_client
from minutero_cli.main import run
from minutero_cli.transfer.patience import Patience

from .memory_api import MemoryApi

TASK = {
    "task_id": "1abc",
    "job": "echo",
    "payload": {"a": 1},
    "run_at": "2026-12-01T09:00:00Z",
    "status": "scheduled",
    "max_attempts": 5,
}
HOSTILE = "[red]a[/red]\x1b[2J\n\t\u2028\u202e\x9b:bomb:"
"""A value that would colour, clear, break or turn round a line if it were let through."""


class Reply(io.BytesIO):
    def __init__(self, status, text):
        super().__init__(text.encode())
        self.status = status


@dataclass
class FakeApi:
    replies: list = field(default_factory=list)
    requests: list = field(default_factory=list)
    waits: list = field(default_factory=list)

    def answers(self, status, body, **headers):
        text = body if isinstance(body, str) else json.dumps(body)
        self.replies.append((status, text, headers))

    def refuses(self, status, code, message, **headers):
        self.answers(status, {"error": {"code": code, "message": message}}, **headers)

    def open(self, request, timeout):
        self.requests.append(request)
        if not self.replies:
            raise urllib.error.URLError(ConnectionRefusedError(111, "Connection refused"))
        status, text, headers = self.replies.pop(0)
        if status >= 400:
            headers = {name.replace("_", "-"): value for name, value in headers.items()}
            raise urllib.error.HTTPError(request.full_url, status, "", headers, Reply(status, text))
        return Reply(status, text)

    @property
    def sent(self):
        return json.loads(self.requests[-1].data)

    @property
    def calls(self):
        """(method, path) of each request."""
        return [
            (one.method, urlsplit(one.full_url).path.removeprefix("/api")) for one in self.requests
        ]

    @property
    def queries(self):
        return [dict(parse_qsl(urlsplit(one.full_url).query)) for one in self.requests]


@pytest.fixture
def api(monkeypatch):
    fake = FakeApi()
    monkeypatch.setattr(api_client, "_opener", lambda _url: fake)
    monkeypatch.setattr(api_client.time, "sleep", fake.waits.append)
    monkeypatch.setenv("MINUTERO_API_URL", "http://127.0.0.1:1/api/")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    return fake


class Terminal(io.StringIO):
    """A terminal of 120 columns with colours, and what it shows."""

    def isatty(self):
        return True

    def run(self, words):
        """The exit code of a command that is called here."""
        with contextlib.redirect_stdout(self):
            return run(words)


@pytest.fixture
def memory_api(monkeypatch, caplog):
    """The API over a deployment in memory; nothing waits between tries."""
    caplog.set_level(logging.CRITICAL)
    made = MemoryApi(monkeypatch)
    monkeypatch.setattr(api_client, "_opener", lambda _url: made)
    monkeypatch.setattr(api_client.time, "sleep", lambda _seconds: None)
    monkeypatch.setattr(Patience, "wait", lambda _self, *pauses: made.waits.append(pauses))
    monkeypatch.setenv("MINUTERO_API_URL", "http://127.0.0.1:1/api/")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    return made


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    return Terminal()
