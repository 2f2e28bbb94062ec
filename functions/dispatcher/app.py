"""The tick: claims what is due and sends it to the tasks queue, once a minute."""

from dataclasses import asdict
from typing import Any

from minutero import wiring
from minutero.aws.json_lines import function_logger
from minutero.domain.instants import parse_instant
from minutero.errors import InvalidInput
from minutero.observed import observed
from minutero.service.counts import count_tick

logger = function_logger()

MARGIN_MS = 5_000
"""No new batch is begun this shortly before the time-out: one in flight can still be closed."""


@observed(call_id="tick_id")
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """`{"shards": [0, 1]}` serves those; any other event (EventBridge's, say) serves all. `time` is the
    tick's own, if it has one."""
    dispatch = wiring.dispatcher()
    deadline = dispatch.clock.now() + context.get_remaining_time_in_millis() - MARGIN_MS
    reports = dispatch.tick(event.get("shards"), deadline, _time(event))
    count_tick(wiring.METER, reports)
    shards = [_summary(asdict(report)) for report in reports]
    total = {
        name: sum(shard[name] for shard in shards)
        for name in (
            "claimed",
            "claims_lost",
            "sent",
            "rescued",
            "buried",
            "left_open",
            "pages_read",
        )
    }
    lag = max((s["lag_ms"] for s in shards if s["lag_ms"] is not None), default=None)
    owner = dispatch.dispatcher.owner
    logger.info("tick", extra={"tick": total, "lag_ms": lag, "owner": owner})
    return {"total": total, "shards": shards}


def _time(event: dict[str, Any]) -> int | None:
    try:
        return parse_instant(event.get("time"), "time")
    except InvalidInput:
        return None


def _summary(report: dict[str, Any]) -> dict[str, Any]:
    tally = report.pop("tally")
    lateness = tally.pop("lateness_ms")
    return {**report, **tally, "latest_ms": max(lateness, default=0)}
