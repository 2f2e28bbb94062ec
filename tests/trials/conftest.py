"""A MiniStack of the folder's own, and trials over it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.ministack_process import ministack
from tests.trials.broken_wire import BrokenWire, Rates
from tests.trials.trial import Trial

__all__ = ["ministack"]


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents and "trial" in getattr(
            item, "fixturenames", ()
        ):
            item.add_marker(pytest.mark.stack)


@pytest.fixture
def trial(ministack: str) -> Iterator[Callable[..., Trial]]:
    """Makes a trial of a seed and rates of faults, over an empty deployment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE"):
            patch.delenv(name, raising=False)
        patch.setenv("POWERTOOLS_DEV", "false")

        def make(seed: int = 0, rates: Rates | None = None, **more: int) -> Trial:
            return Trial(ministack, BrokenWire(seed, rates or Rates()), patch, **more)

        yield make
