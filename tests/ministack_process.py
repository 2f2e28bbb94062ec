"""A MiniStack of the tests' own, for the whole session; each xdist worker has one."""

import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from minutero_cli.local import server


@pytest.fixture(scope="session")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its endpoint. Nothing is deployed to it."""
    home: Path = tmp_path_factory.mktemp("ministack")
    with warnings.catch_warnings():
        # The starter lets go of its process on purpose: a command ends before its stack does.
        warnings.simplefilter("ignore", ResourceWarning)
        state = server.start(home, server.free_port(), auth=False, persist=None)
    yield state.endpoint_url
    server.stop(state)
