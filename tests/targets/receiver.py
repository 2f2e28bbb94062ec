"""A receiver of posts on loopback, as well or badly behaved as a test wants it."""

import socket
from collections.abc import Callable
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Event, Thread

KEY = b"a key for tests"
"""What the posts to it are signed with."""

Answer = Callable[[socket.socket, "Receiver"], None]


@dataclass
class Receiver:
    """`requests` are the bytes that came, one entry a connection; `over` is set when the test is."""

    port: int
    requests: list[bytes] = field(default_factory=list)
    ended: Event = field(default_factory=Event)
    over: Event = field(default_factory=Event)
    answer: "Answer | None" = None
    """For a test that changes its mind."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook?a=1"


@contextmanager
def receiving(answer: Answer, wrap=None):
    """Serves each connection by `answer`, once its request has come whole. `wrap` puts TLS around it."""
    listening = socket.create_server(("127.0.0.1", 0))
    receiver = Receiver(listening.getsockname()[1])
    threads = []

    def serve(connection):
        # What the other side breaks off is its business.
        with connection, suppress(OSError):
            if wrap is not None:
                connection = wrap(connection)
            with connection:
                receiver.requests.append(_request(connection))
                answer(connection, receiver)
        receiver.ended.set()

    def accept():
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threads.append(Thread(target=serve, args=(connection,)))
                threads[-1].start()

    acceptor = Thread(target=accept)
    acceptor.start()
    try:
        yield receiver
    finally:
        receiver.over.set()
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        acceptor.join()
        for thread in threads:
            thread.join()


def _request(connection):
    taken = b""
    while b"\r\n\r\n" not in taken:
        part = connection.recv(65_536)
        if not part:
            return taken
        taken += part
    head, _, body = taken.partition(b"\r\n\r\n")
    (length,) = [
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length:")
    ]
    while len(body) < length:
        body += connection.recv(65_536)
    return head + b"\r\n\r\n" + body


def plain(status, body=b"{}", **headers):
    """An answer as it should be."""
    lines = [f"HTTP/1.1 {status} Told", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return raw("\r\n".join([*lines, "", ""]).encode() + body)


def raw(data):
    """These bytes, and the end of the connection."""
    return lambda connection, _receiver: connection.sendall(data)


def hanging(first=b""):
    """These bytes, and then nothing, until the other side ends the connection."""

    def answer(connection, _receiver):
        connection.sendall(first)
        connection.recv(1)

    return answer


def dripping(first, drop=b"x"):
    """These bytes, and then one more every now and then, for as long as somebody reads."""

    def answer(connection, receiver):
        connection.sendall(first)
        while not receiver.over.wait(0.02):
            connection.sendall(drop)

    return answer


def flooding(first):
    """These bytes, and then as many more as somebody reads."""

    def answer(connection, receiver):
        connection.sendall(first)
        while not receiver.over.is_set():
            connection.sendall(b"x" * 65_536)

    return answer
