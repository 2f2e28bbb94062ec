from datetime import UTC, datetime

import pytest

from minutero.errors import InvalidInput
from minutero.jobs import DuplicateJob, Job, JobRegistry, NotAJob, Run, Skipped, job


def one(payload, run):
    return payload


def other(payload, run):
    return payload


def test_a_function_is_registered_under_its_name_and_stays_what_it_is():
    into = JobRegistry()
    assert job("leaderboard_close", into=into)(one) is one
    assert into.get("leaderboard_close") == Job("leaderboard_close", one, result_required=False)
    assert into.names() == {"leaderboard_close"}


def test_a_result_may_be_required():
    into = JobRegistry()
    job("echo", result_required=True, into=into)(one)
    assert into.get("echo").result_required


def test_an_unknown_job_is_none():
    assert JobRegistry().get("echo") is None


def test_two_functions_cannot_have_one_name():
    into = JobRegistry()
    job("echo", into=into)(one)
    with pytest.raises(DuplicateJob, match=r"test_jobs\.one .*test_jobs\.other"):
        job("echo", into=into)(other)
    assert into.get("echo").function is one


def test_a_module_that_is_loaded_twice_registers_its_job_anew():
    into = JobRegistry()
    job("echo", into=into)(one)
    job("echo", into=into)(one)
    assert into.names() == {"echo"}


def test_one_function_may_be_two_jobs():
    into = JobRegistry()
    job("a", into=into)(one)
    job("b", into=into)(one)
    assert into.names() == {"a", "b"}


@pytest.mark.parametrize("name", ["", "two words", "a/b", "x" * 129, "é"])
def test_a_name_that_no_task_could_have_is_refused(name):
    into = JobRegistry()
    with pytest.raises(InvalidInput) as refused:
        job(name, into=into)(one)
    assert refused.value.code == "invalid_job"
    assert into.names() == frozenset()


async def coroutine(payload, run):
    pass


def generator(payload, run):
    yield


async def async_generator(payload, run):
    yield


@pytest.mark.parametrize("function", [coroutine, generator, async_generator])
def test_what_does_nothing_when_it_is_called_is_no_job_and_the_error_says_what_to_write(function):
    """Its run would have succeeded without it."""
    into = JobRegistry()
    with pytest.raises(NotAJob, match=r"asyncio\.run|return"):
        job("close", into=into)(function)
    assert into.names() == frozenset()


def test_a_run_skips_with_its_reason():
    now = datetime(2026, 12, 1, tzinfo=UTC)
    run = Run("t", "t", 1, now, now, "task", False, lambda: 1.5)
    assert run.remaining() == 1.5
    with pytest.raises(Skipped, match="nobody is here"):
        run.skip("nobody is here")
