"""Whether the times and settings that are deployed fit one another."""

from collections.abc import Iterator

from minutero.domain.instants import DAY, MINUTE, SECOND
from minutero.domain.timing import Timing
from minutero.errors import SettingsError
from minutero_cli.doctor.deployment import Deployment
from minutero_cli.doctor.finding import DEPLOY_AGAIN, Finding, failed, ok, warning
from minutero_cli.doctor.functions import FUNCTIONS, configuration

SETTINGS = {
    "MINUTERO_SHARDS": "Shards",
    "MINUTERO_LOOK_AHEAD_MINUTES": "LookAheadMinutes",
    "MINUTERO_WORKER_TIMEOUT_SECONDS": "WorkerTimeout",
    "MINUTERO_RETENTION_DAYS": "RetentionDays",
}
"""A function's variable -> the parameter of the template that it follows."""


def time_relations(deployment: Deployment) -> Iterator[Finding]:
    """The rules of the protocol hold for the time-outs that are deployed."""
    dispatcher = configuration(deployment, "Dispatcher")["Timeout"]
    worker = configuration(deployment, "Worker")["Timeout"]
    try:
        timing = Timing(
            look_ahead=deployment.parameter("LookAheadMinutes") * MINUTE,
            dispatcher_timeout=dispatcher * SECOND,
            worker_timeout=worker * SECOND,
            retention=deployment.parameter("RetentionDays") * DAY,
        )
    except SettingsError as error:
        yield failed("times", str(error), DEPLOY_AGAIN)
        return
    yield ok(
        "times",
        f"time-out of the dispatcher {dispatcher} s < lease of a shard {timing.shard_lease // SECOND} s, "
        f"look-ahead {timing.look_ahead // MINUTE} min, worker {worker} s",
    )


def settings(deployment: Deployment) -> Iterator[Finding]:
    """Each function has the settings that the stack's parameters name."""
    for name in FUNCTIONS:
        told = configuration(deployment, name)
        variables = told.get("Environment", {}).get("Variables", {})
        pairs = {
            variable: (variables.get(variable), deployment.parameters.get(parameter))
            for variable, parameter in SETTINGS.items()
        }
        if name == "Worker":
            pairs["its time-out"] = str(told["Timeout"]), deployment.parameters.get("WorkerTimeout")
        other = [
            f"{one} is {is_}, not {wanted}" for one, (is_, wanted) in pairs.items() if is_ != wanted
        ]
        what = f"{name}Function"
        if other:
            yield failed(what, "; ".join(other), DEPLOY_AGAIN)
        else:
            yield ok(what, "has the settings of the stack's parameters")


def shards(deployment: Deployment) -> Iterator[Finding]:
    """The shards in force are those of the parameter."""
    wanted, there = deployment.parameter("Shards"), int(deployment.get("/stats")["shards"])
    found = f"{there} are in force, and the parameter says {wanted}"
    if there == wanted:
        yield ok("shards", f"{there} are in force")
    elif there < wanted:
        yield warning(
            "shards", found, "the next tick raises them; if not, see no-tick in docs/operations.md"
        )
    else:
        yield warning("shards", found, f"shards are never taken away; set Shards to {there}")
