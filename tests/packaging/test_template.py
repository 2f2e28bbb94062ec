"""What the template promises, read from what CloudFormation makes of it."""

import json
import os
import re
import subprocess

import pytest
from translation import of_type

MADE_UP = (
    "W3037 'batchexecutestatement'",
    "W3037 'deletemessagebatch'",
    "W3037 'sendmessagebatch'",
)
FUNCTIONS = {
    "ApiFunction",
    "DispatcherFunction",
    "WorkerFunction",
    "DeadLetterFunction",
    "AuditorFunction",
}


def statements(role):
    for policy in role["Policies"]:
        yield from policy["PolicyDocument"]["Statement"]


def actions(role):
    for statement in statements(role):
        found = statement["Action"]
        yield from [found] if isinstance(found, str) else found


def test_sam_finds_the_template_valid(root):
    done = subprocess.run(
        [root / ".venv-sam/bin/sam", "validate", "--lint", "--template", root / "template.yaml"],
        cwd=root,
        env={**os.environ, "SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": "us-east-1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def findings(root, template, path):
    """What cfn-lint finds, but for the made-up actions that the local emulator asks for."""
    # SAM takes out its own transform; cfn-lint applies the other, as CloudFormation does.
    path.write_text(json.dumps({**template, "Transform": "AWS::LanguageExtensions"}, default=str))
    done = subprocess.run(
        [root / ".venv/bin/cfn-lint", "--format", "json", "--regions", "us-east-1", "--", path],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert not done.stderr
    found = [f"{one['Rule']['Id']} {one['Message']}" for one in json.loads(done.stdout)]
    return [one for one in found if not one.startswith(MADE_UP)]


def test_cfn_lint_finds_nothing_in_the_translated_template(translated, root, tmp_path):
    """`sam validate --lint` misses references to nothing in what SAM makes itself."""
    assert findings(root, translated, tmp_path / "translated.json") == []


def test_cfn_lint_would_find_a_reference_to_nothing(translated, root, tmp_path):
    outputs = {**translated["Outputs"], "Lost": {"Value": {"Ref": "NoSuchTable"}}}
    (found,) = findings(root, {**translated, "Outputs": outputs}, tmp_path / "spoiled.json")
    assert "NoSuchTable" in found


def test_there_are_the_five_functions(translated):
    assert set(of_type(translated, "AWS::Lambda::Function")) == FUNCTIONS


def test_no_role_can_scan_or_do_everything(translated):
    roles = of_type(translated, "AWS::IAM::Role")
    assert len(roles) == len(FUNCTIONS)
    for name, role in roles.items():
        granted = list(actions(role))
        assert granted, f"{name} grants nothing: the test reads the wrong place"
        assert "dynamodb:Scan" not in granted, name
        assert not [action for action in granted if "*" in action], name


KNOW_NO_RESOURCE = ("cloudwatch:GetMetricStatistics",)
"""Actions AWS grants for everything or not at all."""


def test_every_statement_names_its_resource(translated):
    for name, role in of_type(translated, "AWS::IAM::Role").items():
        for statement in statements(role):
            alone = statement["Action"] in KNOW_NO_RESOURCE
            assert (statement["Resource"] == "*") == alone, name


def test_the_emulators_actions_are_granted_on_the_local_stack_alone(translated):
    policies = of_type(translated, "AWS::IAM::Policy")
    assert set(policies) == {
        "LocalStackPolicy",
        "LeaderboardPolicy",
        "AwsCallPolicy",
        "HttpPostPolicy",
    }
    assert translated["Resources"]["LocalStackPolicy"]["Condition"] == "IsLocal"
    assert translated["Parameters"]["LocalStack"]["Default"] == "false"


def test_the_example_is_deployed_where_it_is_asked_for_alone(translated):
    resources = translated["Resources"]
    asked = {name for name, one in resources.items() if one.get("Condition") == "HasLeaderboard"}
    assert asked == {"LeaderboardTable", "LeaderboardPolicy"}
    assert translated["Parameters"]["LeaderboardExample"]["Default"] == "false"
    policy = resources["LeaderboardPolicy"]["Properties"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert policy["Roles"] == [{"Ref": "WorkerRole"}]
    assert statement["Resource"] == {"Fn::GetAtt": ["LeaderboardTable", "Arn"]}


def test_a_message_is_hidden_for_six_times_the_workers_timeout(template):
    allowed = template["Parameters"]["WorkerTimeout"]["AllowedValues"]
    mapping = template["Mappings"]["WorkerTimeouts"]
    assert {int(key): value["Visibility"] for key, value in mapping.items()} == {
        int(seconds): 6 * int(seconds) for seconds in allowed
    }
    queue = template["Resources"]["TasksQueue"]["Properties"]
    assert queue["VisibilityTimeout"] == {
        "Fn::FindInMap": ["WorkerTimeouts", {"Ref": "WorkerTimeout"}, "Visibility"]
    }


def test_the_dead_letter_queue_hides_for_six_times_its_functions_timeout(translated):
    timeout = of_type(translated, "AWS::Lambda::Function")["DeadLetterFunction"]["Timeout"]
    queue = of_type(translated, "AWS::SQS::Queue")["DeadLetterQueue"]
    assert queue["VisibilityTimeout"] == 6 * timeout


def test_queues_keep_messages_for_14_days(translated):
    for queue in of_type(translated, "AWS::SQS::Queue").values():
        assert queue["MessageRetentionPeriod"] == 14 * 24 * 3600


def test_the_worker_has_pollers_or_a_maximum_but_not_both(translated):
    mappings = of_type(translated, "AWS::Lambda::EventSourceMapping").values()
    (worker,) = [one for one in mappings if one["FunctionName"] == {"Ref": "WorkerFunction"}]
    nothing = {"Ref": "AWS::NoValue"}
    condition, with_pollers, without = worker["ScalingConfig"]["Fn::If"]
    assert (condition, with_pollers, without == nothing) == ("HasPollers", nothing, False)
    condition, taken_back, kept = worker["ProvisionedPollerConfig"]["Fn::If"]
    # An update that does not name them leaves them there, and billed.
    assert (condition, taken_back) == ("TakesPollersBack", {})
    condition, with_pollers, without = kept["Fn::If"]
    assert (condition, with_pollers == nothing, without) == ("HasPollers", False, nothing)


@pytest.mark.parametrize(
    ("pollers", "allowed"),
    [("0", True), ("off", True), ("1", False), ("2", True), ("200", True), ("201", False)],
)
def test_lambda_takes_two_to_two_hundred_pollers(template, pollers, allowed):
    pattern = template["Parameters"]["WorkerPollers"]["AllowedPattern"]
    assert bool(re.fullmatch(pattern, pollers)) == allowed


def test_both_tables_on_the_way_of_a_task_are_made_ready_for_a_burst(translated):
    tables = of_type(translated, "AWS::DynamoDB::Table")
    warm = {name for name, table in tables.items() if "WarmThroughput" in table}
    assert warm == {"TasksTable", "RunsTable"}


def test_both_consumers_report_failures_item_by_item(translated):
    mappings = of_type(translated, "AWS::Lambda::EventSourceMapping")
    assert len(mappings) == 2
    for mapping in mappings.values():
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_the_worker_may_send_to_its_own_queue_for_ever(translated):
    """Else Lambda cuts the chain of retries after 16 hops."""
    assert (
        of_type(translated, "AWS::Lambda::Function")["WorkerFunction"]["RecursiveLoop"] == "Allow"
    )


@pytest.mark.parametrize("function", ["DispatcherFunction", "AuditorFunction"])
def test_a_stale_tick_is_dropped(translated, function):
    configs = of_type(translated, "AWS::Lambda::EventInvokeConfig").values()
    (config,) = [one for one in configs if one["FunctionName"] == {"Ref": function}]
    assert config["MaximumRetryAttempts"] == 0
    assert config["MaximumEventAgeInSeconds"] == 60


def test_a_dispatcher_is_dead_before_its_lease_is_over(translated):
    assert of_type(translated, "AWS::Lambda::Function")["DispatcherFunction"]["Timeout"] < 90


def test_tables_are_on_demand_without_indexes_and_kept_by_default(translated):
    tables = of_type(translated, "AWS::DynamoDB::Table")
    assert len(tables) == 5
    for name, table in tables.items():
        assert table["BillingMode"] == "PAY_PER_REQUEST", name
        assert "GlobalSecondaryIndexes" not in table, name
        assert "TableName" not in table, name
        for policy in ("DeletionPolicy", "UpdateReplacePolicy"):
            assert translated["Resources"][name][policy] == {
                "Fn::If": ["KeepsData", "Retain", "Delete"]
            }
    assert translated["Parameters"]["RetainData"]["Default"] == "true"


def test_the_api_is_signed_by_default(translated):
    assert translated["Parameters"]["ApiAuth"]["Default"] == "AWS_IAM"
    (route,) = of_type(translated, "AWS::ApiGatewayV2::Route").values()
    assert route["AuthorizationType"] == {"Ref": "ApiAuth"}
    assert route["RouteKey"] == "$default"


def test_every_function_has_a_log_group_that_forgets(translated):
    groups = of_type(translated, "AWS::Logs::LogGroup")
    for name, function in of_type(translated, "AWS::Lambda::Function").items():
        group = groups[function["LoggingConfig"]["LogGroup"]["Ref"]]
        assert group["RetentionInDays"] == 30, name


OF_THE_TARGETS = {
    "MINUTERO_AWS_CALL_ACTIONS",
    "MINUTERO_HTTP_POST_SIGNS_WITH",
    "MINUTERO_HTTP_POST_INTERNAL_ADDRESSES",
    "MINUTERO_HTTP_POST_PLAIN_HTTP",
}


def test_the_targets_may_do_nothing_unless_a_parameter_says_so(translated):
    parameters = translated["Parameters"]
    assert parameters["AwsCallActions"]["Default"] == ""
    assert parameters["AwsCallResources"]["Default"] == ""
    assert parameters["HttpPostKeyParameter"]["Default"] == ""
    assert parameters["HttpPostInternalAddresses"]["Default"] == "false"
    assert parameters["HttpPostPlainHttp"]["Default"] == "false"
    resources = translated["Resources"]
    conditions = {"AwsCallPolicy": "HasAwsCalls", "HttpPostPolicy": "HasHttpPostKey"}
    for name, condition in conditions.items():
        assert resources[name]["Condition"] == condition
        assert resources[name]["Properties"]["Roles"] == [{"Ref": "WorkerRole"}]
    assert resources["LocalHttpPostKey"]["Condition"] == "HasLocalKey"
    assert translated["Conditions"]["HasLocalKey"]["Fn::And"] == [
        {"Condition": "HasHttpPostKey"},
        {"Condition": "IsLocal"},
    ]
    worker = resources["WorkerFunction"]["Properties"]["Environment"]["Variables"]
    assert set(worker) >= OF_THE_TARGETS


def test_every_function_knows_its_stack(translated):
    for function in of_type(translated, "AWS::Lambda::Function").values():
        names = set(function["Environment"]["Variables"]) - OF_THE_TARGETS
        assert {name for name in names if name.startswith("MINUTERO_")} == {
            "MINUTERO_TASKS_TABLE",
            "MINUTERO_SCHEDULES_TABLE",
            "MINUTERO_CURSORS_TABLE",
            "MINUTERO_RUNS_TABLE",
            "MINUTERO_TASKS_QUEUE_URL",
            "MINUTERO_DEAD_LETTER_QUEUE_URL",
            "MINUTERO_SHARDS",
            "MINUTERO_LOOK_AHEAD_MINUTES",
            "MINUTERO_WORKER_TIMEOUT_SECONDS",
            "MINUTERO_RETENTION_DAYS",
            "MINUTERO_LOG_PAYLOADS",
            "MINUTERO_WORKER_FUNCTION",
            "MINUTERO_DISPATCHER_FUNCTION",
        }
