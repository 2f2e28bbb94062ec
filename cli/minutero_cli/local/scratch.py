"""A local stack for one test or measurement, in a folder that goes when it does."""

import shutil
import tempfile
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from minutero_cli.local import server
from minutero_cli.local.stack import LocalStack

MEMORY_WANTED = 6 * 1024**3


@contextmanager
def folder() -> Iterator[Path]:
    """A stack's folder, in memory where that is large: MiniStack unpacks the layers, 5,000 files, anew for
    each process of a function."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
    large = memory.is_dir() and shutil.disk_usage(memory).free >= MEMORY_WANTED
    with tempfile.TemporaryDirectory(prefix="minutero-", dir=memory if large else None) as made:
        yield Path(made)


@contextmanager
def running(
    home: Path, built: Path, parameters: Mapping[str, str], *, auth: bool
) -> Iterator[LocalStack]:
    """The built template, deployed on a free port; ended and forgotten after."""
    local = LocalStack(home, server.free_port(), built=built, auth=auth, parameters=parameters)
    with _left_alone():
        local.up()
    try:
        yield local
    finally:
        local.down()


@contextmanager
def ministack(home: Path) -> Iterator[str]:
    """A MiniStack to which nothing is deployed; its endpoint."""
    with _left_alone():
        state = server.start(home, server.free_port(), auth=False, persist=None)
    try:
        yield state.endpoint_url
    finally:
        server.stop(state)


@contextmanager
def _left_alone() -> Iterator[None]:
    """The starter lets go of its process on purpose: a command ends before its stack does."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        yield
