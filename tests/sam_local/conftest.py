"""A local stack of the tests' own, and the functions before it, put up once for all of these tests."""

import warnings

import pytest

from minutero_cli.local import LocalStack, server
from minutero_cli.local.scratch import folder
from tests.sam_local import stage

SHARDS = 2
"""A first tick reads the last hour of each shard."""


@pytest.fixture(scope="session")
def local():
    with folder() as home:
        stack = LocalStack(home, server.free_port(), parameters={"Shards": str(SHARDS)})
        yield stack
        stack.down()


@pytest.fixture(scope="session")
def run(local):
    """The functions: in containers where an engine can be had, and that is in CI."""
    with warnings.catch_warnings():
        # The starter lets go of its process on purpose: a command ends before its stack does.
        warnings.simplefilter("ignore", ResourceWarning)
        with stage.functions(local) as functions:
            yield functions


@pytest.fixture(scope="session")
def told(run):
    """What came of each event of events/, by its name."""
    return stage.told_by_all(run)
