"""Unit tests: the domain and the services over the in-memory stores. No network, no waiting."""

import sys
from pathlib import Path

import pytest
from pytest_socket import disable_socket, enable_socket

# The folders of tests are no packages; what they share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

from world import World


def pytest_make_parametrize_id(val: object) -> str | None:
    """Short names for long values."""
    if isinstance(val, int) and abs(val) > 10**100:
        return "a-long-integer"
    if isinstance(val, str | bytes) and len(val) > 100:
        return f"{val[:20]!r}-{len(val)}-long"
    return None


@pytest.fixture(autouse=True)
def _no_sockets():
    disable_socket()
    yield
    enable_socket()


@pytest.fixture
def world():
    """A deployment in memory; its clock stands at 2026-11-29T20:21:00Z."""
    return World()
