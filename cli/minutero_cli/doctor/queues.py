"""Whether the queues keep what they are given, and give it back in time."""

import json
from collections.abc import Iterator

from minutero_cli.doctor.deployment import Deployment
from minutero_cli.doctor.finding import DEPLOY_AGAIN, Finding, failed, ok, warning

SERVED_BY = {
    "TasksQueueUrl": "WorkerFunctionName",
    "DeadLetterQueueUrl": "DeadLetterFunctionName",
}
FORTNIGHT = 14 * 86_400
"""Seconds. The longest that SQS keeps a message."""

ROOM = 6
"""AWS advises a visibility time-out of six times the function's:
https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html"""

MOST_RECEIVES = 20


def queue_retention(deployment: Deployment) -> Iterator[Finding]:
    """Both queues keep a message for 14 days: a long outage loses none."""
    for what, attributes in _queues(deployment):
        kept = int(attributes["MessageRetentionPeriod"])
        found = f"keeps a message for {kept / 86_400:.3g} days"
        if kept >= FORTNIGHT:
            yield ok(what, found)
        else:
            yield failed(
                what, found, f"an outage that is longer loses tasks; set it to {FORTNIGHT} seconds"
            )


def queue_visibility(deployment: Deployment) -> Iterator[Finding]:
    """A message does not come back while its function still works on it."""
    for what, attributes in _queues(deployment):
        name = deployment.outputs[SERVED_BY[what + "Url"]]
        function = deployment.ask("lambda", "get_function_configuration", FunctionName=name)
        hidden, timeout = int(attributes["VisibilityTimeout"]), function["Timeout"]
        found = f"hides a message for {hidden} s, and its function may take {timeout} s"
        if hidden >= ROOM * timeout:
            yield ok(what, found)
        elif hidden >= timeout:
            yield warning(
                what, found, f"AWS advises {ROOM} times as long, which is {ROOM * timeout} s"
            )
        else:
            yield failed(
                what,
                found,
                f"messages come twice; set the visibility time-out to {ROOM * timeout} s",
            )


def queue_redrive(deployment: Deployment) -> Iterator[Finding]:
    """What kills its worker again and again comes to the dead-letter queue."""
    queues = dict(_queues(deployment))
    policy = json.loads(queues["TasksQueue"].get("RedrivePolicy") or "{}")
    target, receives = policy.get("deadLetterTargetArn"), int(policy.get("maxReceiveCount", 0))
    if not policy:
        yield failed("TasksQueue", "has no dead-letter queue", DEPLOY_AGAIN)
    elif target != queues["DeadLetterQueue"]["QueueArn"]:
        yield failed("TasksQueue", f"sends its dead letters to {target}", DEPLOY_AGAIN)
    elif receives < MOST_RECEIVES:
        yield warning(
            "TasksQueue", f"gives a message up after {receives} receives",
            f"throttling alone may kill tasks; set maxReceiveCount to {MOST_RECEIVES}",
        )  # fmt: skip
    else:
        yield ok(
            "TasksQueue", f"gives a message up after {receives} receives, to the dead-letter queue"
        )


def _queues(deployment: Deployment) -> Iterator[tuple[str, dict[str, str]]]:
    for output in SERVED_BY:
        url = deployment.outputs[output]
        told = deployment.ask("sqs", "get_queue_attributes", QueueUrl=url, AttributeNames=["All"])
        yield output.removesuffix("Url"), told["Attributes"]
