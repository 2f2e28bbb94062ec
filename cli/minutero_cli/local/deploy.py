"""`sam deploy` of the built template to the local stack."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from minutero_cli.errors import CommandError
from minutero_cli.local.build import last_words, tool_environment
from minutero_cli.local.paths import python_runtime, tool
from minutero_cli.local.state import State

DEPLOY_SECONDS = 300
# The caller's profile and role have no say here.
CALLED_HERE = (
    "events:PutEvents",
    "lambda:InvokeFunction",
    "sns:Publish",
    "sqs:SendMessage",
    "states:StartExecution",
)
"""What aws.call may do on the local stack."""
FOREIGN = ("AWS_PROFILE", "AWS_DEFAULT_PROFILE", "AWS_SESSION_TOKEN", "AWS_ROLE_ARN")


def parameters(*, auth: bool) -> dict[str, str]:
    """Give the template's parameters on the local stack."""
    return {
        "PythonRuntime": python_runtime(),
        "ApiAuth": "AWS_IAM" if auth else "NONE",
        "RetainData": "false",
        "LeaderboardExample": "true",
        "AwsCallActions": ",".join(CALLED_HERE),
        "AwsCallResources": "*",
        "HttpPostKeyParameter": "/minutero/http-post-key",
        "HttpPostInternalAddresses": "true",
        "HttpPostPlainHttp": "true",
        "LocalStack": "true",
    }


def deploy(state: State, built: Path, home: Path, chosen: Mapping[str, str]) -> dict[str, str]:
    """Deploy with these parameters among the rest, and return the stack's outputs."""
    environment = {**tool_environment(), **state.environment, "NO_PROXY": "127.0.0.1,localhost"}
    for name in FOREIGN:
        environment.pop(name, None)
    command = [
        str(tool("sam")), "deploy",
        "--template-file", str(built / "template.yaml"),
        "--config-env", "local",
        "--stack-name", state.stack,
        "--resolve-s3",
        "--capabilities", "CAPABILITY_IAM",
        "--no-confirm-changeset",
        "--no-fail-on-empty-changeset",
        "--no-progressbar",
        "--parameter-overrides",
        *(f"{name}={value}" for name, value in {**parameters(auth=state.auth), **chosen}.items()),
    ]  # fmt: skip
    done = subprocess.run(  # noqa: S603  # our own environment's executable
        command,
        cwd=built,
        env=environment,
        capture_output=True,
        text=True,
        timeout=DEPLOY_SECONDS,
        check=False,
    )
    log = home / "deploy.log"
    log.write_text(done.stdout + done.stderr)
    if done.returncode:
        raise CommandError(f"sam deploy failed: {last_words(done.stderr)} (all of it: {log})")
    return outputs(state)


def outputs(state: State) -> dict[str, str]:
    """Read the outputs of the deployed stack."""
    from minutero_cli.local.clients import client  # noqa: PLC0415  # boto3 is slow to import

    stacks = client(state, "cloudformation").describe_stacks(StackName=state.stack)["Stacks"]
    return {one["OutputKey"]: one["OutputValue"] for one in stacks[0].get("Outputs", [])}
