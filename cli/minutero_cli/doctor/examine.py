"""Every check, each answered within bounded time."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from threading import Thread

from minutero_cli.doctor import (
    alarms,
    backlog,
    clock,
    functions,
    queues,
    relations,
    sources,
    tables,
    versions,
)
from minutero_cli.doctor.deployment import Deployment, Missing, NotChecked
from minutero_cli.doctor.finding import Finding, failed, not_checked

Check = Callable[[Deployment], Iterable[Finding]]

GROUPS: Sequence[Sequence[Check]] = (
    (tables.table_throughput, tables.table_expiry, tables.table_recovery, tables.table_protection),
    (queues.queue_retention, queues.queue_visibility, queues.queue_redrive),
    (
        functions.function_state,
        functions.account_concurrency,
        functions.reserved_concurrency,
        functions.async_invocation,
        functions.worker_recursion,
    ),
    (sources.queue_polling, sources.worker_limit, sources.rules),
    (alarms.alarms_there, alarms.alarm_subscribers, alarms.alarms_off),
    (relations.time_relations, relations.settings, clock.local_clock, versions.deployed_version),
    (backlog.watermark, backlog.dead_letters, relations.shards, versions.time_zones),
)
"""Groups go side by side; the checks of one ask the same services, one after the other."""

MADE_UP = (
    tables.table_expiry,
    tables.table_recovery,
    functions.account_concurrency,
    functions.reserved_concurrency,
    functions.async_invocation,
    functions.worker_recursion,
    alarms.alarms_off,
)
"""Where the local emulator passes over what the template says, or makes its answer up."""

EMULATED = "the local emulator tells nothing true of it"

SECONDS = 60.0
"""How long all of it may take. A question that gets no answer takes some 15 seconds."""


@dataclass(frozen=True, slots=True)
class Examined:
    """A check, by its name, and what it has found so far."""

    check: str
    findings: list[Finding] = field(default_factory=list)


def examine(
    deployment: Deployment,
    groups: Sequence[Sequence[Check]] = GROUPS,
    seconds: float = SECONDS,
) -> list[Examined]:
    """Run every check, and tell what was found in their order. No check keeps another from its turn."""
    examined = [[Examined(_name(check)) for check in checks] for checks in groups]
    threads = [
        # Whoever still waits for an answer at the end does not keep the process.
        Thread(target=_run_group, args=(deployment, checks, slots), daemon=True)
        for checks, slots in zip(groups, examined, strict=True)
    ]
    for thread in threads:
        thread.start()
    deadline = time.monotonic() + seconds
    for thread in threads:
        thread.join(max(0.0, deadline - time.monotonic()))
    told = [one for slots in examined for one in slots]
    return [
        Examined(
            one.check, list(one.findings) or [not_checked("", f"no answer within {seconds:.0f} s")]
        )
        for one in told
    ]


def _run_group(deployment: Deployment, checks: Sequence[Check], slots: list[Examined]) -> None:
    for check, slot in zip(checks, slots, strict=True):
        if deployment.emulated and check in MADE_UP:
            slot.findings.append(not_checked("", EMULATED))
            continue
        try:
            for finding in check(deployment):
                slot.findings.append(finding)
        except NotChecked as why:
            slot.findings.append(not_checked("", str(why)))
        except Missing as gone:
            slot.findings.append(failed(str(gone), "is not there", "deploy again"))
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            told = f"the answer is not as expected ({type(error).__name__}: {error})"
            slot.findings.append(not_checked("", told))


def _name(check: Check) -> str:
    """table_throughput -> `table throughput`."""
    return str(getattr(check, "__name__", check)).replace("_", " ")
