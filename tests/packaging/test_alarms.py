"""Alarms and dashboard, held against what the code emits and what AWS measures."""

import json
import re
from itertools import chain

import pytest

from minutero.aws.emf import NAMESPACE
from minutero.domain.metrics import Metric, Unit

OF_AWS = {
    "AWS/Lambda": {"Invocations", "Errors", "Throttles", "Duration", "ConcurrentExecutions"},
    "AWS/SQS": {
        "ApproximateAgeOfOldestMessage",
        "ApproximateNumberOfMessagesVisible",
        "ApproximateNumberOfMessagesDelayed",
        "ApproximateNumberOfMessagesNotVisible",
    },
    "AWS/ApiGateway": {"Count", "4xx", "5xx", "Latency"},
}
"""As AWS names them, with the one dimension of each namespace:
https://docs.aws.amazon.com/lambda/latest/dg/monitoring-metrics-types.html
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
https://docs.aws.amazon.com/apigateway/latest/developerguide/http-api-metrics.html"""

DIMENSION = {
    NAMESPACE: "service",
    "AWS/Lambda": "FunctionName",
    "AWS/SQS": "QueueName",
    "AWS/ApiGateway": "ApiId",
}
KNOWN = OF_AWS | {NAMESPACE: {str(metric) for metric in Metric}}


def of_type(template, kind):
    resources = template["Resources"].items()
    return {name: one["Properties"] for name, one in resources if one["Type"] == kind}


@pytest.fixture
def alarms(template):
    found = of_type(template, "AWS::CloudWatch::Alarm")
    assert len(found) >= 10
    return found


@pytest.fixture
def widgets(template):
    """The widgets, with what is filled in left as it is written."""
    (dashboard,) = of_type(template, "AWS::CloudWatch::Dashboard").values()
    return json.loads(dashboard["DashboardBody"]["Fn::Sub"])["widgets"]


def measured(widget):
    """The metrics of a widget, (namespace, metric, dimension, value), its dots written out."""
    above = []
    for metric in widget["properties"].get("metrics", ()):
        names = [one for one in metric if isinstance(one, str)]
        above = [above[at] if one == "." else one for at, one in enumerate(names)]
        yield tuple(above)


def test_every_alarm_names_a_metric_that_is_emitted(alarms):
    for name, alarm in alarms.items():
        assert alarm["MetricName"] in KNOWN[alarm["Namespace"]], name
        (dimension,) = alarm["Dimensions"]
        assert dimension["Name"] == DIMENSION[alarm["Namespace"]], name


def test_an_alarm_on_our_own_metrics_asks_for_this_stack(alarms, translated):
    ours = [alarm for alarm in alarms.values() if alarm["Namespace"] == NAMESPACE]
    assert {alarm["MetricName"] for alarm in ours} == {"WatermarkLag", "Dead", "AuditRepairs"}
    for alarm in ours:
        assert alarm["Dimensions"][0]["Value"] == {"Ref": "AWS::StackName"}
    for function in of_type(translated, "AWS::Lambda::Function").values():
        variables = function["Environment"]["Variables"]
        assert variables["POWERTOOLS_SERVICE_NAME"] == {"Ref": "AWS::StackName"}


def test_counts_are_summed_and_times_are_not(alarms):
    for name, alarm in alarms.items():
        if alarm["Namespace"] == NAMESPACE:
            counted = Metric(alarm["MetricName"]).unit is Unit.COUNT
            assert alarm["Statistic"] == ("Sum" if counted else "Maximum"), name


def test_silence_is_bad_where_a_tick_should_speak_and_good_elsewhere(alarms):
    breaching = {name for name, alarm in alarms.items() if alarm["TreatMissingData"] == "breaching"}
    assert breaching == {"NoTickAlarm", "WatermarkLagAlarm"}
    rest = {alarm["TreatMissingData"] for name, alarm in alarms.items() if name not in breaching}
    assert rest == {"notBreaching"}


def test_every_alarm_tells_who_is_to_be_told_and_only_then(alarms, template):
    told = {"Fn::If": ["HasAlarmEmail", [{"Ref": "AlarmTopic"}], {"Ref": "AWS::NoValue"}]}
    for name, alarm in alarms.items():
        assert alarm["AlarmActions"] == told, name
        assert alarm["OKActions"] == told, name
    for name in ("AlarmTopic", "AlarmTopicPolicy", "AlarmKey"):
        assert template["Resources"][name]["Condition"] == "HasAlarmEmail"
    assert template["Parameters"]["AlarmEmail"]["Default"] == ""


