"""The HTTP API over a deployment in memory, as the command's requests reach it."""

import importlib.util
import io
import json
import logging
import sys
import urllib.error
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from threading import Lock
from types import SimpleNamespace
from unittest.mock import patch
from urllib.parse import unquote, urlsplit

# The folders of tests are no packages; how a request becomes an event is the fuzzer's.
sys.path.insert(0, str(Path(__file__).parents[2] / "fuzz"))

from memory_app import event_of, gives_up

from minutero import wiring
from minutero.aws import json_lines
from minutero.domain.task import Task
from minutero.testing import MinuteroApp

ROOT = Path(__file__).parents[3]


@cache
def api_app():
    """functions/api/app.py; what it serves is what `wiring.api` gives it."""
    spec = importlib.util.spec_from_file_location("api_in_memory", ROOT / "functions/api/app.py")
    module = importlib.util.module_from_spec(spec)
    # Its logger would print from then on, in other tests too.
    with patch.object(json_lines, "function_logger", lambda: logging.getLogger("minutero")):
        spec.loader.exec_module(module)
    return module


class Reply(io.BytesIO):
    def __init__(self, answer):
        super().__init__(answer["body"].encode())
        self.status = answer["statusCode"]


class MemoryApi:
    """Stands where the command opens its connections. No time passes by itself.

    `faults` are called one a request, before it is answered; what one returns is called after.
    """

    def __init__(self, monkeypatch):
        self._lock = Lock()
        self.faults = iter(())
        self.requests = []
        self.waits = []
        self.forget()
        monkeypatch.setattr(wiring, "api", lambda: self.app._api)
        # It would print to the command's output.
        monkeypatch.setattr(wiring.METER, "emit", lambda: None)

    def forget(self):
        """A deployment that has just been made."""
        self.app = MinuteroApp(datetime.now(UTC))
        self.app.job("echo")(lambda payload, run: payload)
        self.app.job("gives_up")(gives_up)

    @property
    def now(self):
        """Milliseconds."""
        return self.app._clock.now()

    def open(self, request, timeout):
        url = urlsplit(request.full_url)
        environ = {
            "REQUEST_METHOD": request.method,
            "PATH_INFO": unquote(url.path.removeprefix("/api")),
            "QUERY_STRING": url.query,
            "wsgi.input": io.BytesIO(request.data or b""),
        }
        with self._lock:  # the handler answers one request at a time, as on Lambda
            self.requests.append(request)
            fault = next(self.faults, None)
            after = fault() if fault else None
            call = SimpleNamespace(aws_request_id="memory")
            answer = api_app().handler(event_of(environ), call)
            if after:
                after()
        if answer["statusCode"] >= 400:
            headers = {name: str(value) for name, value in answer["headers"].items()}
            raise urllib.error.HTTPError(
                request.full_url, answer["statusCode"], "", headers, Reply(answer)
            )
        return Reply(answer)

    def tasks(self):
        """All that are stored, by their keys; a key is there once, or this fails."""
        buckets = self.app._memory.tasks.buckets.values()
        stored = [item for bucket in buckets for item in bucket.values() if isinstance(item, Task)]
        by_key = {task.key: task for task in stored}
        assert len(by_key) == len(stored)
        return by_key

    @property
    def batches(self):
        """The tasks of each request that adds some."""
        sent = [one for one in self.requests if one.full_url.endswith("/tasks/batch")]
        return [json.loads(one.data)["tasks"] for one in sent]


def lost():
    """A fault: the request is done, and its answer does not come."""

    def lose():
        raise urllib.error.URLError(ConnectionResetError(104, "Connection reset by peer"))

    return lose


def refused(status, **headers):
    """A fault: something before the API answers, and the API sees nothing of it."""

    def refuse():
        raise urllib.error.HTTPError("", status, "", headers, io.BytesIO(b"{}"))

    return refuse
