"""Each function may do what it has to, nothing it may do could be taken away, and nobody else gets in."""

import logging
import sys
import urllib.error
import urllib.request
from pathlib import Path

import botocore.session
import pytest

from minutero import wiring
from minutero.aws import clients
from minutero.settings import Settings
from minutero_cli.signing import signer

# The folders of tests are no packages; what they share lies beside and above them.
sys.path.insert(0, str(Path(__file__).parent))

from account import REGION, STAND_INS, Denied, account, without_code
from permissions import NOT_PROVED, grants
from scenarios import SCENARIOS

GRANTS = {str(grant): grant for grant in grants()}
CACHED = (
    wiring.api,
    wiring.dispatcher,
    wiring.auditor,
    wiring.worker,
    wiring.dead_letter,
    wiring.settings_here,
    clients._session,
)


@pytest.fixture(scope="session")
def far_task():
    """These tests need nothing deployed: not the neighbours' stack, and not this task of theirs."""


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    with account(tmp_path_factory.mktemp("account")) as made:
        yield made


@pytest.fixture(scope="module")
def owner(trial):
    settings = Settings.from_environment(trial.environment)
    return wiring.api_parts(settings, region=REGION, endpoint=trial.endpoint, session=trial.owner)


@pytest.fixture
def play(trial, owner, monkeypatch, caplog):
    """Plays a function's scenario in this process, with the rights that its role has at that time."""
    caplog.set_level(logging.CRITICAL)
    for name, value in trial.environment.items():
        monkeypatch.setenv(name, value)
    roles = {grant.function: grant.role for grant in GRANTS.values()}

    def play(function):
        session = trial.of_role(roles[function])
        monkeypatch.setattr(botocore.session, "get_session", lambda: session)
        for builder in CACHED:
            builder.cache_clear()
        build, scenario = SCENARIOS[function]
        scenario(build(), owner)

    trial.empty()
    yield play
    for builder in CACHED:
        builder.cache_clear()


def test_every_function_has_a_scenario():
    assert set(SCENARIOS) == {grant.function for grant in GRANTS.values()}


@pytest.mark.parametrize("function", SCENARIOS)
def test_a_function_may_do_all_it_does(play, function):
    play(function)


@pytest.mark.parametrize("name", [name for name in GRANTS if name not in NOT_PROVED])
def test_a_function_is_refused_without(trial, play, name):
    grant = GRANTS[name]
    with trial.without(grant) as resource, pytest.raises(Denied) as denied:
        play(grant.function)
    assert denied.value.action in (grant.action, STAND_INS.get(grant.action))
    assert denied.value.resource in (resource, "*")


@pytest.mark.parametrize("name", NOT_PROVED)
def test_what_is_listed_as_not_proved_could_not_be(trial, play, name):
    with trial.without(GRANTS[name]):
        play(GRANTS[name].function)


CALL = {"Effect": "Allow", "Action": "execute-api:Invoke", "Resource": "*"}
SEND = {"Effect": "Allow", "Action": "sqs:*", "Resource": "*"}


@pytest.fixture
def called(trial):
    """The status of a request to the HTTP API, signed with these keys, or with none."""

    def call(key="", secret="", token=None):
        url = f"{trial.api_url}/jobs"
        environment = {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}
        sign = signer(url, {**environment, **({"AWS_SESSION_TOKEN": token} if token else {})})
        headers = sign("GET", url, b"", {}) if sign else {}
        request = urllib.request.Request(url, headers=headers)
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            return opener.open(request, timeout=30).status
        except urllib.error.HTTPError as error:
            return error.code

    return call


def test_who_may_call_the_api_gets_an_answer(trial, called):
    assert called(*trial.of_caller(CALL).keys) == 200


def test_a_request_that_is_not_signed_gets_403(called):
    assert called() == 403


def test_a_key_that_nobody_has_gets_403(called):
    assert called("AKIAIOSFODNN7EXAMPLE", "secret") == 403


def test_a_signature_made_with_another_secret_gets_403(trial, called):
    key, _, token = trial.of_caller(CALL).keys
    assert called(key, "another secret", token) == 403


def test_who_may_do_something_else_gets_403(trial, called):
    assert called(*trial.of_caller(SEND).keys) == 403


@pytest.mark.parametrize("queue", ["TasksQueue", "DeadLetterQueue"])
def test_nobody_reaches_a_queue_without_tls(trial, queue):
    """Here there is none, so the policies that the local stack does without keep everybody out."""
    template = without_code("AWS::SQS::")
    outputs = {"Url": {"Value": {"Ref": queue}}}
    trial.create(f"tls-{queue}", {**template, "Outputs": outputs}, LocalStack="false")
    described = trial.client("cloudformation").describe_stacks(StackName=f"tls-{queue}")
    url = described["Stacks"][0]["Outputs"][0]["OutputValue"]
    sqs = trial.of_caller(SEND).create_client("sqs", REGION, endpoint_url=trial.endpoint)
    with pytest.raises(Denied):
        sqs.send_message(QueueUrl=url, MessageBody="{}")
