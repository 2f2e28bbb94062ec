"""Connections of `http.post`: to checked addresses alone, and over at their time whatever comes."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from threading import Timer
from typing import Any

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import NewConnectionError
from urllib3.util.connection import create_connection

from minutero.targets.addresses import resolve

CONNECT_SECONDS = 5.0


class _Checked:
    """Connects to an address that was checked, and to no other.

    `_new_conn` is where urllib3 has its own subclasses (SOCKS) make their sockets.
    """

    host: str
    port: int
    private = False
    held: socket.socket | None = None
    over = False
    """Its time was over before it was closed; what was read last was no end that the other side made."""

    def _new_conn(self) -> socket.socket:
        failed: OSError | None = None
        try:
            for address in resolve(self.host, self.port, private=self.private):
                if self.over:
                    # Resolvers and connections that hang have their time each.
                    raise TimeoutError("not within its time")
                try:
                    return self._connect(address)
                except OSError as error:
                    failed = error
        except OSError as error:
            failed = error
        raise NewConnectionError(self, f"no connection to {self.host}: {failed}")  # type: ignore[arg-type]

    def _connect(self, address: str) -> socket.socket:
        made = create_connection((address, self.port), timeout=CONNECT_SECONDS)
        # A second handle of the same connection: TLS takes the first for itself.
        self.held = made.dup()
        if self.over:
            self.end()
        return made

    def end(self) -> None:
        """Ends the connection from another thread; who reads or writes it then fails, or is at its end."""
        self.over = True
        if self.held is not None:
            with suppress(OSError):
                self.held.shutdown(socket.SHUT_RDWR)


class CheckedHttp(_Checked, HTTPConnection):
    """Without TLS."""


class CheckedHttps(_Checked, HTTPSConnection):
    """With TLS; the name in the address is what the certificate has to be for."""


@cache
def _trust() -> ssl.SSLContext:
    """What this machine trusts."""
    return ssl.create_default_context()


@contextmanager
def connection(
    scheme: str, host: str, port: int, seconds: float, *, private: bool
) -> Iterator[Any]:
    """A connection that is ended after `seconds`, however busy it looks.

    A time-out of a socket counts from byte to byte, so a server that sends one now and then could hold the
    worker for ever.
    """
    made: Any
    if scheme == "https":
        made = CheckedHttps(host, port, timeout=seconds, ssl_context=_trust())
    else:
        made = CheckedHttp(host, port, timeout=seconds)
    made.private = private
    timer = Timer(seconds, made.end)
    timer.daemon = True
    timer.start()
    try:
        yield made
    finally:
        timer.cancel()
        made.close()
        if made.held is not None:
            made.held.close()
