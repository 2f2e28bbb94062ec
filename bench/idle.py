"""What a deployment costs a month in which nothing is due."""

import re
from collections.abc import Mapping
from typing import Any

from bench.deployment import ROOT, START, deployed
from bench.prices import GIGABYTE, Used, dollars
from minutero.domain.instants import MINUTE

MINUTES = 30 * 24 * 60
AUDIT_MINUTES = 5
"""As template.yaml has it."""

WARM_MINUTES = 75
POLLS = 2 * 5 * 3 * MINUTES
"""Lambda keeps five long polls of 20 s at each of the two queues, as people read it off their bills; AWS
documents only that there are some: https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html"""


def idle_month(endpoint: str, shards: int) -> dict[str, Any]:
    """Of 30 days: the ticks, the audits, the polling, and what watches. The metrics are those that are told
    when nothing is due."""
    with deployed(endpoint, shards) as deployment:
        meter, clock = deployment.meter, deployment.clock
        deployment.begin(shards)
        for minute in (0, WARM_MINUTES):
            clock.set(START + minute * MINUTE)
            deployment.tick()
        # The first audit looks at all there has been; from now on there are five minutes for each.
        deployment.audit()
        meter.counts.clear()
        meter.metrics.clear()
        for _ in range(AUDIT_MINUTES):
            clock.advance(MINUTE)
            meter.phase = "tick"
            deployment.tick()
        meter.phase = "audit"
        deployment.audit()
        counts, metrics = dict(meter.counts), len(meter.metrics)
    tick, audit = (_one(counts, *one) for one in (("tick", AUDIT_MINUTES), ("audit", 1)))
    month = {
        "ticks": tick.times(MINUTES),
        "audits": audit.times(MINUTES / AUDIT_MINUTES),
        "polls": Used(sqs_requests=POLLS),
        "watch": Used(metrics=metrics, alarms=_alarms(), dashboards=1),
    }
    total = sum(month.values(), Used())
    return {
        "shards": shards,
        "a_tick": {"write_units": tick.write_units, "read_units": tick.read_units},
        "an_audit": {"write_units": audit.write_units, "read_units": audit.read_units},
        "usd": [{"what": name, **dollars(used)} for name, used in {**month, "all": total}.items()],
    }


def _one(counts: Mapping[tuple[str, str], float], phase: str, calls: int) -> Used:
    def share(name: str) -> float:
        return counts.get((phase, name), 0.0) / calls

    return Used(
        write_units=share("write_units"),
        read_units=share("read_units"),
        sqs_requests=share("sqs_requests"),
        function_calls=share("function_calls"),
        gb_seconds=share("gb_seconds"),
        log_gb=share("log_bytes") / GIGABYTE,
        # One a second is always traced.
        traces=share("function_calls"),
    )


def _alarms() -> int:
    template = (ROOT / "template.yaml").read_text("utf-8")
    return len(re.findall(r"Type: AWS::CloudWatch::Alarm\b", template))
