"""The audit: a slow second look at settled buckets. What it repairs should never have happened."""

from dataclasses import asdict
from typing import Any

from aws_lambda_powertools import Logger

from minutero import wiring

logger = Logger()

MARGIN_MS = 10_000


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Any event serves: the audit goes on where the last one stopped."""
    audit = wiring.auditor()
    deadline = audit.clock.now() + context.get_remaining_time_in_millis() - MARGIN_MS
    report = asdict(audit.audit(deadline))
    if report["tally"]["claimed"]:
        logger.error("audit repaired tasks", extra={"audit": report})
    else:
        logger.info("audit", extra={"audit": report})
    return report
