"""A local stack of the tests' own, in a folder of its own."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from minutero_cli.local import LocalStack, server

MEMORY_WANTED = 6 * 1024**3


@contextmanager
def folder() -> Iterator[Path]:
    """A stack's folder, in memory where that is large: MiniStack unpacks the layers, 5,000 files, anew for
    each process of a function."""
    memory = Path("/dev/shm")
    large = memory.is_dir() and shutil.disk_usage(memory).free >= MEMORY_WANTED
    with tempfile.TemporaryDirectory(prefix="minutero-", dir=memory if large else None) as made:
        yield Path(made)


@contextmanager
def running(
    home: Path, built: Path, parameters: Mapping[str, str], *, auth: bool
) -> Iterator[LocalStack]:
    """The built template, deployed on a free port; ended and forgotten after."""
    local = LocalStack(home, server.free_port(), built=built, auth=auth, parameters=parameters)
    with warnings.catch_warnings():
        # The starter lets go of its process on purpose: a command ends before its stack does.
        warnings.simplefilter("ignore", ResourceWarning)
        local.up()
    try:
        yield local
    finally:
        local.down()
