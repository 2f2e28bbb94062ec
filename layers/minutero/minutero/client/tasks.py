"""The Python client's calls about tasks."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import islice
from typing import Any

from minutero.client.values import PAGE, Calls, When, body_of, instant_of
from minutero.domain.new_task import check_key, check_name
from minutero.errors import InvalidInput
from minutero.http.answers import added_answer, listed_answer, task_answer
from minutero.http.batches import add_batch, wanted_task
from minutero.http.bodies import RescheduleBody, read_body, read_task_body
from minutero.http.queries import status_named
from minutero.service.list_tasks import TaskQuery

DEFAULT_MAX_ATTEMPTS = 5


class TaskItem(dict[str, Any]):
    """A `TransactWriteItems` entry that adds a task; `task_id` names the task once it is committed."""

    def __init__(self, entry: Mapping[str, Any], task_id: str) -> None:
        super().__init__(entry)
        self.task_id = task_id


class TaskCalls(Calls):
    """Add tasks, tell about them, change them."""

    # --- add

    def add_task(
        self,
        job: str,
        payload: Any = None,
        *,
        run_at: When | None = None,
        delay_seconds: float | None = None,
        key: str | None = None,
        tenant: str | None = None,
        max_attempts: int = DEFAULT_MAX_ATTEMPTS,
        expires_after_seconds: int | None = None,
    ) -> dict[str, Any]:
        """Add a task and tell about it, as `POST /tasks` does.

        Without `run_at` and `delay_seconds` it is due now. The same `key` and task again give the task it
        made before.

        Raises InvalidInput (UnknownJob among them), KeyConflict, Unavailable.
        """
        body = body_of(
            {
                "job": job,
                "payload": payload,
                "run_at": run_at,
                "delay_seconds": delay_seconds,
                "key": key,
                "tenant": tenant,
                # Left out where it says nothing: a key made over HTTP without it is the same request.
                "max_attempts": None if max_attempts == DEFAULT_MAX_ATTEMPTS else max_attempts,
                "expires_after_seconds": expires_after_seconds,
            }
        )
        wanted = wanted_task(body)
        added = self._api.add_task(wanted.new, wanted.body_hash)
        if added.created:
            return added_answer(added.task)
        return self.get_task(added.task.task_id)

    def add_tasks(self, tasks: Iterable[Any]) -> list[dict[str, Any]]:
        """Add any number of tasks: mappings with the members of `POST /tasks`; `run_at` may be a datetime.

        What became of each, in order, as `POST /tasks/batch` tells it: `{"status": 201, "task_id", "run_at"}`
        or `{"status", "error"}`. One that is refused spoils no other.
        """
        results: list[dict[str, Any]] = []
        rest = iter(tasks)
        while some := [
            body_of(one) if isinstance(one, Mapping) else one for one in islice(rest, PAGE)
        ]:
            results += add_batch(self._api, some)
        return results

    def task_item(
        self,
        job: str,
        payload: Any = None,
        *,
        run_at: When | None = None,
        delay_seconds: float | None = None,
        tenant: str | None = None,
        max_attempts: int = DEFAULT_MAX_ATTEMPTS,
        expires_after_seconds: int | None = None,
    ) -> TaskItem:
        """Make an entry for a transaction of your own: the task is added if your writes are, or not at all.

            reminder = client.task_item("remind", {"order": 17}, run_at=tomorrow)
            dynamodb.transact_write_items(TransactItems=[{"Put": order}, reminder])
            reminder.task_id

        It is for boto3's low-level client. Commit it within 60 s: later, the tick may have passed its minute,
        and only the audit finds it, an hour after. A near task is sent by the next tick, so up to a minute
        late. The payload lies in the item itself, whatever its size.

        Raises InvalidInput (UnknownJob among them), Unavailable.
        """
        body = body_of(
            {
                "job": job,
                "payload": payload,
                "run_at": run_at,
                "delay_seconds": delay_seconds,
                "tenant": tenant,
                "max_attempts": max_attempts,
                "expires_after_seconds": expires_after_seconds,
            }
        )
        task = replace(self._api.add_task.prepare(read_task_body(body)), large=False)
        return TaskItem(self._api.task_entry(task), task.task_id)

    # --- tell

    def get_task(self, task_id: str) -> dict[str, Any]:
        """Tell about a task, as `GET /tasks/{id}` does. Raises NotFound, Unavailable."""
        return task_answer(self._api.read_task(task_id))

    def find_task(self, key: str, *, tenant: str | None = None) -> dict[str, Any]:
        """Tell about the task of a key. Raises InvalidInput, NotFound, Unavailable."""
        whose = "" if tenant is None else check_name(tenant, "tenant")
        return task_answer(self._api.read_task.by_key(check_key(key), whose))

    def list_tasks(
        self, start: When, end: When, *, status: str | None = None, job: str | None = None
    ) -> Iterator[dict[str, Any]]:
        """Tell about the tasks due from `start` on and before `end`, in due order, page by page as they are
        taken. Long payloads are left out. Raises InvalidInput, Unavailable.
        """
        query = TaskQuery(
            instant_of(start, "from"),
            instant_of(end, "to"),
            None if status is None else status_named(status),
            "" if job is None else check_name(job, "job"),
        )
        if query.end <= query.start:
            raise InvalidInput("invalid_to", "to must be after from", "to")
        return self._listed(query)

    def _listed(self, query: TaskQuery) -> Iterator[dict[str, Any]]:
        page = self._api.list_tasks(query, PAGE)
        yield from map(listed_answer, page.tasks)
        while page.following is not None:
            page = self._api.list_tasks(query, PAGE, page.following)
            yield from map(listed_answer, page.tasks)

    # --- change

    def cancel_task(self, task_id: str) -> dict[str, Any]:
        """Cancel a task: from then on it never runs. Again: no error.

        Raises NotFound, Conflict (running, or over), Unavailable.
        """
        self._api.cancel(task_id)
        return self.get_task(task_id)

    def reschedule_task(
        self, task_id: str, *, run_at: When | None = None, delay_seconds: float | None = None
    ) -> dict[str, Any]:
        """Give a task another time.

        Raises InvalidInput, NotFound, Conflict (running, or over), Unavailable.
        """
        body = read_body(
            RescheduleBody, body_of({"run_at": run_at, "delay_seconds": delay_seconds})
        )
        body.due(self._api.clock.now())
        self._api.move.reschedule(task_id, body.due)
        return self.get_task(task_id)

    def run_task(self, task_id: str) -> dict[str, Any]:
        """Make a task due now. Raises NotFound, Conflict (running, or over), Unavailable."""
        self._api.move.run_now(task_id)
        return self.get_task(task_id)

    def redrive_task(self, task_id: str) -> dict[str, Any]:
        """Run a dead task again, with all its attempts. Raises NotFound, Conflict (not dead), Unavailable."""
        self._api.move.redrive(task_id)
        return self.get_task(task_id)
