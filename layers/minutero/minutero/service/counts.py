"""What a tick and an audit tell of themselves becomes metrics, here and in one place."""

from collections.abc import Sequence

from minutero.domain.instants import SECOND
from minutero.domain.metrics import Metric
from minutero.ports import Meter
from minutero.service.audit import AuditReport
from minutero.service.claim_batch import Tally
from minutero.service.dispatch import ShardReport


def count_tick(meter: Meter, reports: Sequence[ShardReport]) -> None:
    """One tick. A shard whose watermark could not be read has no lag that is known; when there is no
    other, none is told, and the alarm takes that for a large one."""
    meter.add(Metric.TICKS)
    for report in reports:
        _count_tally(meter, report.tally)
    lags = [report.lag_ms for report in reports if report.lag_ms is not None]
    if lags:
        meter.add(Metric.WATERMARK_LAG, max(lags) / SECOND)


def count_audit(meter: Meter, report: AuditReport) -> None:
    """One audit."""
    meter.add(Metric.AUDIT_REPAIRS, report.repairs)
    _count_tally(meter, report.tally)
    meter.add(Metric.SENT, report.sent_again)


def _count_tally(meter: Meter, tally: Tally) -> None:
    meter.add(Metric.CLAIMED, tally.claimed)
    meter.add(Metric.CLAIMS_LOST, tally.claims_lost)
    meter.add(Metric.RESCUED, tally.rescued)
    meter.add(Metric.SENT, tally.sent)
    meter.add(Metric.DEAD, tally.buried)
    for late in tally.lateness_ms:
        meter.add(Metric.LATENESS_AT_CLAIM, late)
