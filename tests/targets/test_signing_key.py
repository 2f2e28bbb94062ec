import boto3
import pytest
from moto import mock_aws

from minutero import PermanentFailure
from minutero.targets import signing_key
from minutero.targets.http_post import post
from minutero.testing import job_run


@pytest.fixture
def ssm(monkeypatch):
    monkeypatch.setattr(signing_key, "_kept", {})
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    monkeypatch.setenv("MINUTERO_HTTP_POST_SIGNS_WITH", "/minutero/key")
    with mock_aws():
        yield boto3.client("ssm")


def test_the_key_is_the_parameter_that_the_deployment_names(ssm):
    ssm.put_parameter(Name="/minutero/key", Value="a secret", Type="SecureString")
    assert signing_key.signing_key() == b"a secret"


def test_a_new_key_is_read_when_the_old_one_was_kept_long_enough(ssm, monkeypatch):
    ssm.put_parameter(Name="/minutero/key", Value="old", Type="SecureString")
    assert signing_key.signing_key() == b"old"
    ssm.put_parameter(Name="/minutero/key", Value="new", Type="SecureString", Overwrite=True)
    assert signing_key.signing_key() == b"old"
    later = signing_key.time.monotonic() + signing_key.KEPT_SECONDS + 1
    monkeypatch.setattr(signing_key.time, "monotonic", lambda: later)
    assert signing_key.signing_key() == b"new"


def test_a_key_that_is_not_there_is_looked_for_again(ssm):
    with pytest.raises(ConnectionError, match="/minutero/key cannot be read"):
        signing_key.signing_key()
    ssm.put_parameter(Name="/minutero/key", Value="a secret", Type="SecureString")
    assert signing_key.signing_key() == b"a secret"


def test_without_a_key_nothing_is_posted_and_it_says_what_to_set(monkeypatch):
    monkeypatch.delenv("MINUTERO_HTTP_POST_SIGNS_WITH", raising=False)
    with pytest.raises(PermanentFailure, match="HttpPostKeyParameter"):
        post({"url": "https://a.example/"}, job_run("http.post"))
