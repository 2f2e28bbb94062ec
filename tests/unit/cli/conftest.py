"""A stand-in for the HTTP API: it keeps the requests and answers what the test laid ready."""

import io
import json
import urllib.error
from dataclasses import dataclass, field

import pytest

from minutero_cli import api_client

TASK = {
    "task_id": "1abc",
    "job": "echo",
    "payload": {"a": 1},
    "run_at": "2026-12-01T09:00:00Z",
    "status": "scheduled",
    "max_attempts": 5,
}


class Reply(io.BytesIO):
    def __init__(self, status, text):
        super().__init__(text.encode())
        self.status = status


@dataclass
class FakeApi:
    replies: list = field(default_factory=list)
    requests: list = field(default_factory=list)

    def answers(self, status, body):
        self.replies.append((status, body if isinstance(body, str) else json.dumps(body)))

    def open(self, request, timeout):
        self.requests.append(request)
        if not self.replies:
            raise urllib.error.URLError(ConnectionRefusedError(111, "Connection refused"))
        status, text = self.replies.pop(0)
        if status >= 400:
            raise urllib.error.HTTPError(request.full_url, status, "", {}, Reply(status, text))
        return Reply(status, text)

    @property
    def sent(self):
        return json.loads(self.requests[-1].data)


@pytest.fixture
def api(monkeypatch):
    fake = FakeApi()
    monkeypatch.setattr(api_client, "_opener", lambda _url: fake)
    monkeypatch.setenv("MINUTERO_API_URL", "http://127.0.0.1:1/api/")
    monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
    return fake
