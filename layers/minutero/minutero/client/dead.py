"""The Python client's calls about the dead."""

from collections.abc import Iterator
from typing import Any

from minutero.client.values import PAGE, Calls, When, body_of
from minutero.http.answers import dead_answer, letter_answer
from minutero.http.batches import redrive_page
from minutero.http.bodies import RedriveBody, read_body
from minutero.http.queries import DeadFilters, dead_query
from minutero.service.dead_list import DeadQuery


class DeadCalls(Calls):
    """See the dead, run them again, take them off the list."""

    def list_dead(
        self, *, job: str | None = None, start: When | None = None, end: When | None = None
    ) -> Iterator[dict[str, Any]]:
        """Tell about the dead who died from `start` on and before `end`, oldest first, page by page."""
        asked = read_body(DeadFilters, body_of({"job": job, "from": start, "to": end}))
        return self._listed_dead(dead_query(asked, self._api.dead.kept()))

    def _listed_dead(self, query: DeadQuery) -> Iterator[dict[str, Any]]:
        page = self._api.dead.page(query, PAGE)
        yield from map(letter_answer, page.letters)
        while page.following is not None:
            page = self._api.dead.page(query, PAGE, page.following)
            yield from map(letter_answer, page.letters)

    def get_dead(self, task_id: str) -> dict[str, Any]:
        """Tell about one of the dead, with its task. Raises NotFound, Unavailable."""
        return dead_answer(*self._api.dead.show(task_id))

    def discard_dead(self, task_id: str) -> dict[str, Any]:
        """Take one of the dead off the list; it cannot be redriven any more.

        Raises NotFound, Conflict (redriven meanwhile), Unavailable.
        """
        return dead_answer(*self._api.dead.discard(task_id))

    def redrive_dead(
        self,
        *,
        job: str | None = None,
        start: When | None = None,
        end: When | None = None,
        dry_run: bool = False,
    ) -> dict[str, Any]:
        """Run all the dead of a job and a time again, or count them: `{"matched", "redriven", "failed"}`."""
        asked = body_of({"job": job, "from": start, "to": end, "dry_run": dry_run, "limit": PAGE})
        total: dict[str, Any] = {"matched": 0, "redriven": 0, "failed": []}
        page: dict[str, Any] = {}
        while not page or page["next_token"]:
            token = {"next_token": page["next_token"]} if page else {}
            page = redrive_page(self._api, read_body(RedriveBody, {**asked, **token}))
            total = {name: total[name] + page[name] for name in total}
        return total
