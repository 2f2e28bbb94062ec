"""The audit: a slow second look at settled buckets. What it repairs should never have happened."""

from dataclasses import asdict
from typing import Any

from minutero import wiring
from minutero.aws.json_lines import function_logger
from minutero.observed import observed
from minutero.service.counts import count_audit

logger = function_logger()

MARGIN_MS = 10_000


@observed()
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Any event serves: the audit goes on where the last one stopped."""
    audit = wiring.auditor()
    deadline = audit.clock.now() + context.get_remaining_time_in_millis() - MARGIN_MS
    report = audit.audit(deadline)
    count_audit(wiring.METER, report)
    told = asdict(report)
    if report.repairs:
        logger.error("audit repaired tasks", extra={"audit": told})
    else:
        logger.info("audit", extra={"audit": told})
    return told
