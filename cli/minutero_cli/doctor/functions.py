"""Whether the functions can run, as many at the same time as must."""

from collections.abc import Iterator
from typing import Any

from minutero.service.fan_out import GROUP
from minutero_cli.doctor.deployment import Deployment, Missing
from minutero_cli.doctor.finding import DEPLOY_AGAIN, Finding, failed, ok, warning

FUNCTIONS = ("Api", "Dispatcher", "Worker", "DeadLetter", "Auditor")
TICKED = ("Dispatcher", "Auditor")
"""Called by rules, asynchronously."""

MOST_AGE = 60
"""Seconds after which a tick is stale; by default Lambda would repeat it for six hours."""

OTHERS = 10
"""What the API, the auditor and the dead letters may take beside worker and dispatchers."""

CALLS_PER_POLLER = 10
"""https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-scaling.html"""

RAISE = "ask AWS for a higher quota (Lambda, concurrent executions)"


def function_state(deployment: Deployment) -> Iterator[Finding]:
    """The last deployment of each function has come to its end."""
    for name in FUNCTIONS:
        told = configuration(deployment, name)
        if "Failed" in (told.get("State"), told.get("LastUpdateStatus")):
            why = (
                told.get("StateReason") or told.get("LastUpdateStatusReason") or "no reason is told"
            )
            yield failed(f"{name}Function", f"has failed: {why}", "deploy again")
        else:
            yield ok(f"{name}Function", f"up to {told['Timeout']} s and {told['MemorySize']} MB")


def account_concurrency(deployment: Deployment) -> Iterator[Finding]:
    """The account lets enough functions run at the same time."""
    limits = deployment.ask("lambda", "get_account_settings")["AccountLimit"]
    free, dispatchers = limits["UnreservedConcurrentExecutions"], _dispatchers(deployment)
    needed = dispatchers + OTHERS + (most_workers(deployment) or 0)
    found = (
        f"{free:,} of {limits['ConcurrentExecutions']:,} executions at the same time are free for all, "
        f"and {needed:,} may be wanted"
    )
    if free >= needed:
        yield ok("account", found)
    elif free > dispatchers:
        yield warning("account", found, f"{RAISE}, or lower the worker's MaximumConcurrency")
    else:
        yield failed("account", found, f"ticks are refused when jobs run; {RAISE}")


def reserved_concurrency(deployment: Deployment) -> Iterator[Finding]:
    """No function has less reserved than it needs; where nothing is, it shares with the account."""
    needs = {
        "Dispatcher": _dispatchers(deployment),
        "Worker": most_workers(deployment) or 1,
    }
    for name in FUNCTIONS:
        told = deployment.ask(
            "lambda",
            "get_function_concurrency",
            FunctionName=deployment.outputs[f"{name}FunctionName"],
        )
        reserved, needed = told.get("ReservedConcurrentExecutions"), needs.get(name, 1)
        what = f"{name}Function"
        if reserved is None:
            yield ok(what, "nothing is reserved")
        elif reserved == 0:
            yield failed(what, "0 are reserved: it never runs", "take the reservation away")
        elif reserved < needed:
            yield warning(
                what, f"{reserved} are reserved, and {needed} may be wanted",
                "raise the reservation or take it away: calls are refused beyond it",
            )  # fmt: skip
        else:
            yield ok(what, f"{reserved} are reserved")


def async_invocation(deployment: Deployment) -> Iterator[Finding]:
    """A tick that is late is dropped and never repeated: the next one does its work."""
    for name in TICKED:
        what = f"{name}Function"
        try:
            told = deployment.ask(
                "lambda", "get_function_event_invoke_config",
                FunctionName=deployment.outputs[f"{name}FunctionName"],
            )  # fmt: skip
        except Missing:
            told = {}
        # Without a setting these are Lambda's: https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
        retries, age = (
            told.get("MaximumRetryAttempts", 2),
            told.get("MaximumEventAgeInSeconds", 21_600),
        )
        found = f"is called again {retries} times, {age} s after its time at the latest"
        if retries == 0 and age <= MOST_AGE:
            yield ok(what, found)
        else:
            yield warning(what, found, f"stale ticks pile up after an outage; {DEPLOY_AGAIN}")


def worker_recursion(deployment: Deployment) -> Iterator[Finding]:
    """Lambda lets the worker send messages to the queue it is called from: so a retry is made."""
    told = deployment.ask(
        "lambda",
        "get_function_recursion_config",
        FunctionName=deployment.outputs["WorkerFunctionName"],
    )
    loop = told.get("RecursiveLoop")
    if loop == "Allow":
        yield ok("WorkerFunction", "may send retries to its own queue")
    else:
        yield failed(
            "WorkerFunction", f"RecursiveLoop is {loop}",
            f"Lambda ends a task after 16 retries or early messages; {DEPLOY_AGAIN}",
        )  # fmt: skip


def configuration(deployment: Deployment, name: str) -> dict[str, Any]:
    """What Lambda knows of this function."""
    output = f"{name}FunctionName"
    return deployment.ask(
        "lambda", "get_function_configuration", FunctionName=deployment.outputs[output]
    )


def most_workers(deployment: Deployment) -> int | None:
    """How many workers the queue calls at the same time; None where nothing limits it."""
    found = [most for one in mappings(deployment, "Worker") if (most := most_at_once(one))]
    return max(found, default=None)


def most_at_once(mapping: dict[str, Any]) -> int | None:
    """The limit of one polled queue; None where there is none."""
    pollers = (mapping.get("ProvisionedPollerConfig") or {}).get("MaximumPollers")
    if pollers:
        return int(pollers) * CALLS_PER_POLLER
    most = (mapping.get("ScalingConfig") or {}).get("MaximumConcurrency")
    return int(most) if most else None


def mappings(deployment: Deployment, name: str) -> list[dict[str, Any]]:
    """The queues that Lambda polls for a function."""
    told = deployment.ask(
        "lambda",
        "list_event_source_mappings",
        FunctionName=deployment.outputs[f"{name}FunctionName"],
    )
    return list(told["EventSourceMappings"])


def _dispatchers(deployment: Deployment) -> int:
    """How many serve all shards."""
    return -(-deployment.parameter("Shards") // GROUP)
