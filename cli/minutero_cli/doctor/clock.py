"""Whether this machine's clock is right."""

from collections.abc import Iterator
from email.utils import parsedate_to_datetime

from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.timing import Timing
from minutero_cli.doctor.deployment import Deployment, NotChecked
from minutero_cli.doctor.finding import Finding, failed, ok, warning
from minutero_cli.times import now

UNNOTICED = 5 * SECOND
"""Slower answers than this are rare, and no promise depends on it."""


def local_clock(deployment: Deployment) -> Iterator[Finding]:
    """The Date of an answer of AWS falls between question and answer."""
    before = now()
    told = deployment.ask("sts", "get_caller_identity")
    after = now()
    date = told["ResponseMetadata"]["HTTPHeaders"].get("date")
    if not date:
        raise NotChecked("the answer has no Date")
    yield clock_finding(before, after, round(parsedate_to_datetime(date).timestamp() * SECOND))


def clock_finding(before: int, after: int, date: int) -> Finding:
    """`date` has whole seconds; all are milliseconds."""
    ahead, behind = before - (date + SECOND), date - after
    error = max(ahead, behind, 0)
    found = f"{error / SECOND:.1f} s {'ahead of' if ahead > behind else 'behind'} AWS's"
    margin = Timing().client_clock_margin
    if error <= UNNOTICED:
        return ok("this machine", "its clock agrees with AWS's")
    advice = "set it by NTP"
    if error < margin:
        return warning("this machine", found, f"{advice}: times as `--in 90s` are counted from it")
    return failed(
        "this machine", found,
        f"{advice}: the Python client must not be more than {margin // MINUTE} minutes off",
    )  # fmt: skip
