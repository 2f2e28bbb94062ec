"""An export: pages of tasks, turned into lines."""

import json
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, TextIO

from minutero.domain.instants import parse_instant
from minutero_cli.api_client import ApiError, path_of
from minutero_cli.listing import Entry, pages
from minutero_cli.terminal import at_terminal, printable_json
from minutero_cli.transfer.patience import PatientApi
from minutero_cli.transfer.progress import Progress, shown

MEMBERS = ("job", "payload", "run_at", "key", "tenant", "max_attempts", "expires_after_seconds")
"""What POST /tasks takes and a task tells."""

DEFAULTS = {"max_attempts": 5}
"""Left out: so a body that left them out is told as it was, and its key knows it again."""

AT_ONCE = 8
"""Payloads fetched side by side: a list leaves out the large ones."""


def importable(task: Entry) -> Entry:
    """The task as POST /tasks takes it; its id is its key where it has none."""
    body = {name: task.get(name) for name in MEMBERS}
    body["key"] = body["key"] or task["task_id"]
    return {
        name: value
        for name, value in body.items()
        if value is not None and value != DEFAULTS.get(name)
    }


@dataclass(slots=True)
class Export:
    """Writes tasks due from `start` until `end`, in milliseconds; `left_out` counts those of schedules."""

    api: PatientApi
    start: int
    end: int
    full: bool
    left_out: int = 0

    def __call__(self, queries: Iterable[Mapping[str, Any]], file: TextIO) -> None:
        """Write all tasks of these queries. Raises ApiError."""
        count = 0
        with self._progress(file) as progress, ThreadPoolExecutor(AT_ONCE) as threads:
            for page in pages(self.api, "tasks", queries):
                kept = [task for task in page if self.full or not task.get("schedule")]
                self.left_out += len(page) - len(kept)
                for task in filter(None, threads.map(self._whole, kept)):
                    line = task if self.full else importable(task)
                    print(printable_json(json.dumps(line)), file=file)
                    count += 1
                file.flush()
                if page:
                    progress(parse_instant(page[-1]["run_at"]) - self.start, count)
            progress(self.end - self.start, count)

    def _whole(self, task: Entry) -> Entry | None:
        """A task as it is told alone, where the list leaves something out; None if it is gone by now."""
        if not task.get("payload_omitted"):
            return task
        try:
            return self.api.get(path_of("tasks", task["task_id"])).body
        except ApiError as error:
            if error.status != HTTPStatus.NOT_FOUND:
                raise
            return None

    def _progress(self, file: TextIO) -> AbstractContextManager[Progress]:
        if file is sys.stdout and at_terminal():
            # The lines themselves show how far it is.
            return nullcontext(lambda _done, _lines: None)
        return shown("export", self.end - self.start)
