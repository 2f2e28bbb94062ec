"""What went wrong for others, by the template. docs/field-reports.md lists the reports."""

import json
import re

import pytest
from permissions import grants
from translation import of_type

import minutero
from minutero.domain.timing import Timing

ONE_IS_SINGULAR = re.compile(r"rate\(1 (minute|hour|day)\)|(?!rate\(1 ).*")
"""AWS takes no "rate(1 minutes)", which Minutero's own schedules may say:
https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-scheduled-rule-pattern.html"""


def is_taken(expression):
    try:
        minutero.fire_times(expression)
    except minutero.InvalidSchedule:
        return False
    return ONE_IS_SINGULAR.fullmatch(expression) is not None


def may(role, service):
    """What a role may do of a service: {(action, the resource it may do it on)}."""
    return {
        (grant.action, grant.resource)
        for grant in grants()
        if grant.role == role and grant.action.startswith(service)
    }


# --- ticks


def test_every_expression_of_the_template_is_one(translated):
    """B155, B189: neither a linter nor an emulator looks into one; a deployment fails of it."""
    rules = of_type(translated, "AWS::Events::Rule").values()
    expressions = [rule["ScheduleExpression"] for rule in rules]
    assert len(expressions) == 2
    assert [one for one in expressions if not is_taken(one)] == []


@pytest.mark.parametrize(
    "expression",
    ["rate(1 minutes)", "rate(0 minutes)", "rate(5 minute s)", "cron(INVALID)", "at(nonsense)", "",
     "rate(1 minute) ", "cron(* * * * *)", "cron(0 1 * * * *)"],
)  # fmt: skip
def test_what_aws_refuses_to_deploy_would_be_found(expression):
    assert not is_taken(expression)


def test_a_tick_is_tried_again_within_its_minute_and_dropped_after_it(translated):
    """B086, B191: EventBridge and Lambda each try again by themselves, for a day and for six hours."""
    for rule in of_type(translated, "AWS::Events::Rule").values():
        (target,) = rule["Targets"]
        assert target["RetryPolicy"]["MaximumEventAgeInSeconds"] == 60
        assert target["RetryPolicy"]["MaximumRetryAttempts"] <= 2


def test_ticks_come_from_rules_that_have_no_dead_letter_queue(translated):
    """B178, B179: a stale tick is dropped, so nobody needs a right to bury one."""
    assert of_type(translated, "AWS::Scheduler::Schedule") == {}
    for rule in of_type(translated, "AWS::Events::Rule").values():
        assert not [one for one in rule["Targets"] if "DeadLetterConfig" in one]
    assert "events.amazonaws.com" not in json.dumps(of_type(translated, "AWS::SQS::QueuePolicy"))


def test_the_dispatcher_has_the_time_out_that_its_leases_outlive(translated):
    """B088: a lease is no setting; its relation to this one is asked where a process begins."""
    function = of_type(translated, "AWS::Lambda::Function")["DispatcherFunction"]
    assert function["Timeout"] * 1000 == Timing().dispatcher_timeout
    assert not [one for one in function["Environment"]["Variables"] if "LEASE" in one]


# --- queues and who polls them


def seconds(value, template, worker_timeout):
    """What a value of the template is, for that WorkerTimeout."""
    if value == {"Ref": "WorkerTimeout"}:
        return worker_timeout
    if isinstance(value, dict):
        name, _, key = value["Fn::FindInMap"]
        return template["Mappings"][name][str(worker_timeout)][key]
    return value


def test_a_message_is_hidden_for_six_time_outs_and_the_time_its_batch_is_waited_for(translated):
    """B113, B114: for every time-out that can be deployed."""
    mappings = of_type(translated, "AWS::Lambda::EventSourceMapping").values()
    for worker_timeout in translated["Parameters"]["WorkerTimeout"]["AllowedValues"]:
        for mapping in mappings:
            queue = translated["Resources"][mapping["EventSourceArn"]["Fn::GetAtt"][0]]
            function = translated["Resources"][mapping["FunctionName"]["Ref"]]
            hidden = queue["Properties"]["VisibilityTimeout"]
            needed = 6 * seconds(function["Properties"]["Timeout"], translated, worker_timeout)
            window = mapping.get("MaximumBatchingWindowInSeconds", 0)
            assert seconds(hidden, translated, worker_timeout) >= needed + window


def test_no_function_is_throttled_by_a_reservation_and_a_receive_is_no_attempt(translated):
    """B115: a throttled poller spends receives, and what was never tried is buried."""
    for function in of_type(translated, "AWS::Lambda::Function").values():
        assert "ReservedConcurrentExecutions" not in function
    mappings = of_type(translated, "AWS::Lambda::EventSourceMapping").values()
    (worker,) = [one for one in mappings if one["FunctionName"] == {"Ref": "WorkerFunction"}]
    without_pollers = worker["ScalingConfig"]["Fn::If"][2]
    on_aws = {"Fn::If": ["IsOnAws", {"Ref": "WorkerConcurrency"}, 100]}
    assert without_pollers == {"MaximumConcurrency": on_aws}
    assert translated["Parameters"]["WorkerConcurrency"]["MinValue"] >= 2
    queue = of_type(translated, "AWS::SQS::Queue")["TasksQueue"]
    assert queue["RedrivePolicy"]["maxReceiveCount"] >= 5


def test_dead_letters_have_no_further_queue_to_go_to(translated):
    """B176, B183: nothing moves a message but a hand, and none goes round."""
    queues = of_type(translated, "AWS::SQS::Queue")
    redriving = {name for name, queue in queues.items() if "RedrivePolicy" in queue}
    assert redriving == {"TasksQueue"}
    target = queues["TasksQueue"]["RedrivePolicy"]["deadLetterTargetArn"]
    assert target == {"Fn::GetAtt": ["DeadLetterQueue", "Arn"]}


def test_no_send_needs_a_right_on_a_key(translated):
    """B177, B178: SQS has the keys of both queues, and nobody can lack a right on them."""
    for queue in of_type(translated, "AWS::SQS::Queue").values():
        assert queue["SqsManagedSseEnabled"] is True
        assert "KmsMasterKeyId" not in queue


# --- rights


@pytest.mark.parametrize(
    ("role", "rights"),
    [
        ("DispatcherFunctionRole", {("sqs:SendMessage", "TasksQueue")}),
        ("ApiFunctionRole", {("sqs:SendMessage", "TasksQueue"), ("sqs:GetQueueAttributes", "TasksQueue"),
                             ("sqs:GetQueueAttributes", "DeadLetterQueue")}),
        ("WorkerRole", {("sqs:SendMessage", "TasksQueue"), ("sqs:ReceiveMessage", "TasksQueue"),
                        ("sqs:DeleteMessage", "TasksQueue"), ("sqs:GetQueueAttributes", "TasksQueue"),
                        ("sqs:SendMessage", "DeadLetterQueue")}),
    ],
)  # fmt: skip
def test_a_role_reaches_the_queues_it_needs_and_no_other(role, rights):
    """B193"""
    assert may(role, "sqs:") == rights


def test_the_dispatcher_reads_by_query_and_claims_by_statement():
    """B193"""
    granted = may("DispatcherFunctionRole", "dynamodb:")
    for action in ("Query", "PartiQLUpdate"):
        tables = {on for one, on in granted if one == f"dynamodb:{action}"}
        assert tables == {"TasksTable"}
    assert not {one for one, _ in granted} & {
        f"dynamodb:{one}" for one in ("Scan", "PartiQLDelete")
    }
