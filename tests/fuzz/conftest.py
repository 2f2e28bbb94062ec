"""Fuzzing: the handler over the in-memory deployment, and the deployed stack."""

import logging
import sys
from pathlib import Path

import pytest

# The folders of tests are no packages; the deployment in memory is the unit tests'.
sys.path.insert(0, str(Path(__file__).parents[1] / "unit"))


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)
