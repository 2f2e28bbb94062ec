"""The targets as a worker calls them, against servers on loopback."""

import sys
from pathlib import Path

import pytest

# The folders of tests are no packages; what they share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

from receiver import KEY

from minutero.targets import http_post
from minutero.testing import job_run


@pytest.fixture
def allowed(monkeypatch):
    """A deployment in which http.post may go to this machine, without TLS, and has a key."""
    monkeypatch.setenv("MINUTERO_HTTP_POST_INTERNAL_ADDRESSES", "true")
    monkeypatch.setenv("MINUTERO_HTTP_POST_PLAIN_HTTP", "true")
    monkeypatch.setattr("minutero.targets.http_post.signing_key", lambda: KEY)


@pytest.fixture
def impatient(monkeypatch):
    """What takes long takes half a second."""
    monkeypatch.setattr("minutero.targets.http_post.LONGEST_SECONDS", 0.5)


@pytest.fixture
def post(allowed):
    def call(url, body=None, **members):
        return http_post.post({"url": url, "body": body, **members}, job_run("http.post"))

    return call
