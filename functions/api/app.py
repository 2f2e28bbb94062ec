"""The HTTP API: reads the request, calls the service, answers."""

from http import HTTPStatus
from typing import Annotated, Any, TypeVar

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response, content_types
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.openapi.params import Body
from pydantic import BaseModel

from minutero import wiring
from minutero.aws.json_lines import function_logger
from minutero.domain.metrics import Metric
from minutero.domain.new_task import body_hash, no_name, parse_json
from minutero.errors import InvalidInput, NotFound, Unavailable
from minutero.http import lists, openapi, schedules
from minutero.http.answers import added_answer, dead_answer, task_answer
from minutero.http.batches import add_batch, redrive_page
from minutero.http.bodies import BatchBody, NewTaskBody, RedriveBody, RescheduleBody, no_object
from minutero.http.fields import Name
from minutero.http.queries import DeadListQuery, StatsQuery, TaskListQuery, read_query
from minutero.http.refusals import TOLD, Refusal, refusal_of
from minutero.http.schedule_bodies import PauseBody, ResumeBody, ScheduleBody
from minutero.http.schedule_queries import ExplainQuery, NextQuery, ScheduleListQuery
from minutero.http.stats_answers import stats_answer
from minutero.observed import observed

logger = function_logger()

BODY_LIMIT = 5 * 1024 * 1024

Asked = TypeVar("Asked", bound=BaseModel)
Answer = Response[dict[str, Any]]


def read_body(text: str) -> Any:
    """Raises InvalidInput for a body that is too large, no strict JSON, or a list."""
    if len(text.encode("utf-8", "surrogatepass")) > BODY_LIMIT:
        raise InvalidInput(
            "body_too_large", f"the body is over {BODY_LIMIT} bytes; send less at a time"
        )
    body = parse_json(text)
    if isinstance(body, list):
        # Powertools would take its first element for the body.
        raise no_object()
    return body


app = APIGatewayHttpResolver(enable_validation=True, json_body_deserializer=read_body)


@app.post("/tasks", responses=openapi.POST_TASKS)
def add_task(body: Annotated[NewTaskBody, Body()]) -> Answer:
    """Adds a task: 201, or 200 when its key and body had made it before."""
    new = body.to_new_task()
    added = wiring.api().add_task(new, body_hash(app.current_event.json_body))
    if added.created:
        return _answer(HTTPStatus.CREATED, added_answer(added.task))
    return _task(HTTPStatus.OK, added.task.task_id)


@app.post("/tasks/batch", responses=openapi.POST_BATCH)
def add_tasks(body: Annotated[BatchBody, Body()]) -> Answer:
    """Adds up to 500 tasks; one that is refused spoils no other."""
    return _answer(HTTPStatus.OK, {"results": add_batch(wiring.api(), body.checked())})


@app.get("/tasks", responses=openapi.GET_TASKS)
def list_tasks() -> Answer:
    """Tasks of a stretch of time in due order, or the one task of a key."""
    return _answer(HTTPStatus.OK, lists.tasks(wiring.api(), _query(TaskListQuery)))


@app.get("/tasks/<task_id>", responses=openapi.GET_TASK)
def get_task(task_id: str) -> Answer:
    """One task, with what became of it."""
    return _task(HTTPStatus.OK, task_id)


@app.delete("/tasks/<task_id>", responses=openapi.CHANGE_TASK)
def cancel_task(task_id: str) -> Answer:
    """Cancels a task: from then on it never runs. Again: 200. Running or over: 409."""
    wiring.api().cancel(task_id)
    return _task(HTTPStatus.OK, task_id)


@app.patch("/tasks/<task_id>", responses=openapi.CHANGE_TASK)
def reschedule_task(task_id: str, body: Annotated[RescheduleBody, Body()]) -> Answer:
    """Gives a task another time. Running or over: 409."""
    body.due(wiring.api().clock.now())
    wiring.api().move.reschedule(task_id, body.due)
    return _task(HTTPStatus.OK, task_id)


