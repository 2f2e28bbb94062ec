"""Whether each function is called by what should call it."""

from collections.abc import Iterator
from typing import Any

from minutero_cli.doctor.deployment import Deployment, Missing
from minutero_cli.doctor.finding import DEPLOY_AGAIN, Finding, failed, ok, warning
from minutero_cli.doctor.functions import MOST_AGE, configuration, mappings, most_at_once

POLLED = {"Worker": "TasksQueue", "DeadLetter": "DeadLetterQueue"}
BATCH = 10
PARTLY = "ReportBatchItemFailures"

RULES = {
    "DispatcherFunctionTick": ("Dispatcher", "rate(1 minute)"),
    "AuditorFunctionAudit": ("Auditor", "rate(5 minutes)"),
}
"""Logical name of a rule -> the function it calls, and when."""


def queue_polling(deployment: Deployment) -> Iterator[Finding]:
    """Lambda polls each queue for its function, and reads which messages of a batch have failed."""
    for name, queue in POLLED.items():
        told = deployment.ask(
            "sqs", "get_queue_attributes",
            QueueUrl=deployment.outputs[f"{queue}Url"], AttributeNames=["All"],
        )  # fmt: skip
        arn = told["Attributes"]["QueueArn"]
        ours = [one for one in mappings(deployment, name) if one.get("EventSourceArn") == arn]
        if not ours:
            yield failed(f"{name}Function", f"nobody polls {queue} for it", DEPLOY_AGAIN)
        for mapping in ours:
            yield from _polling(f"{name}Function", queue, mapping)


def _polling(what: str, queue: str, mapping: dict[str, Any]) -> Iterator[Finding]:
    state, batch = mapping.get("State"), mapping.get("BatchSize", 0)
    if state not in ("Enabled", "Enabling", "Creating", "Updating"):
        yield failed(
            what, f"polling {queue} is {state}",
            "no message is taken; "
            f"aws lambda update-event-source-mapping --enabled --uuid {mapping.get('UUID')}",
        )  # fmt: skip
    if PARTLY not in (mapping.get("FunctionResponseTypes") or ()):
        yield failed(
            what, f"polls {queue} without {PARTLY}", f"failed messages are lost; {DEPLOY_AGAIN}"
        )
    elif batch > BATCH:
        yield warning(
            what, f"takes {batch} messages of {queue} at once",
            f"its time-out is meant for {BATCH}; set BatchSize to {BATCH}",
        )  # fmt: skip
    else:
        yield ok(
            what, f"takes up to {batch} messages of {queue} at once, and tells which have failed"
        )


def worker_limit(deployment: Deployment) -> Iterator[Finding]:
    """The worker leaves the rest of the account some concurrency."""
    for mapping in mappings(deployment, "Worker"):
        most = most_at_once(mapping)
        if most:
            yield ok("WorkerFunction", f"runs at most {most} at the same time")
        else:
            yield warning(
                "WorkerFunction", "nothing limits how many run at the same time",
                f"a burst takes all the account has, the ticks' too; {DEPLOY_AGAIN}",
            )  # fmt: skip


def rules(deployment: Deployment) -> Iterator[Finding]:
    """EventBridge calls the dispatcher each minute, and the auditor each five."""
    there = deployment.resources("AWS::Events::Rule")
    for rule, (name, when) in RULES.items():
        try:
            told = deployment.ask("events", "describe_rule", Name=there[rule])
            targets = deployment.ask("events", "list_targets_by_rule", Rule=there[rule])["Targets"]
        except (KeyError, Missing):
            yield failed(rule, "is not there", f"nobody calls the {name.lower()}; deploy again")
            continue
        arn = configuration(deployment, name)["FunctionArn"]
        ours = [one for one in targets if one["Arn"].startswith(arn)]
        yield _rule(rule, told, ours, when)


def _rule(rule: str, told: dict[str, Any], ours: list[dict[str, Any]], when: str) -> Finding:
    expression = told.get("ScheduleExpression")
    if told.get("State") != "ENABLED":
        return failed(
            rule, f"is {told.get('State')}",
            f"nothing that is due later is sent; aws events enable-rule --name {told.get('Name')}",
        )  # fmt: skip
    if not ours:
        return failed(rule, "does not call its function", DEPLOY_AGAIN)
    if expression != when:
        return failed(rule, f"fires at {expression}, not at {when}", DEPLOY_AGAIN)
    # EventBridge's own retries go on for a day by default.
    age = (ours[0].get("RetryPolicy") or {}).get("MaximumEventAgeInSeconds", 86_400)
    if age > MOST_AGE:
        return warning(
            rule, f"repeats a call for {age:,} s", f"stale ticks pile up; {DEPLOY_AGAIN}"
        )
    return ok(rule, f"is enabled, at {when}")
