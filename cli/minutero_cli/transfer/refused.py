"""The file of the refused lines."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from minutero_cli.errors import CommandError
from minutero_cli.transfer.batches import Result
from minutero_cli.transfer.send import error_of
from minutero_cli.transfer.source import Line

SHOWN = 1_000
"""Bytes told of a line that is too long to be sent."""


@dataclass(slots=True)
class Refused:
    """Writes a JSON object for each refused line: `line` (its number), `code`, `message`, `field` where one
    member is at fault, `text` (the line itself). Raises CommandError when it cannot.
    """

    path: Path
    _file: TextIO
    count: int = 0

    def add(self, line: Line, result: Result) -> None:
        """Write one down."""
        text = line.text[:SHOWN] if line.is_cut else line.text
        row = {
            "line": line.number,
            **error_of(result),
            "text": text.decode(errors="backslashreplace"),
        }
        try:
            print(json.dumps(row, ensure_ascii=False), file=self._file, flush=True)
        except OSError as error:
            raise _unwritten(self.path, error) from None
        self.count += 1


@contextmanager
def refused_file(path: Path) -> Iterator[Refused]:
    """Begin the file anew; none is left where nothing was refused. Raises CommandError."""
    try:
        file = path.open("w", encoding="utf-8")
    except OSError as error:
        raise _unwritten(path, error) from None
    with file:
        refused = Refused(path, file)
        try:
            yield refused
        finally:
            if not refused.count and path.is_file():
                path.unlink(missing_ok=True)


def _unwritten(path: Path, error: OSError) -> CommandError:
    return CommandError(
        f"cannot write {path}: {error.strerror}; name another file with --refused PATH"
    )
