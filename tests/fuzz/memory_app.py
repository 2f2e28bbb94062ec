"""The HTTP API's own handler over the in-memory deployment, as a WSGI application."""

import base64
import importlib.util
import json
import time
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import parse_qsl

from world import World

from minutero import wiring
from minutero.domain.instants import SECOND
from minutero.errors import PermanentFailure
from minutero.service.add_tasks import AddTasks
from minutero.service.dead_list import DeadList
from minutero.service.entries import Api
from minutero.service.list_tasks import ListTasks
from minutero.service.read_stats import ReadStats
from minutero.testing.memory import one_by_one

ROOT = Path(__file__).parents[2]
WORKS_EVERY = 10
"""Requests. Between them tasks wait, so that they can be moved and cancelled too."""


def gives_up(payload, run):
    raise PermanentFailure("account closed")


class MemoryApp:
    """Answers requests. A second passes with each; now and then the worker works and the dead are listed."""

    def __init__(self, monkeypatch):
        self._answered = 0
        self.world = World(time.time_ns() // 1_000_000, shards=2)
        self.world.job("gives_up", gives_up)
        api = api_over(self.world)
        monkeypatch.setattr(wiring, "api", lambda: api)
        spec = importlib.util.spec_from_file_location("fuzzed_api", ROOT / "functions/api/app.py")
        self._module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(self._module)

    @property
    def jobs(self):
        return sorted(self.world.jobs)

    def document(self):
        environ = {"REQUEST_METHOD": "GET", "PATH_INFO": "/openapi.json"}
        return json.loads(self._answer(environ)["body"])

    def __call__(self, environ, start_response):
        answer = self._answer(environ)
        self.world.clock.advance(SECOND)
        self._answered += 1
        if self._answered % WORKS_EVERY == 0:
            self.world.work()
        while self.world.dead:
            self.world.bury_message(self.world.dead.pop().pointer)
        start_response(f"{answer['statusCode']} X", list(answer["headers"].items()))
        return [answer["body"].encode()]

    def _answer(self, environ):
        return self._module.handler(event_of(environ), SimpleNamespace(aws_request_id="fuzz"))


def api_over(world):
    """What `wiring.api_parts` builds over AWS."""
    shards, clock = world.shards, world.clock
    lists = ListTasks(world.store, world.ledger, shards, clock, one_by_one)
    dead = DeadList(
        world.store, world.read_task, world.move, shards, clock, world.timing, one_by_one
    )
    return Api(
        add_task=world.add_task,
        add_tasks=AddTasks(world.add_task, world.store, one_by_one, clock),
        read_task=world.read_task,
        list_tasks=lists,
        cancel=world.cancel,
        move=world.move,
        dead=dead,
        stats=ReadStats(world.cursors, world.queue, lists, shards, clock, one_by_one),
        put_schedule=world.put_schedule,
        pause_schedule=world.pause_schedule,
        run_schedule=world.run_schedule,
        revise_schedule=world.revise,
        schedules=world.schedules,
        jobs=world.catalog,
        settings=world.settings,
        task_entry=None,
        clock=clock,
    )


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
