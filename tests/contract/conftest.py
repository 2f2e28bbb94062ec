"""Every port, over each implementation there is: in memory, on moto (in process), on MiniStack.

moto reports no failed condition of a PartiQL batch and is racy under threads, so what needs either
is asked of memory and MiniStack alone.
"""

import itertools
import secrets
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws

from minutero.aws import clients
from minutero.domain.task import Task, first_place, task_id_from

# The folders of tests are no packages; what they share lies beside and above them.
sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

from ministack_process import ministack  # noqa: E402 - found only after the line above
from worlds import KEEP, NOW, World, in_memory, over_aws, tables_of_template  # noqa: E402

__all__ = ["ministack"]

REGION = "us-east-1"


@pytest.fixture(scope="session")
def template_tables() -> dict[str, dict[str, Any]]:
    return tables_of_template()


@pytest.fixture
def memory_world() -> World:
    return in_memory()


@pytest.fixture(scope="session", autouse=True)
def _dummy_keys() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as environment:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            environment.setenv(name, "test")
        for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
            environment.delenv(name, raising=False)
        yield


@pytest.fixture
def moto_world(template_tables: dict[str, Any]) -> Iterator[World]:
    with mock_aws():
        yield over_aws("moto", clients.dynamodb(REGION), clients.sqs(REGION), template_tables)


@pytest.fixture(scope="session")
def ministack_clients(ministack: str) -> tuple[Any, Any]:
    dynamodb = clients.dynamodb(REGION, ministack, connections=32)
    return dynamodb, clients.sqs(REGION, ministack)


@pytest.fixture
def ministack_world(ministack_clients: tuple[Any, Any], template_tables: dict[str, Any]) -> World:
    return over_aws("ministack", *ministack_clients, template_tables)


def one_of(*names: str) -> Any:
    """Parametrise a fixture over implementations; those that need MiniStack are marked so."""
    marks = {"ministack": [pytest.mark.stack]}
    return [pytest.param(name, marks=marks.get(name, ())) for name in names]


@pytest.fixture(params=one_of("memory", "moto", "ministack"))
def world(request: pytest.FixtureRequest) -> World:
    """An empty deployment, on each implementation."""
    chosen: World = request.getfixturevalue(f"{request.param}_world")
    return chosen


@pytest.fixture(params=one_of("memory", "ministack"))
def honest_world(request: pytest.FixtureRequest) -> World:
    """An empty deployment on those that tell failed conditions in a batch."""
    chosen: World = request.getfixturevalue(f"{request.param}_world")
    return chosen


@pytest.fixture(params=one_of("moto", "ministack"))
def aws_world(request: pytest.FixtureRequest) -> World:
    """An empty deployment on AWS's own API: for what is about items, not behaviour."""
    chosen: World = request.getfixturevalue(f"{request.param}_world")
    return chosen


NewTask = Callable[..., Task]


@pytest.fixture
def new_task() -> NewTask:
    """Make tasks, each of its own id, due at NOW in shard 3 unless told otherwise."""
    # The tests share one MiniStack, and a transaction's token holds for the whole account.
    this_test, numbers = secrets.token_bytes(7), itertools.count(1)

    def make(run_at: int = NOW, shard: int = 3, **attributes: Any) -> Task:
        random = this_test + next(numbers).to_bytes(4, "big")
        task_id = task_id_from(run_at, shard, random)
        made = {"run_no": 0, "job": "echo", "created_at": NOW, "keep_until": KEEP, **attributes}
        return Task(task_id=task_id, place=first_place(task_id), run_at=run_at, **made)

    return make
