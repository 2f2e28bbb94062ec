"""The Python client and the commands against the deployed stack."""

import json

import pytest

import minutero
from minutero_cli import demo
from minutero_cli.main import run


def test_a_client_finds_the_stack_by_its_name(stack, aws_environment):
    client = minutero.Client()
    task = client.add_task("tally", {"from": "the client"}, delay_seconds=1)
    assert task["status"] == "scheduled"
    stack.wait(task["task_id"])
    told = client.get_task(task["task_id"])
    assert told["status"] == "succeeded"
    assert told == stack.get(task["task_id"])


def test_a_client_may_be_told_region_endpoint_and_keys(stack, aws_environment, monkeypatch):
    import botocore.session

    reached = stack.local.running().environment
    for name in reached:
        monkeypatch.delenv(name)
    session = botocore.session.Session()
    session.set_credentials("test", "test")
    client = minutero.Client(
        session=session, region=reached["AWS_REGION"], endpoint=reached["AWS_ENDPOINT_URL"]
    )
    task = client.add_task("echo", 1)
    assert stack.wait(task["task_id"])["result"] == 1


def test_a_stack_that_does_not_exist_is_not_found(aws_environment):
    with pytest.raises(minutero.NotFound, match="no-such-stack"):
        minutero.Client("no-such-stack")


@pytest.fixture
def at_home(stack, monkeypatch):
    monkeypatch.setenv("MINUTERO_HOME", str(stack.local.home))
    monkeypatch.delenv("MINUTERO_API_URL", raising=False)


def test_a_task_added_on_the_command_line_succeeds_on_the_local_stack(stack, at_home, capsys):
    assert run(["tasks", "add", "echo", "--in", "1s", "--payload", '{"a": 1}', "--json"]) == 0
    task_id = json.loads(capsys.readouterr().out)["task_id"]
    stack.wait(task_id)
    assert run(["tasks", "get", task_id]) == 0
    assert "succeeded" in capsys.readouterr().out


def test_the_command_finds_a_stack_by_its_name(stack, aws_environment, capsys):
    assert run(["tasks", "add", "echo", "--stack", "minutero"]) == 0
    assert "scheduled" in capsys.readouterr().out
    assert run(["tasks", "add", "echo", "--stack", "no-such-stack"]) == 1
    assert "no-such-stack" in capsys.readouterr().err


def test_the_command_tells_the_apis_refusal(at_home, capsys):
    assert run(["tasks", "add", "no_such_job"]) == 1
    assert "tally" in capsys.readouterr().err


def test_the_demo_follows_its_tasks_to_their_end(stack, at_home, monkeypatch, capsys):
    monkeypatch.setattr(demo, "TASKS", (("now", 0, ""), ("in 2 s", 2, "")))
    monkeypatch.setattr(demo.sys, "argv", ["demo", "--once"])
    assert demo.main() == 0
    shown = capsys.readouterr().out
    assert shown.count(" finished") == 2
    assert "EARLY" not in shown
