"""What holds for every test of this folder."""

import socket

import pytest
from pytest_socket import SocketBlockedError


def test_no_unit_test_can_open_a_socket():
    with pytest.warns(UserWarning, match="socket"), pytest.raises(SocketBlockedError):
        socket.socket(socket.AF_INET, socket.SOCK_STREAM)
