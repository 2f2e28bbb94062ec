"""The HTTP API: reads the request, calls the service, answers."""

from http import HTTPStatus
from typing import Annotated, Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response, content_types
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.exceptions import RequestValidationError
from aws_lambda_powertools.event_handler.openapi.params import Body

from minutero import wiring
from minutero.domain.new_task import body_hash, parse_json
from minutero.errors import Conflict, InvalidInput, NotFound, Unavailable
from minutero.http.answers import added_answer, task_answer
from minutero.http.bodies import NewTaskBody, invalid_input

BODY_LIMIT = 5 * 1024 * 1024


def read_body(text: str) -> Any:
    """Raises InvalidInput for a body that is too large or no strict JSON."""
    if len(text) > BODY_LIMIT:
        raise InvalidInput("body_too_large", f"the body is over {BODY_LIMIT} bytes; send less at a time")
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


@app.exception_handler(InvalidInput)
def refuse(error: InvalidInput) -> Response[dict[str, Any]]:
    too_large = error.code.endswith("too_large")
    status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE if too_large else HTTPStatus.BAD_REQUEST
    return _error(status, error.code, error.message, error.field)


@app.exception_handler(RequestValidationError)
def refuse_shape(error: RequestValidationError) -> Response[dict[str, Any]]:
    return refuse(invalid_input(error.errors()))


@app.exception_handler(UnicodeDecodeError)
def refuse_bytes(_broken: UnicodeDecodeError) -> Response[dict[str, Any]]:
    return refuse(InvalidInput("invalid_json", "the body is not whole UTF-8 text; send JSON in UTF-8"))


@app.exception_handler(NotFound)
def missing(error: NotFound) -> Response[dict[str, Any]]:
    return _error(HTTPStatus.NOT_FOUND, "not_found", str(error))


@app.exception_handler(Conflict)
def conflict(error: Conflict) -> Response[dict[str, Any]]:
    return _error(HTTPStatus.CONFLICT, "conflict", str(error))


@app.exception_handler(Unavailable)
def unavailable(error: Unavailable) -> Response[dict[str, Any]]:
    answer = _error(HTTPStatus.SERVICE_UNAVAILABLE, "unavailable", f"try again: {error}")
    answer.headers["Retry-After"] = "1"
    return answer


@app.not_found
def no_such_path(_missing: NotFoundError) -> Response[dict[str, Any]]:
    event = app.current_event
    path = f"{event.http_method} {event.path}"[:200]
    return _error(HTTPStatus.NOT_FOUND, "not_found", f"there is no {path}; see the README for the paths")


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Lambda's entry: an HTTP API event, payload version 2.0."""
    return app.resolve(event, context)


def _answer(status: HTTPStatus, body: dict[str, Any]) -> Response[dict[str, Any]]:
    return Response(status_code=int(status), content_type=content_types.APPLICATION_JSON, body=body)


def _error(status: HTTPStatus, code: str, message: str, field: str = "") -> Response[dict[str, Any]]:
    error = {"code": code, "message": message, **({"field": field} if field else {})}
    return _answer(status, {"error": error})
