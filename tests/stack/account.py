"""The template without its code, on a MiniStack of its own that asks every caller for permission.

Nothing runs by itself in it: the tests call the services, with the keys of a function's role.
"""

import json
import re
import secrets
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import botocore.session
from permissions import Grant
from translation import translated

from minutero.aws.deployed_stack import find_stack
from minutero_cli.local import server
from minutero_cli.local.state import State

REGION = "us-east-1"
STACK = "trial"
PARTS = (
    "AWS::ApiGatewayV2::",
    "AWS::DynamoDB::",
    "AWS::IAM::",
    "AWS::Lambda::Function",
    "AWS::SQS::",
)
NO_CODE = "def handler(event, context):\n    return {'statusCode': 200, 'body': '{}'}\n"

OTHERS = {"aws-call", "http-post", "leaderboard", "local-stack"}
"""Policies behind a parameter of their own; a grant counts the statements of the role's one other policy."""

STAND_INS = {
    "dynamodb:PartiQLUpdate": "dynamodb:BatchExecuteStatement",
    "sqs:SendMessage": "sqs:SendMessageBatch",
    "sqs:DeleteMessage": "sqs:DeleteMessageBatch",
}
"""AWS's actions, and the made-up ones that the emulator asks for where they come in batches. Sources:
https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/ql-iam.html
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html"""


class Denied(Exception):
    """A request was refused for want of a permission."""

    def __init__(self, action: str, resource: str) -> None:
        super().__init__(f"{action} on {resource}")
        self.action = action
        self.resource = resource


def _raise_denied(parsed: Mapping[str, Any], **_: Any) -> None:
    """After each request, so that no service makes light of a refusal."""
    told = parsed.get("Error", {}).get("Message", "")
    found = re.search(r"not authorized to perform: (\S+)(?: on resource: (\S+))?", told)
    if found:
        raise Denied(found[1], found[2] or "*")


def without_code(*kinds: str) -> dict[str, Any]:
    """The translated template's resources of these types; its functions do nothing."""
    template = translated()
    resources = {
        name: one for name, one in template["Resources"].items() if one["Type"].startswith(kinds)
    }
    for one in resources.values():
        if one["Type"] == "AWS::Lambda::Function":
            properties = one["Properties"]
            properties |= {"Code": {"ZipFile": NO_CODE}, "Handler": "index.handler"}
            del properties["Layers"], properties["LoggingConfig"]
    return {**template, "Transform": "AWS::LanguageExtensions", "Resources": resources}


@contextmanager
def account(home: Path) -> Iterator["Account"]:
    """A MiniStack with the stack in it."""
    with warnings.catch_warnings():
        # The starter lets go of its process on purpose: a command ends before its stack does.
        warnings.simplefilter("ignore", ResourceWarning)
        state = server.start(home, server.free_port(), auth=True, persist=None)
    try:
        yield Account(state)
    finally:
        server.stop(state)


class Session(botocore.session.Session):
    """Opens one client of each service: opening one takes a tenth of a second."""

    def __init__(self, key: str, secret: str, token: str | None = None) -> None:
        super().__init__()
        self.keys = (key, secret, token)
        self.set_credentials(*self.keys)
        self._clients: dict[str, Any] = {}

    def create_client(self, service_name: str, *arguments: Any, **options: Any) -> Any:
        if service_name not in self._clients:
            made = super().create_client(service_name, *arguments, **options)
            self._clients[service_name] = made
        return self._clients[service_name]


