"""A MiniStack of the tests' own, for the whole session; each xdist worker has one."""

from collections.abc import Iterator

import pytest

from minutero_cli.local import scratch


@pytest.fixture(scope="session")
def ministack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its endpoint. Nothing is deployed to it."""
    with scratch.ministack(tmp_path_factory.mktemp("ministack")) as endpoint:
        yield endpoint
