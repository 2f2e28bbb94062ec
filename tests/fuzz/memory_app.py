"""The HTTP API's own handler over the in-memory deployment, as a WSGI application."""

import base64
import importlib.util
import json
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl

from minutero import wiring
from minutero.errors import PermanentFailure
from minutero.testing import MinuteroApp

ROOT = Path(__file__).parents[2]
WORKS_EVERY = 10
"""Requests, and seconds. Between them tasks wait, so that they can be moved and cancelled too."""


def gives_up(payload, run):
    raise PermanentFailure("account closed")


class MemoryApp:
    """Answers requests. Now and then some seconds pass, in which what is due runs."""

    def __init__(self, monkeypatch):
        self._answered = 0
        self._deployment = MinuteroApp(datetime.now(UTC))
        self._deployment.job("echo")(lambda payload, run: payload)
        self._deployment.job("gives_up")(gives_up)
        monkeypatch.setattr(wiring, "api", lambda: self._deployment._api)
        spec = importlib.util.spec_from_file_location("fuzzed_api", ROOT / "functions/api/app.py")
        self._module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self._module)

    @property
    def jobs(self):
        return self._deployment.job_names()

    def document(self):
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/openapi.json"}
        return json.loads(self._answer(environ)["body"])

    def __call__(self, environ, start_response):
        answer = self._answer(environ)
        self._answered += 1
        if self._answered % WORKS_EVERY == 0:
            self._deployment.advance(seconds=WORKS_EVERY)
        start_response(f"{answer['statusCode']} X", list(answer["headers"].items()))
        return [answer["body"].encode()]

    def _answer(self, environ):
        return self._module.handler(event_of(environ), SimpleNamespace(aws_request_id="fuzz"))


def event_of(environ):
    """An event of an HTTP API, payload version 2.0: a parameter that comes twice is joined by a comma.

    https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html
    """
    path = environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
    body = environ["wsgi.input"].read() if "wsgi.input" in environ else b""
    query = {}
    for name, value in parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True):
        query[name] = f"{query[name]},{value}" if name in query else value
    http = {"method": environ["REQUEST_METHOD"], "path": path}
    return {
        "version": "2.0",
        "rawPath": path,
        "rawQueryString": environ.get("QUERY_STRING", ""),
        "queryStringParameters": query,
        "headers": {"content-type": environ.get("CONTENT_TYPE", "")},
        "requestContext": {"http": http, "stage": "$default"},
        "body": base64.b64encode(body).decode(),
        "isBase64Encoded": True,
    }
