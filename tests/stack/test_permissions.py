"""What the deployed functions may do."""

from fnmatch import fnmatchcase

import pytest

OURS = "minutero"
AWS_MANAGED = {"AWSLambdaBasicExecutionRole", "AWSXrayWriteOnlyAccess", "AWSXRayDaemonWriteAccess"}


@pytest.fixture(scope="module")
def roles(stack):
    """Role -> (allowed actions, names of attached managed policies)."""
    iam = stack.client("iam")
    found = stack.client("cloudformation").list_stack_resources(
        StackName=stack.local.running().stack
    )
    names = [
        resource["PhysicalResourceId"]
        for resource in found["StackResourceSummaries"]
        if resource["ResourceType"] == "AWS::IAM::Role"
    ]
    return {name: (actions(iam, name), attached(iam, name)) for name in names}


def actions(iam, role):
    allowed = []
    for policy in iam.list_role_policies(RoleName=role)["PolicyNames"]:
        document = iam.get_role_policy(RoleName=role, PolicyName=policy)["PolicyDocument"]
        for statement in document["Statement"]:
            if statement["Effect"] == "Allow":
                named = statement["Action"]
                allowed += [named] if isinstance(named, str) else named
    return allowed


def attached(iam, role):
    found = iam.list_attached_role_policies(RoleName=role)["AttachedPolicies"]
    # MiniStack takes the empty default of WorkerPolicyArns for one policy without a name.
    return {policy["PolicyArn"].rpartition("/")[2] for policy in found if policy["PolicyArn"]}


def test_every_function_has_a_role_of_its_own(roles):
    assert len(roles) == 5
    assert all(allowed for allowed, _ in roles.values())


def test_no_role_may_scan_a_table(roles):
    for role, (allowed, _) in roles.items():
        scanning = [one for one in allowed if fnmatchcase("dynamodb:Scan", one)]
        assert not scanning, f"{role}: {scanning}"


def test_no_role_may_do_all_there_is_of_anything(roles):
    for role, (allowed, policies) in roles.items():
        assert not [one for one in allowed if "*" in one], role
        assert policies <= AWS_MANAGED, role
