"""Where an export goes."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from minutero_cli.errors import CommandError


@contextmanager
def written(path: Path | None) -> Iterator[TextIO]:
    """Open a file that is there only once it is whole; None is the output. Raises CommandError.

    What was there before stays until then. A pipe or a device is written to as it is.
    """
    if path is None:
        yield sys.stdout
        return
    try:
        if path.exists() and not path.is_file():
            with path.open("w", encoding="utf-8") as file:
                yield file
            return
        whole = path.resolve()
        part = whole.with_name(f".{whole.name}.{os.getpid()}.part")
        try:
            with part.open("x", encoding="utf-8") as file:
                yield file
            part.replace(whole)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise CommandError(f"cannot write {path}: {error.strerror or error}") from None
