"""The HTTP API: reads the request, calls the service, answers."""

from http import HTTPStatus
from typing import Annotated, Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response, content_types
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.params import Body

from minutero import wiring
from minutero.domain.new_task import body_hash, parse_json
from minutero.errors import InvalidInput, NotFound, Unavailable
from minutero.http.answers import added_answer, task_answer
from minutero.http.bodies import NewTaskBody
from minutero.http.refusals import TOLD, refusal_of

logger = Logger()

BODY_LIMIT = 5 * 1024 * 1024


def read_body(text: str) -> Any:
    """Raises InvalidInput for a body that is too large or no strict JSON."""
    if len(text) > BODY_LIMIT:
        raise InvalidInput(
            "body_too_large", f"the body is over {BODY_LIMIT} bytes; send less at a time"
        )
    return parse_json(text)


app = APIGatewayHttpResolver(enable_validation=True, json_body_deserializer=read_body)


@app.post("/tasks")
def add_task(body: Annotated[NewTaskBody, Body()]) -> Response[dict[str, Any]]:
    """Adds a task: 201, or 200 when its key and body had made it before."""
    new = body.to_new_task()
    added = wiring.api().add_task(new, body_hash(app.current_event.json_body))
    if added.created:
        return _answer(HTTPStatus.CREATED, added_answer(added.task))
    return _answer(HTTPStatus.OK, task_answer(wiring.api().read_task(added.task.task_id)))


@app.get("/tasks/<task_id>")
def get_task(task_id: str) -> Response[dict[str, Any]]:
    """One task, with what became of it."""
    return _answer(HTTPStatus.OK, task_answer(wiring.api().read_task(task_id)))


@app.get("/jobs")
def get_jobs() -> Response[dict[str, Any]]:
    """Names of the deployed jobs."""
    return _answer(HTTPStatus.OK, {"jobs": sorted(wiring.api().job_names())})


def refuse(error: Exception) -> Response[dict[str, Any]]:
    """Tells a client what is wrong and what to send instead."""
    refusal = refusal_of(error)
    if isinstance(error, Unavailable):
        logger.warning("unavailable", extra={"why": str(error)})
    return Response(
        status_code=int(refusal.status),
        content_type=content_types.APPLICATION_JSON,
        body=refusal.body(),
        headers={"Retry-After": str(refusal.retry_after)} if refusal.retry_after else None,
    )


def no_such_path(_missing: NotFoundError) -> Response[dict[str, Any]]:
    """Tells a client that no route has its method and path."""
    event = app.current_event
    asked = f"{event.http_method} {event.path}"[:200]
    return refuse(NotFound(f"there is no {asked}; the README lists the paths"))


app.exception_handler(list(TOLD))(refuse)
app.not_found(no_such_path)


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Lambda's entry: an HTTP API event, payload version 2.0."""
    return app.resolve(event, context)


def _answer(status: HTTPStatus, body: dict[str, Any]) -> Response[dict[str, Any]]:
    return Response(status_code=int(status), content_type=content_types.APPLICATION_JSON, body=body)
