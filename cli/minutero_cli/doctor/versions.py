"""Whether what is deployed is of this version, and knows today's time zones."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version

from minutero.domain.instants import SECOND
from minutero.domain.zones import ZONES_VERSION
from minutero_cli.doctor.deployment import Deployment, NotChecked
from minutero_cli.doctor.finding import Finding, ok, warning
from minutero_cli.times import now

IANA = re.compile(r"(\d{4})([a-z]+)")
MIDSUMMER = 7
"""A version tells its year and no day. It is taken for a year old from July of the next year on."""


def deployed_version(deployment: Deployment) -> Iterator[Finding]:
    """The stack and this command are of one version."""
    ours, deployed = version("minutero"), deployment.outputs.get("Version")
    if deployed is None:
        raise NotChecked("the stack has no output Version; it is older than that output")
    if deployed == ours:
        yield ok("stack", f"is version {deployed}, as this command")
    else:
        yield warning(
            "stack", f"is version {deployed}, and this command is {ours}",
            "use the command of the same version, or deploy; see docs/upgrading.md",
        )  # fmt: skip


def time_zones(deployment: Deployment) -> Iterator[Finding]:
    """The time zones of the deployment are this checkout's, and not a year old."""
    deployed = str(deployment.get("/stats").get("tzdata") or "")
    yield zones_finding(deployed, ZONES_VERSION, now())


def zones_finding(deployed: str, ours: str, at: int) -> Finding:
    """`deployed` and `ours` are IANA's versions, `2026f`; `at` is now."""
    match = IANA.fullmatch(deployed)
    if match is None:
        raise NotChecked(f"the API tells no version of the time zones, but {deployed!r}")
    today = datetime.fromtimestamp(at / SECOND, UTC)
    found = f"are those of {deployed}"
    if (today.year, today.month) >= (int(match[1]) + 1, MIDSUMMER):
        advice = "raise tzdata in layers/dependencies/requirements.txt and requirements/dev.txt, and deploy"
        return warning("time zones", f"{found}, older than a year", advice)
    if deployed < ours:
        return warning(
            "time zones", f"{found}, and this checkout has {ours}", "deploy: make deploy"
        )
    return ok("time zones", found)
