"""The OpenAPI document: what Powertools derives from the routes, with what it leaves out."""

import re
from functools import cache
from pathlib import Path
from typing import Any

from aws_lambda_powertools.event_handler import ApiGatewayResolver
from aws_lambda_powertools.event_handler import openapi as powertools_openapi
from aws_lambda_powertools.event_handler.openapi.swagger_ui import generate_swagger_html
from pydantic import BaseModel

from minutero.http.queries import DeadListQuery, Parameters, StatsQuery, TaskListQuery
from minutero.http.schedule_queries import ExplainQuery, NextQuery, ScheduleListQuery
from minutero.http.schemas import (
    AddedTask,
    BatchAnswer,
    ErrorAnswer,
    ExplainAnswer,
    JobList,
    LetterList,
    LetterWithTask,
    NextAnswer,
    PutAnswer,
    RedriveAnswer,
    ScheduleAnswer,
    ScheduleList,
    TaskAnswer,
    TaskList,
)
from minutero.http.stats_schemas import StatsAnswer

VERSION = "0.1.0"

QUERIES: dict[str, type[Parameters]] = {
    "/tasks": TaskListQuery,
    "/dead": DeadListQuery,
    "/stats": StatsQuery,
    "/schedules": ScheduleListQuery,
    "/schedules/{name}/next": NextQuery,
    "/schedules/{name}/explain": ExplainQuery,
}
"""Paths whose GET takes a query string."""

_ERRORS = {
    400: "Malformed or impossible: the message says what to send instead",
    404: "There is none",
    409: "Its state forbids it",
    413: "Too large",
    429: "Too many requests; Retry-After says when to try again",
    503: "No answer from the store; Retry-After says when to try again",
}


def _json(description: str, model: type[BaseModel]) -> Any:
    return {"description": description, "content": {"application/json": {"model": model}}}


def _responses(answers: dict[int, tuple[str, type[BaseModel]]], *errors: int) -> Any:
    refused = {status: _json(_ERRORS[status], ErrorAnswer) for status in (*errors, 429, 503)}
    return {status: _json(*answer) for status, answer in answers.items()} | refused


POST_TASKS = _responses(
    {201: ("Added", AddedTask), 200: ("The key and body had added it before", TaskAnswer)},
    *(400, 409, 413),
)
POST_BATCH = _responses({200: ("What became of each, in order", BatchAnswer)}, 400, 413)
GET_TASKS = _responses({200: ("A page of tasks, or with `key` the task", TaskList)}, 400, 404)
GET_TASK = _responses({200: ("The task", TaskAnswer)}, 404)
CHANGE_TASK = _responses({200: ("The task as it is now", TaskAnswer)}, 400, 404, 409, 413)
RUN_TASK = _responses({202: ("The task as it is now", TaskAnswer)}, 404, 409)
GET_DEAD = _responses({200: ("A page of the dead", LetterList)}, 400)
ONE_DEAD = _responses({200: ("The dead run with its task", LetterWithTask)}, 404, 409)
POST_REDRIVE = _responses({200: ("What became of a page of the dead", RedriveAnswer)}, 400, 413)
PUT_SCHEDULE = _responses(
    {201: ("Made", PutAnswer), 200: ("Changed, or as it was before", PutAnswer)}, 400, 413
)
GET_SCHEDULES = _responses({200: ("A page of schedules", ScheduleList)}, 400)
ONE_SCHEDULE = _responses({200: ("The schedule", ScheduleAnswer)}, 400, 404)
CHANGE_SCHEDULE = _responses({200: ("The schedule as it is now", ScheduleAnswer)}, 400, 404, 413)
RUN_SCHEDULE = _responses({202: ("The task that runs now", TaskAnswer)}, 400, 404)
NEXT_TIMES = _responses({200: ("The times", NextAnswer)}, 400, 404)
EXPLAIN_SCHEDULE = _responses({200: ("The times, ascending", ExplainAnswer)}, 400, 404)
GET_JOBS = _responses({200: ("The names", JobList)})
GET_STATS = _responses({200: ("The numbers", StatsAnswer)}, 400)


def document(app: ApiGatewayResolver) -> dict[str, Any]:
    """The document, as JSON values."""
    schema = app.get_openapi_schema(
        title="Minutero",
        version=VERSION,
        description="A distributed task scheduler: tasks are added here and each runs at its second.",
    )
    found: dict[str, Any] = schema.model_dump(by_alias=True, exclude_none=True, mode="json")
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            # Bad input is a 400 here, with a shape of its own.
            operation["responses"].pop("422", None)
            if method == "get" and path in QUERIES:
                of_path = [one for one in operation.get("parameters", ()) if one["in"] == "path"]
                operation["parameters"] = [*of_path, *_parameters(QUERIES[path])]
    schemas = found["components"]["schemas"]
    for unused in ("HTTPValidationError", "ValidationError", "ResponseValidationError"):
        schemas.pop(unused, None)
    # A key asks for one task: the same path, another answer.
    tasks = found["paths"]["/tasks"]["get"]["responses"]["200"]["content"]["application/json"]
    tasks["schema"] = {"anyOf": [tasks["schema"], {"$ref": "#/components/schemas/TaskAnswer"}]}
    return found


def page(app: ApiGatewayResolver) -> str:
    """The document as a page that needs nothing from elsewhere."""
    from json import dumps  # noqa: PLC0415

    folder = Path(powertools_openapi.__file__).parent / "swagger_ui"
    return generate_swagger_html(
        # The text stands within a script: it must not end it.
        dumps(document(app)).replace("</", "<\\/"),
        (folder / "swagger-ui-bundle.min.js").read_text("utf-8"),
        (folder / "swagger-ui.min.css").read_text("utf-8"),
        "",
        None,
    )


def methods_of(app: ApiGatewayResolver, path: str) -> list[str]:
    """The methods a path takes, none where there is no such path."""
    return sorted(
        method.upper()
        for template, operations in _paths(app).items()
        if re.fullmatch(re.sub(r"\{[^}]*\}", "[^/]+", template), path)
        for method in operations
    )


@cache
def _paths(app: ApiGatewayResolver) -> dict[str, list[str]]:
    paths = {path: list(operations) for path, operations in document(app)["paths"].items()}
    return {**paths, "/openapi.json": ["get"], "/docs": ["get"]}


def _parameters(query: type[Parameters]) -> list[dict[str, Any]]:
    properties = query.model_json_schema(by_alias=True)["properties"]
    return [
        {
            "name": name,
            "in": "query",
            "required": False,
            "description": schema["description"],
            # What may be left out in a query string is never sent as null.
            "schema": next(one for one in schema["anyOf"] if one["type"] != "null"),
        }
        for name, schema in properties.items()
    ]
