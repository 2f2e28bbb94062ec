"""The documents, held against the code. No network; nothing is started."""

import sys
from pathlib import Path

import pytest
from pytest_socket import disable_socket, enable_socket

# The folders of tests are no packages; what they share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def _no_sockets():
    disable_socket()
    yield
    enable_socket()
