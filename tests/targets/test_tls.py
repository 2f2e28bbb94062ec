"""http.post over TLS: to whom the certificate names, and to nobody else."""

import ssl
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from receiver import hanging, plain, receiving

from minutero.targets import connection


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    """A file with a key and a certificate of its own for localhost."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "localhost.pem"
    path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return path


@pytest.fixture
def tls(certificate):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    return lambda plain_one: context.wrap_socket(plain_one, server_side=True)


@pytest.fixture
def trusted(certificate, monkeypatch):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    connection._trust.cache_clear()
    yield
    connection._trust.cache_clear()


def test_a_receiver_whose_certificate_is_trusted_gets_the_post(post, tls, trusted):
    with receiving(plain(200, b"ok"), tls) as receiver:
        assert post(f"https://localhost:{receiver.port}/")["body"] == "ok"


def test_a_certificate_that_nobody_trusts_is_refused_before_anything_is_sent(post, tls):
    connection._trust.cache_clear()
    with receiving(plain(200), tls) as receiver:
        with pytest.raises(ConnectionError, match="certificate"):
            post(f"https://localhost:{receiver.port}/")
        assert receiver.ended.wait(30)
    assert receiver.requests == []


def test_a_certificate_for_another_name_is_refused(post, tls, trusted):
    with receiving(plain(200), tls) as receiver:
        with pytest.raises(ConnectionError, match=r"127\.0\.0\.1"):
            post(f"https://127.0.0.1:{receiver.port}/")
        assert receiver.ended.wait(30)
    assert receiver.requests == []


def test_a_server_that_hangs_over_tls_is_left_when_its_time_is_over(post, tls, trusted, impatient):
    with receiving(hanging(b"HTTP/1.1 2"), tls) as receiver:
        with pytest.raises(ConnectionError, match="no answer"):
            post(f"https://localhost:{receiver.port}/")
        assert receiver.ended.wait(30)


def test_a_server_that_never_greets_is_left_when_its_time_is_over(post, trusted, impatient):
    """Its socket is open, and TLS does not begin."""

    def never(connection):
        connection.recv(65_536)
        connection.recv(1)
        return connection

    with receiving(plain(200), never) as receiver, pytest.raises(ConnectionError):
        post(f"https://localhost:{receiver.port}/")
