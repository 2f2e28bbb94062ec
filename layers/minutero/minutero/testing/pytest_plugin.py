"""The pytest plugin; pytest finds it by the entry point in pyproject.toml.

pytest imports it at its start, whether a test uses it or not: so all it needs comes with the first test that
does.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from minutero.testing.app import MinuteroApp


@pytest.fixture
def minutero_app() -> Iterator["MinuteroApp"]:
    """A deployment of Minutero in memory: add tasks and schedules, move its clock, see what ran."""
    from minutero.testing.app import MinuteroApp  # noqa: PLC0415 - see above

    with MinuteroApp() as app:
        yield app
