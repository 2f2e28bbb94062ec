"""Where http.post may connect to, judged by the address itself."""

import socket
from types import SimpleNamespace

import pytest
from receiver import plain, receiving

from minutero import PermanentFailure
from minutero.targets import addresses, connection

PUBLIC = [
    "93.184.215.14",
    "2606:2800:21f:cb07:6820:80da:af6b:8b2c",
    "::ffff:93.184.215.14",
    "64:ff9b::5db8:d70e",
]
PRIVATE = [
    "10.0.0.1",
    "172.16.5.4",
    "192.168.1.1",
    "127.0.0.1",
    "127.8.8.8",
    "::1",
    "fd12:3456::1",
    "::ffff:10.0.0.1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
]
NEVER = [
    "169.254.169.254",
    "169.254.170.2",
    "::ffff:169.254.169.254",
    "64:ff9b::a9fe:a9fe",
    "fe80::1",
    "fe80::1%1",
    "fd00:ec2::254",
]
NOBODY = [
    "224.0.0.1",
    "ff02::1",
    "100.64.0.1",
    "2002:7f00:1::",
    "2002:5db8:d70e::",
    "2001:0:5db8:d70e::1",
    "::7f00:1",
    "fec0::1",
    "4000::1",
]


@pytest.mark.parametrize("address", PUBLIC)
def test_the_public_internet_is_open(address):
    assert addresses.may_connect(address, private=False)


@pytest.mark.parametrize("address", PRIVATE)
def test_private_addresses_are_open_only_where_they_are_allowed(address):
    assert not addresses.may_connect(address, private=False)
    assert addresses.may_connect(address, private=True)


@pytest.mark.parametrize("address", NEVER)
def test_where_credentials_are_given_out_is_never_open(address):
    assert not addresses.may_connect(address, private=True)


@pytest.mark.parametrize("address", NOBODY)
def test_what_leads_nowhere_or_through_a_tunnel_is_not_open(address):
    assert not addresses.may_connect(address, private=False)


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::1]", "[::ffff:127.0.0.1]"],
)
def test_this_machine_is_refused_however_it_is_written(post, monkeypatch, host):
    monkeypatch.delenv("MINUTERO_HTTP_POST_INTERNAL_ADDRESSES")
    with receiving(plain(200)) as receiver, pytest.raises(PermanentFailure) as refused:
        post(f"http://{host}:{receiver.port}/")
    assert "HttpPostInternalAddresses" in str(refused.value)
    assert receiver.requests == []


def answers(monkeypatch, *turns):
    """Has the names of `.example` resolved to these addresses, those of one look-up after the other."""
    real, asked = socket.getaddrinfo, []

    def getaddrinfo(host, port, *arguments, **options):
        if not str(host).endswith(".example"):
            return real(host, port, *arguments, **options)
        asked.append(host)
        found = turns[min(len(asked), len(turns)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port)) for one in found]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return asked


def test_what_was_checked_is_what_is_connected_to(post, monkeypatch):
    """A name that is public when it is looked at and private when it is used gains nothing: it is looked up
    once."""
    tried = []

    def connect(address, **options):
        tried.append(address[0])
        raise ConnectionRefusedError(111, "refused")

    asked = answers(monkeypatch, ["93.184.215.14"], ["127.0.0.1"])
    monkeypatch.delenv("MINUTERO_HTTP_POST_INTERNAL_ADDRESSES")
    monkeypatch.setattr("minutero.targets.connection.create_connection", connect)
    with pytest.raises(ConnectionError, match="no answer"):
        post("https://rebinds.example/")
    assert asked == ["rebinds.example"]
    assert tried == ["93.184.215.14"]


def test_of_several_addresses_only_the_allowed_ones_are_tried(post, monkeypatch):
    tried = []

    def connect(address, **options):
        tried.append(address[0])
        raise ConnectionRefusedError(111, "refused")

    answers(monkeypatch, ["10.0.0.1", "93.184.215.14", "169.254.169.254"])
    monkeypatch.delenv("MINUTERO_HTTP_POST_INTERNAL_ADDRESSES")
    monkeypatch.setattr("minutero.targets.connection.create_connection", connect)
    with pytest.raises(ConnectionError):
        post("https://several.example/")
    assert tried == ["93.184.215.14"]


def test_a_metadata_address_behind_a_name_is_refused_even_where_private_ones_are_allowed(
    post, monkeypatch
):
    answers(monkeypatch, ["169.254.169.254"])
    with pytest.raises(PermanentFailure, match="link-local addresses never"):
        post("http://metadata.example/latest/meta-data")


def test_no_proxy_of_the_environment_is_asked(post, monkeypatch):
    """It would connect to whatever it is told."""
    with receiving(plain(200)) as other, receiving(plain(200)) as receiver:
        for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{other.port}")
        post(receiver.url)
    assert other.requests == []


@pytest.fixture
def time_is_up(monkeypatch):
    """Ends the time of the connection that is being made, in the thread that makes it."""
    ends = []

    def timer(_seconds, end):
        ends.append(end)
        return SimpleNamespace(start=lambda: None, cancel=lambda: None)

    monkeypatch.setattr("minutero.targets.connection.Timer", timer)

    def now():
        ends[0]()

    return now


def test_a_name_that_is_found_too_late_is_not_connected_to(post, monkeypatch, time_is_up):
    real = socket.getaddrinfo

    def getaddrinfo(*arguments, **options):
        time_is_up()
        return real(*arguments, **options)

    with receiving(plain(200)) as receiver:
        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        with pytest.raises(ConnectionError, match="not within its time"):
            post(receiver.url)
    assert receiver.requests == []


def test_a_connection_that_is_made_too_late_is_not_used(post, monkeypatch, time_is_up):
    real = connection.create_connection

    def connect(address, **options):
        made = real(address, **options)
        time_is_up()
        return made

    monkeypatch.setattr(connection, "create_connection", connect)
    with receiving(plain(200)) as receiver, pytest.raises(ConnectionError):
        post(receiver.url)