@app.post("/tasks/<task_id>/run", responses=openapi.RUN_TASK)
def run_task(task_id: str) -> Answer:
    """Makes a task due now. Running or over: 409."""
    wiring.api().move.run_now(task_id)
    return _task(HTTPStatus.ACCEPTED, task_id)


@app.post("/tasks/<task_id>/redrive", responses=openapi.RUN_TASK)
def redrive_task(task_id: str) -> Answer:
    """Runs a dead task again, with all its attempts. Not dead: 409."""
    wiring.api().move.redrive(task_id)
    return _task(HTTPStatus.ACCEPTED, task_id)


@app.get("/dead", responses=openapi.GET_DEAD)
def list_dead() -> Answer:
    """The dead, oldest first."""
    return _answer(HTTPStatus.OK, lists.dead(wiring.api(), _query(DeadListQuery)))


@app.get("/dead/<task_id>", responses=openapi.ONE_DEAD)
def get_dead(task_id: str) -> Answer:
    """One of the dead, with its task."""
    return _answer(HTTPStatus.OK, dead_answer(*wiring.api().dead.show(task_id)))


@app.delete("/dead/<task_id>", responses=openapi.ONE_DEAD)
def discard_dead(task_id: str) -> Answer:
    """Takes one of the dead off the list; it cannot be redriven any more."""
    return _answer(HTTPStatus.OK, dead_answer(*wiring.api().dead.discard(task_id)))


@app.post("/dead/redrive", responses=openapi.POST_REDRIVE)
def redrive_dead(body: Annotated[RedriveBody, Body()]) -> Answer:
    """Runs a page of the dead again, or counts it; ask again with `next_token` until it is null."""
    return _answer(HTTPStatus.OK, redrive_page(wiring.api(), body))


@app.put("/schedules/<name>", responses=openapi.PUT_SCHEDULE)
def put_schedule(name: Name, body: Annotated[ScheduleBody, Body()]) -> Answer:
    """Makes a schedule, 201, or makes it this one, 200. The same body again changes nothing."""
    created, told = schedules.put(wiring.api(), name, body)
    return _answer(HTTPStatus.CREATED if created else HTTPStatus.OK, told)


@app.get("/schedules", responses=openapi.GET_SCHEDULES)
def list_schedules() -> Answer:
    """All schedules, in an order of their own."""
    return _answer(HTTPStatus.OK, schedules.page(wiring.api(), _query(ScheduleListQuery)))


@app.get("/schedules/<name>", responses=openapi.ONE_SCHEDULE)
def get_schedule(name: Name) -> Answer:
    """One schedule, with its next and its last time."""
    return _answer(HTTPStatus.OK, schedules.get(wiring.api(), name))


@app.delete("/schedules/<name>", responses=openapi.ONE_SCHEDULE)
def delete_schedule(name: Name) -> Answer:
    """Ends a schedule, and tells how it was last. A run that has begun goes on."""
    return _answer(HTTPStatus.OK, schedules.delete(wiring.api(), name))


@app.post("/schedules/<name>/pause", responses=openapi.CHANGE_SCHEDULE)
def pause_schedule(name: Name, body: Annotated[PauseBody | None, Body()] = None) -> Answer:
    """Pauses a schedule: nothing of it that has not begun runs. Again: 200."""
    return _answer(HTTPStatus.OK, schedules.pause(wiring.api(), name, body))


@app.post("/schedules/<name>/resume", responses=openapi.CHANGE_SCHEDULE)
def resume_schedule(name: Name, body: Annotated[ResumeBody | None, Body()] = None) -> Answer:
    """Resumes a schedule from now on, or with a backfill of what the pause took. Again: 200."""
    return _answer(HTTPStatus.OK, schedules.resume(wiring.api(), name, body))


@app.post("/schedules/<name>/run", responses=openapi.RUN_SCHEDULE)
def run_schedule(name: Name) -> Answer:
    """Runs a schedule's job now, paused or not. Its times stay as they are."""
    return _answer(HTTPStatus.ACCEPTED, schedules.run(wiring.api(), name))


