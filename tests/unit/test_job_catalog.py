from concurrent.futures import ThreadPoolExecutor, wait

import pytest
from faults import Faulty, is_down
from world import NOW

from minutero.domain.instants import MINUTE, SECOND
from minutero.errors import JobsUnknown, Unavailable
from minutero.service.job_catalog import JobCatalog
from minutero.testing.memory import MemorySettingsStore


class Worker:
    """Announces its jobs when asked."""

    def __init__(self, settings, *names):
        self.settings = settings
        self.names = frozenset(names)
        self.asked = 0

    def __call__(self):
        self.asked += 1
        self.settings.announce_jobs(self.names)


@pytest.fixture
def settings():
    return Faulty(MemorySettingsStore())


def test_a_known_job_is_known_without_asking_the_worker(settings):
    settings.announce_jobs(frozenset({"echo"}))
    worker = Worker(settings, "echo")
    assert JobCatalog(settings, worker).has("echo", NOW)
    assert worker.asked == 0


def test_names_are_read_at_most_once_a_minute(settings):
    settings.announce_jobs(frozenset({"echo"}))
    catalog = JobCatalog(settings)
    for later in range(0, MINUTE, SECOND):
        assert catalog.has("echo", NOW + later)
    assert len(settings.called("jobs")) == 1
    assert catalog.has("echo", NOW + MINUTE)
    assert len(settings.called("jobs")) == 2


def test_a_job_that_is_gone_is_unknown_a_minute_later(settings):
    settings.announce_jobs(frozenset({"echo", "old"}))
    catalog = JobCatalog(settings)
    assert catalog.has("old", NOW)
    settings.announce_jobs(frozenset({"echo"}))
    assert catalog.has("old", NOW + MINUTE - 1)
    assert not catalog.has("old", NOW + MINUTE)


def test_an_unknown_name_is_asked_of_the_worker(settings):
    settings.announce_jobs(frozenset({"echo"}))
    worker = Worker(settings, "echo", "fresh")
    catalog = JobCatalog(settings, worker)
    assert catalog.has("fresh", NOW)
    assert worker.asked == 1
    assert catalog.has("fresh", NOW + 1)
    assert worker.asked == 1


def test_unknown_names_ask_the_worker_at_most_every_five_seconds(settings):
    settings.announce_jobs(frozenset({"echo"}))
    worker = Worker(settings, "echo")
    catalog = JobCatalog(settings, worker)
    for later in range(0, 20 * SECOND, 100):
        assert not catalog.has(f"nonsense-{later}", NOW + later)
    assert worker.asked == 4


def test_a_deployment_nobody_has_announced_yet_asks_its_worker(settings):
    worker = Worker(settings, "echo")
    catalog = JobCatalog(settings, worker)
    assert catalog.names(NOW) == {"echo"}
    assert worker.asked == 1


def test_without_a_worker_to_ask_nothing_is_known(settings):
    catalog = JobCatalog(settings)
    for ask in (lambda: catalog.names(NOW), lambda: catalog.has("echo", NOW)):
        with pytest.raises(JobsUnknown):
            ask()


def test_a_worker_that_is_still_starting_refuses_no_job_and_is_asked_again(settings):
    """A first start may take longer than the API waits for it."""
    worker = Worker(settings, "echo")
    starting = [True, False]
    catalog = JobCatalog(settings, lambda: None if starting.pop(0) else worker())
    with pytest.raises(JobsUnknown):
        catalog.has("echo", NOW)
    assert catalog.has("echo", NOW + 5 * SECOND)


@pytest.mark.parametrize("told", [None, {"echo"}], ids=["nothing told yet", "a new job"])
def test_who_comes_while_the_worker_is_asked_waits_for_its_answer(settings, told):
    """The tasks of a batch are added side by side."""
    if told is not None:
        settings.announce_jobs(frozenset(told))
    worker, others = Worker(settings, "echo", "fresh"), []

    def slow():
        others.append(threads.submit(catalog.has, "fresh", NOW))
        # One that does not wait for the answer ends here, with another one.
        wait(others, timeout=0.1)
        worker()

    catalog = JobCatalog(settings, slow)
    with ThreadPoolExecutor(1) as threads:
        assert catalog.has("fresh", NOW)
        assert others[0].result()
    assert worker.asked == 1


def test_a_worker_without_jobs_has_told_so(settings):
    catalog = JobCatalog(settings, Worker(settings))
    assert catalog.names(NOW) == frozenset()
    assert not catalog.has("echo", NOW)


def test_a_broken_worker_keeps_nobody_from_known_jobs(settings):
    def broken():
        raise Unavailable("the worker does not start")

    settings.announce_jobs(frozenset({"echo"}))
    catalog = JobCatalog(settings, broken)
    assert catalog.has("echo", NOW)
    with pytest.raises(Unavailable):
        catalog.has("fresh", NOW)
    assert catalog.has("echo", NOW)
    assert not catalog.has("fresh", NOW + 1), "asked just now: no, until it may be asked again"


def test_settings_that_do_not_answer_are_told(settings):
    settings.next("jobs", is_down)
    catalog = JobCatalog(settings)
    with pytest.raises(Unavailable):
        catalog.has("echo", NOW)
    settings.announce_jobs(frozenset({"echo"}))
    assert catalog.has("echo", NOW)
