"""A batch of lines, sent until each has its answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from minutero_cli.api_client import ApiError
from minutero_cli.transfer.batches import Batch, Result
from minutero_cli.transfer.patience import PAUSES, PatientApi, may_pass

SPLIT_AT = (HTTPStatus.BAD_REQUEST, HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
"""Refusals of a whole request that one line of it may have earned."""

_Waiting = dict[int, bytes]
"""Lines that have no answer yet: their place in the batch, and what is sent of them."""


@dataclass(frozen=True, slots=True)
class Send:
    """Sends batches. A task that is asked for twice is made once: each has a key."""

    api: PatientApi

    def __call__(self, batch: Batch) -> list[Result]:
        """What became of each line, in order.

        Raises ApiError when the API takes no requests at all, Stopped.
        """
        results = {at: one.refused for at, one in enumerate(batch.entries) if one.refused}
        waiting = {at: one.body for at, one in enumerate(batch.entries) if not one.refused}
        sent, pauses = len(waiting), iter(PAUSES)
        while waiting:
            results |= self._ask(waiting)
            left = {at: body for at, body in waiting.items() if may_pass(results[at]["status"])}
            if len(left) < len(waiting):
                pauses = iter(PAUSES)
            waiting = left
            pause = next(pauses, None)
            if pause is None:
                break
            if waiting:
                self.api.patience.wait(pause)
        if waiting and len(waiting) == sent:
            raise _takes_none(results[next(iter(waiting))])
        return [results[at] for at in range(len(batch.entries))]

    def _ask(self, waiting: _Waiting) -> dict[int, Result]:
        """One request; where it is refused as a whole, halves of it, down to the line that spoils it."""
        try:
            results = self._post(list(waiting.values()))
        except ApiError as error:
            if error.status not in SPLIT_AT:
                raise
            if len(waiting) == 1:
                return dict.fromkeys(waiting, _told(error))
            places = list(waiting)
            half = len(places) // 2
            return {
                at: result
                for some in (places[:half], places[half:])
                for at, result in self._ask({at: waiting[at] for at in some}).items()
            }
        return dict(zip(waiting, results, strict=True))

    def _post(self, bodies: Sequence[bytes]) -> list[Result]:
        body = b'{"tasks":[' + b",".join(bodies) + b"]}"
        results = self.api.post("/tasks/batch", body).body.get("results")
        if (
            not isinstance(results, list)
            or len(results) != len(bodies)
            or not all(
                isinstance(one, dict) and isinstance(one.get("status"), int) for one in results
            )
        ):
            raise ApiError("the answer to POST /tasks/batch does not tell of each task")
        return results


def _told(error: ApiError) -> Result:
    told = {"code": error.code, "message": str(error), "field": error.field}
    return {"status": error.status, "error": {name: value for name, value in told.items() if value}}


def _takes_none(result: Result) -> ApiError:
    return ApiError(f"the API takes no task: {error_of(result)['message']}", result["status"])


def error_of(result: Result) -> dict[str, Any]:
    """What is wrong with a line: `code`, `message`, and `field` where one member is at fault."""
    error = result.get("error")
    told = error if isinstance(error, dict) else {}
    return {"code": f"status_{result['status']}", "message": "the API does not say why", **told}
