"""Whether the tables are as the template has them."""

from collections.abc import Iterator
from typing import Any

from minutero_cli.doctor.deployment import Deployment
from minutero_cli.doctor.finding import DEPLOY_AGAIN, Finding, failed, ok, warning

EXPIRES = {
    "TasksTableName": "expires_at",
    "SchedulesTableName": "expires_at",
    "RunsTableName": "expiration",
    "CursorsTableName": "",
}
"""Output -> the attribute by which rows expire; cursors never do."""

READY = ("ACTIVE", "UPDATING")
SCALED = "dynamodb:table:WriteCapacityUnits"
UNITS_PER_TASK = 2
"""Write units of one small task in the table of tasks, and as many in that of runs."""


def table_throughput(deployment: Deployment) -> Iterator[Finding]:
    """On demand without a limit, or enough of what was provisioned."""
    for what, name in _tables(deployment):
        table = deployment.ask("dynamodb", "describe_table", TableName=name)["Table"]
        if table["TableStatus"] not in READY:
            yield failed(
                what,
                f"is {table['TableStatus']}",
                "wait until it is ACTIVE; look into CloudFormation",
            )
        elif table.get("BillingModeSummary", {}).get("BillingMode") == "PAY_PER_REQUEST":
            yield _on_demand(what, table)
        else:
            yield _provisioned(deployment, what, table)


def _on_demand(what: str, table: dict[str, Any]) -> Finding:
    limits = table.get("OnDemandThroughput") or {}
    most = [limits.get(f"Max{kind}RequestUnits", -1) for kind in ("Write", "Read")]
    if all(one < 0 for one in most):
        return ok(what, "on demand")
    told = " and ".join(
        f"{one:,} {kind} units"
        for one, kind in zip(most, ("write", "read"), strict=True)
        if one >= 0
    )
    return warning(
        what, f"on demand, but at most {told} a second",
        f"a small task takes {UNITS_PER_TASK} write units here; lift OnDemandThroughput if peaks are higher",
    )  # fmt: skip


def _provisioned(deployment: Deployment, what: str, table: dict[str, Any]) -> Finding:
    write = table["ProvisionedThroughput"]["WriteCapacityUnits"]
    targets = deployment.ask(
        "application-autoscaling", "describe_scalable_targets",
        ServiceNamespace="dynamodb",
        ResourceIds=[f"table/{table['TableName']}"],
        ScalableDimension=SCALED,
    )["ScalableTargets"]  # fmt: skip
    if targets:
        least, most = targets[0]["MinCapacity"], targets[0]["MaxCapacity"]
        return ok(
            what, f"grows from {least:,} to {most:,} write units a second, "
            f"which is {most // UNITS_PER_TASK:,} small tasks a second",
        )  # fmt: skip
    return warning(
        what, f"{write:,} write units a second, without auto-scaling",
        f"it takes {write // UNITS_PER_TASK:,} small tasks a second; set it to PAY_PER_REQUEST, "
        "as template.yaml does, or give it auto-scaling",
    )  # fmt: skip


def table_expiry(deployment: Deployment) -> Iterator[Finding]:
    """What is over expires, or the tables grow for ever."""
    for what, name in _tables(deployment):
        told = deployment.ask("dynamodb", "describe_time_to_live", TableName=name)
        told = told["TimeToLiveDescription"]
        on = told.get("TimeToLiveStatus") in ("ENABLED", "ENABLING")
        attribute = told.get("AttributeName", "") if on else ""
        wanted = EXPIRES[what + "Name"]
        if attribute == wanted:
            yield ok(what, f"rows expire by {wanted}" if wanted else "rows do not expire")
        elif wanted:
            found = (
                f"rows expire by {attribute!r}, not by {wanted!r}"
                if attribute
                else "rows never expire"
            )
            yield warning(
                what, found, f"the table grows for ever; switch time to live on for {wanted!r}"
            )
        else:
            yield failed(
                what,
                f"rows expire by {attribute!r}",
                "switch time to live off: watermarks get lost",
            )


def table_recovery(deployment: Deployment) -> Iterator[Finding]:
    """Point-in-time recovery, where the data are to be kept."""
    for what, name in _tables(deployment):
        told = deployment.ask("dynamodb", "describe_continuous_backups", TableName=name)
        recovery = told["ContinuousBackupsDescription"].get("PointInTimeRecoveryDescription", {})
        on = recovery.get("PointInTimeRecoveryStatus") == "ENABLED"
        yield _kept(deployment, what, "point-in-time recovery", on=on)


def table_protection(deployment: Deployment) -> Iterator[Finding]:
    """Nobody deletes a table by a slip, where the data are to be kept."""
    for what, name in _tables(deployment):
        table = deployment.ask("dynamodb", "describe_table", TableName=name)["Table"]
        on = bool(table.get("DeletionProtectionEnabled"))
        yield _kept(deployment, what, "deletion protection", on=on)


def _kept(deployment: Deployment, what: str, feature: str, *, on: bool) -> Finding:
    if on:
        return ok(what, f"{feature} is on")
    if deployment.parameters.get("RetainData") == "false":
        return ok(what, f"{feature} is off, as RetainData=false has it")
    return warning(what, f"{feature} is off", DEPLOY_AGAIN)


def _tables(deployment: Deployment) -> Iterator[tuple[str, str]]:
    for output in EXPIRES:
        yield output.removesuffix("Name"), deployment.outputs[output]
