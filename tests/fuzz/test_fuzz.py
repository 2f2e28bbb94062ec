"""No request that the OpenAPI document allows or forbids gets an answer that it does not tell of."""

import json

import pytest

from tests.fuzz.deployed import deployed
from tests.fuzz.engine import fuzz
from tests.fuzz.memory_app import MemoryApp

IN_MEMORY, ON_THE_STACK = 900, 450
REACHED = {"200", "201", "202", "400", "404", "405", "409"}
"""Answers that the requests have to bring about, else the fuzzing would be of little worth."""


def test_every_answer_of_the_handler_is_a_documented_one(monkeypatch):
    app = MemoryApp(monkeypatch)
    document = app.document()
    report = fuzz(document, IN_MEMORY, jobs=app.jobs, app=app)
    assert not report.broken, json.dumps(report.broken, indent=2)
    assert report.requests >= IN_MEMORY
    assert report.statuses.keys() >= REACHED
    operations = {
        f"{method.upper()} {path}"
        for path, methods in document["paths"].items()
        for method in methods
    }
    assert report.answers.keys() == operations


@pytest.mark.stack
def test_every_answer_of_the_deployed_api_is_a_documented_one():
    with deployed() as api:
        document = api.get("/openapi.json").body
        jobs = api.get("/jobs").body["jobs"]
        report = fuzz(document, ON_THE_STACK, jobs=jobs, base_url=api.url)
    print(report.numbers())
    assert not report.broken, json.dumps(report.broken, indent=2)
    assert report.requests >= ON_THE_STACK
    assert report.statuses.keys() >= REACHED - {"202"}
