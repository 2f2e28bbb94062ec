"""examples/ecs: its template is sound, and its command does the work once."""

import json
import re
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "ecs"
AT = "2026-12-05T00:00:00Z"
"""A Friday, 18:00 in Mexico City, as the scheduler writes it."""


class TemplateLoader(yaml.SafeLoader):
    """Reads CloudFormation's short forms (`!Ref x`) as what they are applied to."""


def _argument(loader, _suffix, node):
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_mapping(node, deep=True)


TemplateLoader.add_multi_constructor("!", _argument)


@pytest.fixture(scope="module")
def resources():
    text = (EXAMPLE / "template.yaml").read_text()
    return yaml.load(text, TemplateLoader)["Resources"]  # a SafeLoader


@pytest.fixture(scope="module")
def request_sent(resources):
    """What the scheduler sends to ECS, its variables as they are written."""
    text, _ = resources["Friday"]["Properties"]["Target"]["Input"]
    return json.loads(text)


def test_cfn_lint_finds_nothing():
    done = subprocess.run(
        [ROOT / ".venv/bin/cfn-lint", "--regions", "us-east-1", "--", EXAMPLE / "template.yaml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_schedule_is_friday_evening_where_the_players_live(resources):
    friday = resources["Friday"]["Properties"]
    assert friday["ScheduleExpression"] == "cron(0 18 ? * FRI *)"
    assert friday["ScheduleExpressionTimezone"] == "America/Mexico_City"
    assert friday["FlexibleTimeWindow"] == {"Mode": "OFF"}
    assert friday["Target"]["Arn"].endswith(":aws-sdk:ecs:runTask")


def test_the_time_of_the_schedule_names_the_start_and_the_run(request_sent):
    (override,) = request_sent["Overrides"]["ContainerOverrides"]
    assert override["Name"] == "job"
    assert override["Command"][-2:] == ["--now", "<aws.scheduler.scheduled-time>"]
    assert "<aws.scheduler.scheduled-time>" in request_sent["ClientToken"]


def test_no_role_may_do_more_than_is_named(resources):
    roles = [one for one in resources.values() if one["Type"] == "AWS::IAM::Role"]
    statements = [
        statement
        for role in roles
        for policy in role["Properties"].get("Policies", ())
        for statement in policy["PolicyDocument"]["Statement"]
    ]
    assert len(statements) == 5
    for statement in statements:
        assert "*" not in json.dumps([statement["Action"], statement["Resource"]])


def test_the_image_is_made_of_files_that_there_are():
    text = (EXAMPLE / "Dockerfile").read_text()
    copied = [words.split()[:-1] for words in re.findall(r"^COPY (.*)$", text, re.MULTILINE)]
    assert copied
    let_in = (EXAMPLE / "Dockerfile.dockerignore").read_text().splitlines()
    for source in [one for line in copied for one in line]:
        assert (ROOT / source).exists(), source
        assert any(f"{source}/".startswith(line[1:] + "/") for line in let_in if line[0] == "!")
    assert 'ENTRYPOINT ["minutero"]' in text


# --- the command


@pytest.fixture
def league(deployment, resources):
    """A board with a week's scores, three wallets with something in them, and the section. The processes have
    the variables that the container has, and those by which they find AWS here."""
    (container,) = resources["TaskDefinition"]["Properties"]["ContainerDefinitions"]
    given = {one["Name"] for one in container["Environment"]}
    ours = {"MINUTERO_RUNS_TABLE": "Runs", "LEADERBOARD_TABLE": "Leaderboard"}
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", *ours):
        deployment.environment.pop(name, None)
    values = {**ours, "AWS_DEFAULT_REGION": "us-east-1"}
    deployment.environment.update({name: values[name] for name in given})
    dynamodb = deployment.dynamodb
    dynamodb.create_table(
        TableName="Leaderboard",
        BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "id", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "id", "AttributeType": "S"}],
    )
    scores = {"ana": {"N": "3"}, "bo": {"N": "2"}, "cy": {"N": "1"}}
    rows = [{"id": {"S": "board#2026-W49"}, "scores": {"M": scores}}]
    rows += [{"id": {"S": f"wallet#{who}"}, "coins": {"N": "5"}} for who in scores]
    rows += [{"id": {"S": "section#announcements"}}]
    for row in rows:
        dynamodb.put_item(TableName="Leaderboard", Item=row)
    yield deployment
    dynamodb.delete_table(TableName="Leaderboard")


def coins(league):
    found = league.dynamodb.scan(TableName="Leaderboard")["Items"]
    return {row["id"]["S"]: int(row["coins"]["N"]) for row in found if "coins" in row}


def test_two_containers_started_at_once_for_one_friday_pay_once(league, request_sent):
    (override,) = request_sent["Overrides"]["ContainerOverrides"]
    command = [AT if word.startswith("<") else word for word in override["Command"]]
    jobs = ["--jobs", str(ROOT / "functions" / "worker" / "jobs"), "--json"]
    started = [league.start(*command, *jobs), league.start(*command, *jobs)]
    told = [json.loads(process.communicate(timeout=60)[0]) for process in started]
    assert [process.returncode for process in started] == [0, 0]
    assert [one["here"] for one in sorted(told, key=lambda one: one["here"])] == [False, True]
    paid = {"wallet#ana": 15, "wallet#bo": 15, "wallet#cy": 15}
    assert coins(league) == paid
    code, again, _ = league.run(*command[2:], *jobs[:2])
    assert (code, again["status"], again["here"]) == (0, "succeeded", False)
    assert again["result"] == {"week": "2026-W49", "winners": ["ana", "bo", "cy"], "applied": True}
    assert coins(league) == paid