class Account:
    """`owner` is a session of the account's owner, who may do everything."""

    def __init__(self, state: State) -> None:
        self.endpoint = state.endpoint_url
        keys = state.environment
        self.owner = Session(keys["AWS_ACCESS_KEY_ID"], keys["AWS_SECRET_ACCESS_KEY"])
        self.create(STACK, without_code(*PARTS), LocalStack="true")
        stack = find_stack(STACK, self.owner, REGION, self.endpoint)
        self.api_url = replace(state, outputs=dict(stack.outputs)).api_url
        self.environment = {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_DEFAULT_REGION": REGION,
            **stack.environment(),
        }
        summaries = self.client("cloudformation").list_stack_resources(StackName=STACK)
        self._physical = {
            one["LogicalResourceId"]: one["PhysicalResourceId"]
            for one in summaries["StackResourceSummaries"]
        }
        self._sessions: dict[str, Session] = {}

    def client(self, service: str) -> Any:
        """A client of the account's owner."""
        return self.owner.create_client(service, REGION, endpoint_url=self.endpoint)

    def create(self, name: str, template: Mapping[str, Any], **parameters: str) -> None:
        """A stack, with parameters for what shall not be kept."""
        chosen = {"RetainData": "false", "Shards": "9", **parameters}
        cloudformation = self.client("cloudformation")
        cloudformation.create_stack(
            StackName=name,
            TemplateBody=json.dumps(template),
            Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
            Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in chosen.items()],
        )
        waiter = cloudformation.get_waiter("stack_create_complete")
        waiter.wait(StackName=name, WaiterConfig={"Delay": 1})

    def of_role(self, logical: str) -> Session:
        """A session with the rights of one of the template's roles, now and as they change."""
        if logical not in self._sessions:
            self._sessions[logical] = self._assume(self._physical[logical])
        return self._sessions[logical]

    def of_caller(self, *statements: Mapping[str, Any]) -> Session:
        """A session of somebody who may do this and nothing else."""
        iam, name = self.client("iam"), f"caller-{secrets.token_hex(4)}"
        iam.create_role(RoleName=name, AssumeRolePolicyDocument=json.dumps(self._trust()))
        self._put(name, "all", {"Version": "2012-10-17", "Statement": statements})
        return self._assume(name)

    def _assume(self, role: str) -> Session:
        iam = self.client("iam")
        iam.update_assume_role_policy(RoleName=role, PolicyDocument=json.dumps(self._trust()))
        arn = iam.get_role(RoleName=role)["Role"]["Arn"]
        keys = self.client("sts").assume_role(RoleArn=arn, RoleSessionName="trial")["Credentials"]
        session = Session(keys["AccessKeyId"], keys["SecretAccessKey"], keys["SessionToken"])
        session.register("after-call", _raise_denied)
        return session

    def _trust(self) -> dict[str, Any]:
        """Lets the account's owner take a role."""
        arn = self.client("sts").get_caller_identity()["Arn"]
        allowed = {"Effect": "Allow", "Principal": {"AWS": arn}, "Action": "sts:AssumeRole"}
        return {"Version": "2012-10-17", "Statement": [allowed]}

    @contextmanager
    def without(self, grant: Grant) -> Iterator[str]:
        """Takes a grant away for a while, and its stand-in; gives the ARN it was for."""
        iam, role = self.client("iam"), self._physical[grant.role]
        names = iam.list_role_policies(RoleName=role)["PolicyNames"]
        before = {
            name: iam.get_role_policy(RoleName=role, PolicyName=name)["PolicyDocument"]
            for name in names
        }
        (ours,) = before.keys() - OTHERS
        statement = before[ours]["Statement"][grant.statement]
        resource = statement["Resource"]
        assert grant.action in statement["Action"]
        stand_in = STAND_INS.get(grant.action)
        taken = {(grant.action, resource), (stand_in, resource), (stand_in, "*")}
        try:
            for name, document in before.items():
                self._put(role, name, _less(document, taken))
            yield resource
        finally:
            for name, document in before.items():
                self._put(role, name, document)

    def _put(self, role: str, name: str, document: Mapping[str, Any]) -> None:
        self.client("iam").put_role_policy(
            RoleName=role, PolicyName=name, PolicyDocument=json.dumps(document)
        )

    def empty(self) -> None:
        """Empties the tables."""
        dynamodb = self.client("dynamodb")
        keys_of = {
            "TasksTable": ("bucket", "sk"),
            "SchedulesTable": ("partition", "name"),
            "CursorsTable": ("shard",),
            "RunsTable": ("id",),
        }
        for name, keys in keys_of.items():
            table = self._physical[name]
            for item in dynamodb.scan(TableName=table)["Items"]:
                dynamodb.delete_item(TableName=table, Key={key: item[key] for key in keys})


def _less(document: Mapping[str, Any], taken: set[tuple[Any, str]]) -> dict[str, Any]:
    """The policy without these actions on these resources."""
    statements = []
    for one in document["Statement"]:
        actions = [one["Action"]] if isinstance(one["Action"], str) else one["Action"]
        left = [action for action in actions if (action, one["Resource"]) not in taken]
        statements += [{**one, "Action": left}] if left else []
    return {**document, "Statement": statements}