@pytest.mark.parametrize("name", ["Dispatcher", "Worker", "Auditor"])
def test_the_errors_of_what_nobody_waits_for_raise_an_alarm(alarms, name):
    errors = [alarm for alarm in alarms.values() if alarm["MetricName"] == "Errors"]
    assert {"Name": "FunctionName", "Value": {"Ref": f"{name}Function"}} in chain.from_iterable(
        alarm["Dimensions"] for alarm in errors
    )


def test_a_dead_letter_whose_run_is_alive_raises_no_alarm(alarms, template):
    """It waits for the longest time-out of a worker, and the visibility time-outs until it is looked at."""
    longest = max(int(seconds) for seconds in template["Mappings"]["WorkerTimeouts"])
    hidden = template["Resources"]["DeadLetterQueue"]["Properties"]["VisibilityTimeout"]
    assert alarms["DeadLetterAgeAlarm"]["Threshold"] > longest + 30 + hidden


def test_the_topic_is_encrypted_with_a_key_that_alarms_may_use(template):
    (topic,) = of_type(template, "AWS::SNS::Topic").values()
    assert topic["KmsMasterKeyId"] == {"Fn::GetAtt": ["AlarmKey", "Arn"]}
    (key,) = of_type(template, "AWS::KMS::Key").values()
    assert key["EnableKeyRotation"] is True
    grants = {
        json.dumps(statement["Principal"]): statement for statement in key["KeyPolicy"]["Statement"]
    }
    alarms = grants['{"Service": "cloudwatch.amazonaws.com"}']
    assert set(alarms["Action"]) == {"kms:Decrypt", "kms:GenerateDataKey*"}
    assert alarms["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}


def test_the_topic_is_written_to_by_this_accounts_alarms_and_over_tls_alone(template):
    (policy,) = of_type(template, "AWS::SNS::TopicPolicy").values()
    allow, deny = policy["PolicyDocument"]["Statement"]
    assert (allow["Effect"], allow["Principal"]) == (
        "Allow",
        {"Service": "cloudwatch.amazonaws.com"},
    )
    assert allow["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert (deny["Effect"], deny["Principal"]) == ("Deny", "*")
    assert deny["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


# --- the dashboard


def test_every_metric_on_the_dashboard_is_emitted(widgets):
    shown = list(chain.from_iterable(map(measured, widgets)))
    assert len(shown) > 20
    for namespace, metric, dimension, _ in shown:
        assert metric in KNOWN[namespace], metric
        assert dimension == DIMENSION[namespace], metric


def test_every_metric_the_code_emits_is_on_the_dashboard(widgets):
    shown = {metric for widget in widgets for _, metric, _, _ in measured(widget)}
    assert {str(metric) for metric in Metric} <= shown


def test_every_alarm_is_on_the_dashboard(widgets, alarms):
    (shown,) = [widget for widget in widgets if widget["type"] == "alarm"]
    names = [re.fullmatch(r"\$\{(\w+)\.Arn\}", one)[1] for one in shown["properties"]["alarms"]]
    assert sorted(names) == sorted(alarms)


def test_no_two_widgets_lie_over_each_other_and_none_beside_the_page(widgets):
    cells = [
        (x, y)
        for one in widgets
        for x in range(one["x"], one["x"] + one["width"])
        for y in range(one["y"], one["y"] + one["height"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


def test_times_are_not_summed_on_the_dashboard(widgets):
    for widget in widgets:
        for metric, names in zip(
            widget["properties"].get("metrics", ()), measured(widget), strict=True
        ):
            if names[0] == NAMESPACE and Metric(names[1]).unit is not Unit.COUNT:
                own = metric[-1] if isinstance(metric[-1], dict) else {}
                assert own.get("stat", widget["properties"]["stat"]) != "Sum", names


def test_nothing_makes_powertools_log_events_or_payloads(translated):
    for function in of_type(translated, "AWS::Lambda::Function").values():
        variables = set(function["Environment"]["Variables"])
        assert {name for name in variables if name.startswith("POWERTOOLS_")} == {
            "POWERTOOLS_SERVICE_NAME"
        }
    assert translated["Parameters"]["LogPayloads"]["Default"] == "false"


def test_functions_are_traced(translated):
    for function in of_type(translated, "AWS::Lambda::Function").values():
        assert function["TracingConfig"] == {"Mode": "Active"}
