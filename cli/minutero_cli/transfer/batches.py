"""Lines cut into requests of POST /tasks/batch."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from minutero.domain.new_task import parse_json
from minutero.errors import InvalidInput
from minutero_cli.transfer.source import LONGEST, Line

MOST_TASKS = 500
"""Of one request, as the API has it."""

MOST_BYTES = 1024 * 1024
"""Of one request, but for a line that is longer alone. The API takes 5 MB of body, within an event of 6 MB
in which each of its quotes takes two bytes: https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""

Result = dict[str, Any]
"""What became of a line, as the API tells it: `{"status": 201, ...}` or `{"status": 400, "error": {...}}`."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A line, and what is sent of it: JSON text, or nothing where `refused` says why.

    `key` is the one that stands in the line, "" where it got one.
    """

    line: Line
    body: bytes = b""
    key: str = ""
    refused: Result | None = None


@dataclass(slots=True)
class Batch:
    """Lines that go into one request, in their order; `keys` are those that stand in them."""

    entries: list[Entry] = field(default_factory=list)
    size: int = 0
    keys: set[str] = field(default_factory=set)

    def has_room(self, entry: Entry) -> bool:
        """Tell whether one more goes in."""
        fits = self.size + len(entry.body) <= MOST_BYTES or not self.size
        return len(self.entries) < MOST_TASKS and fits

    def add(self, entry: Entry) -> None:
        """Put one more in."""
        self.entries.append(entry)
        self.size += len(entry.body) + 1
        if entry.key:
            self.keys.add(entry.key)


def read_entry(line: Line, digest: str, job: str | None) -> Entry:
    """Read a line; `digest` is that of its file, `job` what a line without one is given.

    The key it gets where it has none is the same in each run, so that the API knows the task again.
    """
    if line.is_cut:
        return _refused(
            line,
            "line_too_long",
            f"the line is over {LONGEST} bytes; the payload of a task may have 256 KB",
        )
    try:
        body = parse_json(line.text)
    except InvalidInput as error:
        return _refused(line, error.code, error.message.replace("the body", "the line"))
    if not isinstance(body, dict):
        return _refused(line, "invalid_body", "the line is no JSON object, as POST /tasks takes it")
    given = {} if job is None else {"job": job}
    body = {**given, **body}
    key = body.get("key")
    if key is None:
        body["key"] = f"import-{digest[:32]}-{line.number}"
    return Entry(line, _encoded(body), key if isinstance(key, str) else "")


def batches(entries: Iterable[Entry]) -> Iterator[Batch]:
    """Cut entries into requests, as large as may be."""
    batch = Batch()
    for entry in entries:
        if not batch.has_room(entry):
            yield batch
            batch = Batch()
        batch.add(entry)
    if batch.entries:
        yield batch


def _encoded(body: Any) -> bytes:
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


def _refused(line: Line, code: str, message: str) -> Entry:
    error = {"code": code, "message": message}
    return Entry(line, refused={"status": 400, "error": error})
