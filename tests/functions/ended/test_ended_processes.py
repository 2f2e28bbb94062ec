"""A job that ends its process, or would: the others of its batch end right, and its task tells of it."""

import signal

import pytest

from minutero.service.execute import ATTEMPTS_SPENT
from minutero.watchdog import EXIT_CODE


@pytest.mark.parametrize(
    ("job", "code", "left"),
    [
        ("exits", 3, 3),
        ("is_killed", -signal.SIGKILL, 3),
        # What was done before it is acknowledged by the process that ends itself.
        ("blocks", EXIT_CODE, 2),
    ],
)
def test_what_ends_its_process_takes_nobody_along_and_is_dead_when_its_attempts_are_spent(
    deployment, job, code, left
):
    before, after = deployment.add("quick", "quick")
    (bad,) = [deployment.client.add_task(job, max_attempts=2)["task_id"]]
    found = deployment.take([before, bad, after])
    bodies = {task: found[task] for task in (before, bad, after)}

    seconds = 8 if job == "blocks" else 60
    ended, answer = deployment.call(bodies, receives=1, seconds=seconds)
    assert (ended.returncode, answer) == (code, None)
    assert deployment.in_flight() == left
    assert [deployment.told(task)["status"] for task in bodies] == [
        "succeeded",
        "running",
        "claimed",
    ]

    # SQS delivers them again, and in the same order, once they are visible: long after its attempt is over.
    deployment.let_its_time_pass(bad)
    assert deployment.told(bad)["status"] == "retrying"
    ended, answer = deployment.call(bodies, receives=2, seconds=seconds)
    assert (ended.returncode, answer) == (code, None)
    assert deployment.told(after)["status"] == "succeeded"
    assert deployment.in_flight() == left - 1, "of those behind it none is left"

    deployment.let_its_time_pass(bad)
    ended, answer = deployment.call(bodies, receives=3)
    assert (ended.returncode, answer) == (0, [])
    told = deployment.told(bad)
    assert (told["status"], told["attempts"], told["error"]) == ("dead", 3, ATTEMPTS_SPENT)
    for task in (before, after):
        assert (deployment.told(task)["status"], deployment.told(task)["attempts"]) == (
            "succeeded",
            1,
        )


def test_a_job_that_takes_all_memory_there_is_fails_alone(deployment):
    tasks = deployment.add("quick", "leaks", "quick")
    found = deployment.take(tasks)
    ended, answer = deployment.call({task: found[task] for task in tasks}, receives=1)
    assert (ended.returncode, answer) == (0, []), ended.stderr
    told = [deployment.told(task) for task in tasks]
    assert [one["status"] for one in told] == ["succeeded", "retrying", "succeeded"]
    assert told[1]["history"][-1]["error"] == "MemoryError:"
