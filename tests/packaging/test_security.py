"""Who may do what by the template: no more than it says, and nothing in the clear."""

import json
import re

import pytest
from permissions import NOT_PROVED, PAGE, grants, managed_policies, page
from translation import of_type

LOOKS_SECRET = re.compile(r"SECRET|TOKEN|PASSWORD|CREDENTIAL|_KEY|PRIVATE", re.IGNORECASE)
RESOURCE_POLICIES = {
    "AWS::SQS::QueuePolicy": "PolicyDocument",
    "AWS::SNS::TopicPolicy": "PolicyDocument",
    "AWS::KMS::Key": "KeyPolicy",
}


def resource_policies(template):
    """(name, statement) of every policy that a resource itself has."""
    for kind, document in RESOURCE_POLICIES.items():
        for name, properties in of_type(template, kind).items():
            for statement in properties[document]["Statement"]:
                yield name, statement


def test_every_grant_has_its_reason_behind_it():
    assert grants()
    assert not [str(grant) for grant in grants() if not grant.why]


def test_the_grants_are_those_of_the_translated_template(translated):
    found = {
        (role, number, action)
        for role, properties in of_type(translated, "AWS::IAM::Role").items()
        for policy in properties["Policies"]
        for number, statement in enumerate(policy["PolicyDocument"]["Statement"])
        for action in [statement["Action"]]
        for action in ([action] if isinstance(action, str) else action)
    }
    read = [(grant.role, grant.statement, grant.action) for grant in grants()]
    assert set(read) == found
    assert len(read) == len(found)


def test_what_is_not_proved_is_granted():
    assert set(NOT_PROVED) <= {str(grant) for grant in grants()}


def test_the_page_is_that_of_the_template():
    """Make it anew: .venv/bin/python -m tests.permissions."""
    text = PAGE.read_text("utf-8")
    assert page(text) == text


def test_every_function_has_a_role_of_its_own_that_lambda_alone_takes(translated):
    functions = of_type(translated, "AWS::Lambda::Function").values()
    roles = [function["Role"]["Fn::GetAtt"][0] for function in functions]
    assert len(set(roles)) == len(roles)
    for role in roles:
        trust = of_type(translated, "AWS::IAM::Role")[role]["AssumeRolePolicyDocument"]
        assert re.findall(r"[a-z]+\.amazonaws\.com", json.dumps(trust)) == ["lambda.amazonaws.com"]


def test_a_role_has_no_policies_of_aws_but_those_for_logs_and_traces(translated):
    """SAM adds one that opens every queue of the account to a function with an SQS event."""
    for name, role in of_type(translated, "AWS::IAM::Role").items():
        managed = {"AWSLambdaBasicExecutionRole", "AWSXrayWriteOnlyAccess"}
        assert managed_policies(role) == managed, name


def test_nobody_is_let_in_who_is_not_named(translated):
    for name, statement in resource_policies(translated):
        if statement["Effect"] == "Allow":
            assert "*" not in json.dumps(statement["Principal"]), name
    for name, permission in of_type(translated, "AWS::Lambda::Permission").items():
        assert permission["Principal"].endswith(".amazonaws.com"), name
        assert permission["SourceArn"], name


@pytest.mark.parametrize("kind", ["AWS::SQS::Queue", "AWS::SNS::Topic"])
def test_queues_and_topics_refuse_everybody_without_tls(translated, kind):
    refusing = {
        ref
        for _, statement in resource_policies(translated)
        if statement["Effect"] == "Deny"
        and statement["Principal"] == "*"
        and statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
        for ref in re.findall(r"\w+(?:Queue|Topic)\b", json.dumps(statement["Resource"]))
    }
    assert set(of_type(translated, kind)) <= refusing


def test_the_policies_of_the_queues_are_left_out_on_the_local_stack_alone(translated):
    for name in of_type(translated, "AWS::SQS::QueuePolicy"):
        assert translated["Resources"][name]["Condition"] == "IsOnAws"
    local = {"Fn::Equals": [{"Ref": "LocalStack"}, "true"]}
    assert translated["Conditions"]["IsLocal"] == local
    assert translated["Conditions"]["IsOnAws"] == {"Fn::Not": [local]}


def test_tables_queues_and_topics_are_encrypted(translated):
    for name, table in of_type(translated, "AWS::DynamoDB::Table").items():
        assert table["SSESpecification"] == {"SSEEnabled": True}, name
    for name, queue in of_type(translated, "AWS::SQS::Queue").items():
        assert queue["SqsManagedSseEnabled"] is True, name
    for name, topic in of_type(translated, "AWS::SNS::Topic").items():
        assert topic["KmsMasterKeyId"], name


def test_no_variable_and_no_parameter_holds_a_secret(translated):
    names = set(translated["Parameters"])
    for function in of_type(translated, "AWS::Lambda::Function").values():
        names |= set(function["Environment"]["Variables"])
    assert not [name for name in names if LOOKS_SECRET.search(name)]
    assert not re.search(r"A[KS]IA[A-Z0-9]{16}|-----BEGIN", json.dumps(translated, default=str))
