"""Two versions alive: the frozen one of before.zip and this one, over one store."""

import secrets
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from minutero.aws import clients
from minutero.domain.instants import MINUTE

# The folders of tests are no packages; what they share lies beside and above them.
TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(Path(__file__).parent), str(TESTS), str(TESTS / "contract")]

from deployment import Deployment, Half, Version  # noqa: E402 - found only after the line above
from ministack_process import ministack  # noqa: E402
from worlds import NOW, TABLES, create_tables, tables_of_template  # noqa: E402

__all__ = ["ministack"]

SHARDS = {
    "bucket": {"S": "settings"},
    "sk": {"S": "shards"},
    "largest": {"N": "1"},
    "steps": {"L": [{"M": {"shards": {"N": "1"}, "since": {"N": str(NOW - MINUTE)}}}]},
}
"""One shard, begun just now: its first tick has no hour of empty buckets to walk over."""


@pytest.fixture(scope="session")
def environment(ministack: str) -> dict[str, str]:
    """What both processes begin with: nothing of the caller's."""
    return {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ENDPOINT_URL": ministack,
        "POWERTOOLS_DEV": "false",
    }


@pytest.fixture(scope="session")
def versions(environment: dict[str, str]) -> Iterator[dict[str, Version]]:
    both = {name: Version(name, environment) for name in ("before", "now")}
    yield both
    for version in both.values():
        version.end()


@pytest.fixture(scope="session")
def dynamodb(environment: dict[str, str]) -> Any:
    with pytest.MonkeyPatch.context() as patched:
        for name, value in environment.items():
            patched.setenv(name, value)
        return clients.dynamodb("us-east-1", environment["AWS_ENDPOINT_URL"])


@pytest.fixture(scope="session")
def template_tables() -> dict[str, Any]:
    return tables_of_template()


@pytest.fixture
def deployment(
    dynamodb: Any, environment: dict[str, str], template_tables: dict[str, Any]
) -> Deployment:
    """An empty one."""
    names = create_tables(dynamodb, secrets.token_hex(4), template_tables)
    settings = {
        **{f"MINUTERO_{table.upper()}_TABLE": getattr(names, table) for table in TABLES},
        "MINUTERO_TASKS_QUEUE_URL": "tasks",
        "MINUTERO_DEAD_LETTER_QUEUE_URL": "dead",
        "MINUTERO_WORKER_FUNCTION": "worker",
        "MINUTERO_DISPATCHER_FUNCTION": "dispatcher",
        "MINUTERO_SHARDS": "1",
    }
    dynamodb.put_item(TableName=names.tasks, Item=SHARDS)
    return Deployment(NOW, settings, dynamodb)


@pytest.fixture
def halves(deployment: Deployment, versions: dict[str, Version]) -> dict[str, Half]:
    return {name: Half(version, deployment) for name, version in versions.items()}


@pytest.fixture(params=["before", "now"])
def one(request: pytest.FixtureRequest, halves: dict[str, Half]) -> Half:
    """Whoever comes first: once the old version, once the new one."""
    return halves[request.param]


@pytest.fixture
def other(one: Half, halves: dict[str, Half]) -> Half:
    """The version that is not `one`."""
    return next(half for half in halves.values() if half is not one)
