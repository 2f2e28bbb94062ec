"""A schedule's occurrences while dispatchers and workers of a version without schedules are alive."""

import json

import pytest

from minutero.domain.instants import HOUR, MINUTE

pytestmark = pytest.mark.stack

TEN = "rate(10 minutes)"


@pytest.fixture
def now(halves):
    return halves["now"]


@pytest.fixture
def before(halves):
    return halves["before"]


@pytest.fixture
def nominals(deployment, dynamodb):
    """The times of the occurrences there are, by their state."""

    def read(state):
        name = deployment.environment["MINUTERO_TASKS_TABLE"]
        rows = dynamodb.scan(TableName=name, ConsistentRead=True)["Items"]
        return sorted(
            json.loads(row["occurrence"]["S"])["nominal"]
            for row in rows
            if "occurrence" in row and row["state"]["S"] == state
        )

    return read


def test_the_older_worker_runs_an_occurrence(now, before, deployment, nominals):
    begin = deployment.now
    now.call("put_schedule", name="tens", expression=TEN)
    deployment.now += 10 * MINUTE
    now.tick()
    assert nominals("claimed") == [begin + 10 * MINUTE]
    assert nominals("scheduled") == [begin + 20 * MINUTE]
    assert before.work() == ["ended"]
    assert len(deployment.succeeded) == 1


def test_an_occurrence_that_the_older_version_moves_runs_once(now, before, deployment, dynamodb):
    now.call("put_schedule", name="tens", expression=TEN)
    rows = dynamodb.scan(TableName=deployment.environment["MINUTERO_TASKS_TABLE"])["Items"]
    (task,) = (row["sk"]["S"].split("#")[1] for row in rows if "occurrence" in row)
    before.call("run_now", task_id=task)
    assert now.work() == ["ended"]
    assert now.status(task) == before.status(task) == "succeeded"
    assert deployment.succeeded == [task]


def test_a_chain_that_an_older_dispatcher_broke_is_armed_again(now, before, deployment, nominals):
    """It claims an occurrence like any task, and knows of none that comes next."""
    now.call("put_schedule", name="tens", expression=TEN)
    deployment.now += 10 * MINUTE
    assert before.tick()["claimed"] == 1
    assert now.work() == ["ended"]
    assert nominals("scheduled") == []
    deployment.now += HOUR
    for _ in range(16):
        deployment.now += 5 * MINUTE
        now.call("audit")
    (armed,) = nominals("scheduled")
    assert armed > deployment.now - 80 * MINUTE
    deployment.now = armed
    now.tick()
    assert now.work() == ["ended"]
    assert len(deployment.succeeded) == 2
