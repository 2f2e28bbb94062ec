"""Runs schemathesis over an API's own OpenAPI document, for as many requests as are wanted.

Checked of every answer: it is no 5xx; its status, content type and body are the documented ones; what the
document does not allow is refused; a method there is not gets a 405 that names those there are.
"""

import copy
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

import schemathesis
from schemathesis.config import (
    ChecksConfig,
    GenerationConfig,
    ProjectConfig,
    ProjectsConfig,
    SchemathesisConfig,
)
from schemathesis.engine import Status, events, from_schema

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "unsupported_method",
)
ANSWERED_ONE_BY_ONE = ("POST /tasks/batch", "negative_data_rejection")
"""A bad task in a batch is refused within a 200."""

EXAMPLES = 10
"""Of each operation in a round, beside those that cover its rules one by one; then chains of calls, which
lead to tasks there are. A round has some 450 requests, and is repeated with the next seed."""

EXPRESSIONS = [
    *("rate(1 minute)", "rate(90 days)", "cron(0/5 * * * ? *)", "cron(30 2 ? * SUN 2027-2030)"),
    *("at(2032-01-01T00:00:00)", "cron(0 0 30 2 ? *)"),
]
ZONES = ["UTC", "America/New_York", "Europe/Kiev"]
LATER = ["2033-01-01T00:00:00Z", "2035-01-01T00:00:00+14:00"]
NAMES = ["nightly", "every-5", "a.b_c"]

SECONDS = 60
"""An answer may take so long: a cold start where two cores serve all of AWS."""


@dataclass
class Report:
    """What was asked and what came of it; `broken` has each kind of failure once, with its request."""

    requests: int = 0
    answers: dict[str, Counter[str]] = field(default_factory=dict)
    broken: dict[str, str] = field(default_factory=dict)

    @property
    def statuses(self):
        """How many answers there were of each status."""
        return sum(self.answers.values(), Counter())

    def numbers(self):
        return {
            "requests": self.requests,
            "server_errors": sum(n for status, n in self.statuses.items() if status[0] == "5"),
            "broken": len(self.broken),
            "statuses": dict(sorted(self.statuses.items())),
        }

    def add(self, recorder):
        """The requests of one scenario, and the checks they broke."""
        for case_id, interaction in recorder.interactions.items():
            self.requests += 1
            response = interaction.response
            status = "none" if response is None else str(response.status_code)
            operation = recorder.cases[case_id].value.operation.label
            self.answers.setdefault(operation, Counter())[status] += 1
        for checks in recorder.checks.values():
            for check in checks:
                if check.status == Status.FAILURE:
                    self._add_broken(check.name, check.failure_info)

    def _add_broken(self, name, info):
        failure = info.failure
        if (failure.operation, name) != ANSWERED_ONE_BY_ONE:
            told = f"{failure.operation}: {failure.title}: {failure.message}"
            self.broken.setdefault(told[:600], info.code_sample[:2_000])


def fuzz(document, requests, *, jobs, base_url=None, app=None, seed=0):
    """At least so many requests, in rounds, to the API at `base_url` or to a WSGI application."""
    report = Report()
    document = likely(document, jobs)
    while report.requests < requests:
        schema = schemathesis.openapi.from_dict(document, config=_config(seed, base_url))
        schema.app = app
        schema.hook("map_query")(one_question)
        stream = from_schema(schema).execute()
        for event in stream:
            match event:
                case events.ScenarioFinished():
                    report.add(event.recorder)
                    if report.requests >= requests:
                        stream.stop()
                case events.NonFatalError():
                    report.broken.setdefault(f"{event.label}: {event.value}"[:600], "")
                case events.FatalError():
                    raise event.exception
        seed += 1
    return report


def likely(document, jobs):
    """The document with values that lead somewhere: deployed jobs, and times of tasks there may be.

    What the document refuses is still tried: schemathesis breaks each rule in turn."""
    document = copy.deepcopy(document)
    schemas = document["components"]["schemas"]
    for body in ("NewTaskBody", "ScheduleBody"):
        schemas[body]["properties"]["job"]["enum"] = sorted(jobs)
    now = datetime.now(UTC)
    times = [f"{now + timedelta(minutes=m):%Y-%m-%dT%H:%M:%SZ}" for m in (-60, -1, 60, 600)]
    for body in ("NewTaskBody", "RescheduleBody"):
        schemas[body]["properties"]["run_at"]["anyOf"].append({"enum": times})
    of_schedule = schemas["ScheduleBody"]["properties"]
    of_schedule["expression"]["enum"] = EXPRESSIONS
    for name, values in (("timezone", ZONES), ("start_at", times[:3]), ("end_at", LATER)):
        of_schedule[name]["anyOf"][0] = {"enum": values}
    for parameter in _parameters(document):
        name, schema = parameter["name"], parameter["schema"]
        if name in ("from", "to"):
            schema["enum"] = times[:2] if name == "from" else times[2:]
        elif name == "name":
            parameter["schema"] = {"anyOf": [{"enum": NAMES}, schema]}
    return document


def _parameters(document):
    for operations in document["paths"].values():
        for operation in operations.values():
            yield from operation.get("parameters", ())


def one_question(context, query):
    """`GET /tasks` answers two questions. Asked both at once, as is likely where each parameter may be there
    or not, it would refuse nearly all."""
    if context.operation.label != "GET /tasks" or not query or len(str(query)) % 3 == 0:
        return query
    ours = (
        {"key", "tenant"}
        if "key" in query and len(query) % 2
        else {"from", "to", "status", "limit"}
    )
    return {name: value for name, value in query.items() if name in ours}


def _config(seed, base_url):
    checks = {name: {"enabled": True} for name in CHECKS}
    project = ProjectConfig(
        base_url=base_url,
        request_timeout=SECONDS,
        checks=ChecksConfig.from_dict({"enabled": False, **checks}),
        generation=GenerationConfig(max_examples=EXAMPLES, no_shrink=True, database="none"),
    )
    return SchemathesisConfig(seed=seed, projects=ProjectsConfig(default=project))
