"""A dry run: lines checked here, as the API checks them, and nothing sent."""

import json

from minutero.errors import InvalidInput
from minutero.http.bodies import read_task_body
from minutero_cli.times import now
from minutero_cli.transfer.batches import Batch, Entry, Result


def check(batch: Batch) -> list[Result]:
    """What the API would make of each line, but for what it alone knows: jobs, and keys in use."""
    return [entry.refused or _check(entry) for entry in batch.entries]


def _check(entry: Entry) -> Result:
    try:
        read_task_body(json.loads(entry.body)).due(now())
    except InvalidInput as error:
        told = {"code": error.code, "message": error.message, "field": error.field}
        return {"status": 400, "error": {name: value for name, value in told.items() if value}}
    return {"status": 201}