@app.get("/schedules/<name>/next", responses=openapi.NEXT_TIMES)
def next_times(name: Name) -> Answer:
    """The next times of a schedule; while it is paused those of its rule."""
    return _answer(HTTPStatus.OK, schedules.coming(wiring.api(), name, _query(NextQuery).count()))


@app.get("/schedules/<name>/explain", responses=openapi.EXPLAIN_SCHEDULE)
def explain_schedule(name: Name) -> Answer:
    """The times of a schedule, and what became of each."""
    return _answer(HTTPStatus.OK, schedules.explain(wiring.api(), name, _query(ExplainQuery)))


@app.get("/jobs", responses=openapi.GET_JOBS)
def get_jobs() -> Answer:
    """Names of the deployed jobs."""
    return _answer(HTTPStatus.OK, {"jobs": sorted(wiring.api().job_names())})


@app.get("/stats", responses=openapi.GET_STATS)
def get_stats() -> Answer:
    """How far behind the deployment is, and what waits where."""
    api = wiring.api()
    return _answer(
        HTTPStatus.OK,
        stats_answer(api.stats(*_query(StatsQuery).to_range(api.clock.now()))),
    )


@app.get("/openapi.json", include_in_schema=False)
def get_openapi() -> Answer:
    """This API's OpenAPI document."""
    return _answer(HTTPStatus.OK, openapi.document(app))


@app.get("/docs", include_in_schema=False)
def get_docs() -> Response[str]:
    """The OpenAPI document as a page to read and to try."""
    return Response(
        status_code=HTTPStatus.OK, content_type=content_types.TEXT_HTML, body=openapi.page(app)
    )


def refuse(error: Exception) -> Answer:
    """Tells a client what is wrong and what to send instead."""
    if isinstance(error, Unavailable):
        logger.warning("unavailable", extra={"why": str(error)})
    return _refusal(refusal_of(error))


def no_such_path(_missing: NotFoundError) -> Answer:
    """Tells a client that no route has its method and path."""
    event = app.current_event
    methods = openapi.methods_of(app, event.path)
    # One that is among them has come to an id, or a name, with characters that none has.
    if methods and event.http_method not in methods:
        return _refusal(
            Refusal(
                HTTPStatus.METHOD_NOT_ALLOWED,
                "method_not_allowed",
                f"{event.path[:200]} takes {', '.join(methods)}",
            ),
            {"Allow": ", ".join(methods)},
        )
    if methods and event.path.startswith("/schedules/"):
        return refuse(no_name("name"))
    asked = f"{event.http_method} {event.path}"[:200]
    return refuse(NotFound(f"there is no {asked}; GET /openapi.json lists the paths"))


app.exception_handler(list(TOLD))(refuse)
app.not_found(no_such_path)


@observed()
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Lambda's entry: an HTTP API event, payload version 2.0."""
    # A body is JSON, whatever its sender calls it: curl's -d says that it is a form.
    headers = {**(event.get("headers") or {}), "content-type": content_types.APPLICATION_JSON}
    return app.resolve({**event, "headers": headers}, context)


def _query(model: type[Asked]) -> Asked:
    return read_query(model, app.current_event.query_string_parameters)


def _task(status: HTTPStatus, task_id: str) -> Answer:
    return _answer(status, task_answer(wiring.api().read_task(task_id)))


def _refusal(refusal: Refusal, headers: dict[str, str] | None = None) -> Answer:
    wiring.METER.add(Metric.REFUSED)
    retry = {"Retry-After": str(refusal.retry_after)} if refusal.retry_after else {}
    return Response(
        status_code=int(refusal.status),
        content_type=content_types.APPLICATION_JSON,
        body=refusal.body(),
        headers={**retry, **(headers or {})},
    )


def _answer(status: HTTPStatus, body: dict[str, Any]) -> Answer:
    return Response(status_code=int(status), content_type=content_types.APPLICATION_JSON, body=body)
