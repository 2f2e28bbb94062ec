"""`minutero doctor` on the deployed stack, and by somebody who may do little."""

import json
import re
import sys
from pathlib import Path

import pytest

from minutero_cli.main import run

# The folders of tests are no packages; what they share lies beside them.
sys.path.insert(0, str(Path(__file__).parent))

from account import REGION, STACK, account

PAGE = Path(__file__).parents[2] / "docs" / "permissions.md"
SPARED = {
    "table expiry", "table recovery", "account concurrency", "reserved concurrency", "async invocation",
    "worker recursion", "alarms off",
}  # fmt: skip
"""What the emulator passes over in the template, or makes up."""


def examined(capsys, *words):
    capsys.readouterr()
    code = run(["doctor", "--json", *words])
    told = json.loads(capsys.readouterr().out)
    return code, told["findings"]


def of(findings, *states):
    return {one["check"] for one in findings if one["state"] in states}


def test_nothing_has_failed_on_the_stack_that_the_template_makes(stack, capsys, aws_environment):
    code, findings = examined(capsys, "--stack", stack.local.running().stack)
    assert of(findings, "failed") == set(), findings
    assert code == 0
    assert of(findings, "not checked") == SPARED
    # Nobody has named an address. What other tests bury, and how far the ticks are, is not this test's.
    assert "alarm subscribers" in of(findings, "warning")
    assert of(findings, "warning") <= {"alarm subscribers", "watermark", "dead letters"}
    assert {"rules", "queue polling", "settings", "time relations", "queue visibility"} <= of(
        findings, "ok"
    )


@pytest.fixture(scope="module")
def trial(tmp_path_factory):
    with account(tmp_path_factory.mktemp("account")) as made:
        yield made


@pytest.fixture
def by(trial, monkeypatch, capsys):
    """What doctor finds with the rights of somebody who may do this and nothing else."""

    def call(*actions):
        session = trial.of_caller({"Effect": "Allow", "Action": actions, "Resource": "*"})
        key, secret, token = session.keys
        for name, value in {
            **trial.environment,
            "AWS_ACCESS_KEY_ID": key,
            "AWS_SECRET_ACCESS_KEY": secret,
            "AWS_SESSION_TOKEN": token,
            "AWS_DEFAULT_REGION": REGION,
        }.items():
            monkeypatch.setenv(name, value)
        return examined(capsys, "--stack", STACK)[1]

    return call


def needed(findings):
    return {one["found"].removeprefix("needs ") for one in findings if "needs " in one["found"]}


def listed():
    """The rights that the page lists."""
    section = PAGE.read_text("utf-8").partition("## `minutero doctor`")[2].partition("\n## ")[0]
    return {
        f"{one}:{action}"
        for one, action in re.findall(r"^\| `(\S+)` \| `(\w+)`", section, re.MULTILINE)
    }


def test_who_may_only_see_the_stack_is_told_what_else_is_needed(by):
    needs = needed(by("cloudformation:DescribeStacks"))
    assert {"dynamodb:DescribeTable", "sqs:GetQueueAttributes", "execute-api:Invoke"} <= needs
    assert needs <= listed()


def test_the_rights_of_the_page_are_enough(by):
    assert len(listed()) > 15
    assert needed(by(*listed())) == set()
