"""What is imported: a file whose content is known before its first line is sent."""

import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from io import BufferedRandom, BufferedReader
from pathlib import Path

from minutero_cli.errors import CommandError

LONGEST = 5 * 1024 * 1024
"""Bytes of a line. The API takes no longer body, and no longer line is held in memory."""

PIECE = 64 * 1024
MARK = b"\xef\xbb\xbf"
"""A byte order mark, as editors leave it at the start of UTF-8 text."""

Rereadable = BufferedReader | BufferedRandom


@dataclass(frozen=True, slots=True)
class Line:
    """One line, counted from 1 with the blank ones, without its end; `end` is where the next begins.

    `is_cut` says that the rest of it, past LONGEST, is left out.
    """

    number: int
    text: bytes
    end: int
    is_cut: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """A file to import: `size` in bytes, `digest` the SHA-256 of its content in hexadecimal."""

    name: str
    size: int
    digest: str
    _file: Rereadable
    _as_it_was: tuple[int, int]

    def lines(self) -> Iterator[Line]:
        """Each line that is not blank. Raises CommandError."""
        try:
            self._file.seek(0)
            yield from read_lines(self._file)
        except OSError as error:
            raise _unread(self.name, error) from None

    def has_changed(self) -> bool:
        """Tell whether the file was written to since its digest was taken."""
        return _as_it_is(self._file) != self._as_it_was


@contextmanager
def opened(name: str) -> Iterator[Source]:
    """Open a file, `-` for the input. Raises CommandError.

    What can be read only once, the input or a pipe, is copied to a temporary file first.
    """
    with ExitStack() as until_done:
        try:
            file = until_done.enter_context(_rereadable(name))
            was = _as_it_is(file)
            digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = file.tell()
        except OSError as error:
            raise _unread(name, error) from None
        yield Source(name, size, digest, file, was)


def read_lines(file: Rereadable) -> Iterator[Line]:
    """Yield the lines of a file that are not blank."""
    number = end = 0
    while text := file.readline(LONGEST + 1):
        number += 1
        end += len(text)
        is_cut = len(text) > LONGEST and not text.endswith(b"\n")
        rest = text
        while is_cut and rest and not rest.endswith(b"\n"):
            rest = file.readline(PIECE)
            end += len(rest)
        text = (text.removeprefix(MARK) if number == 1 else text).strip(b" \t\r\n")
        if text:
            yield Line(number, text, end, is_cut)


@contextmanager
def _rereadable(name: str) -> Iterator[Rereadable]:
    with ExitStack() as until_done:
        given = sys.stdin.buffer if name == "-" else until_done.enter_context(Path(name).open("rb"))
        if isinstance(given, BufferedReader) and name != "-" and _is_regular(given):
            yield given
            return
        copy = until_done.enter_context(tempfile.TemporaryFile())
        shutil.copyfileobj(given, copy)
        copy.seek(0)
        yield copy


def _is_regular(file: BufferedReader) -> bool:
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


def _as_it_is(file: Rereadable) -> tuple[int, int]:
    found = os.fstat(file.fileno())
    return found.st_size, found.st_mtime_ns


def _unread(name: str, error: OSError) -> CommandError:
    return CommandError(f"cannot read {name}: {error.strerror or error}")
