"""What AWS asks for what is used: list prices, without free tiers, of us-east-1."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields

AS_OF = "2026-06"
"""The month of the youngest public list these were compared with. The last change among them was in 2024-11,
when DynamoDB halved its requests' prices."""

MILLION = 1e6
GIGABYTE = 1024**3


@dataclass(frozen=True, slots=True)
class Used:
    """What is billed; of one task these are parts."""

    write_units: float = 0.0
    read_units: float = 0.0
    gb_months: float = 0.0
    sqs_requests: float = 0.0
    function_calls: float = 0.0
    gb_seconds: float = 0.0
    log_gb: float = 0.0
    traces: float = 0.0
    http_requests: float = 0.0
    scheduler_calls: float = 0.0
    metrics: float = 0.0
    alarms: float = 0.0
    dashboards: float = 0.0

    def __add__(self, other: "Used") -> "Used":
        return Used(**{name: value + getattr(other, name) for name, value in asdict(self).items()})

    def times(self, factor: float) -> "Used":
        """So often the same."""
        return Used(**{name: value * factor for name, value in asdict(self).items()})


PRICES: Mapping[str, tuple[str, float]] = {
    # https://aws.amazon.com/dynamodb/pricing/on-demand/
    "write_units": ("dynamodb", 0.625 / MILLION),
    "read_units": ("dynamodb", 0.125 / MILLION),
    # 0.25, and 0.20 for point-in-time recovery, which is on unless RetainData is false.
    "gb_months": ("storage", 0.45),
    # https://aws.amazon.com/sqs/pricing/ : a standard queue; a tenant, as a message group, adds 0.10.
    "sqs_requests": ("sqs", 0.40 / MILLION),
    # https://aws.amazon.com/lambda/pricing/ : x86
    "function_calls": ("lambda", 0.20 / MILLION),
    "gb_seconds": ("lambda", 0.0000166667),
    # https://aws.amazon.com/cloudwatch/pricing/
    "log_gb": ("logs", 0.50),
    "metrics": ("cloudwatch", 0.30),
    "alarms": ("cloudwatch", 0.10),
    "dashboards": ("cloudwatch", 3.00),
    # https://aws.amazon.com/xray/pricing/
    "traces": ("xray", 5.00 / MILLION),
    # https://aws.amazon.com/api-gateway/pricing/ : an HTTP API
    "http_requests": ("http", 1.00 / MILLION),
    # https://aws.amazon.com/eventbridge/pricing/ : beyond the 14 million that are free each month
    "scheduler_calls": ("scheduler", 1.00 / MILLION),
}
"""The line of the bill, and dollars for one; of what is kept, for one a month."""


def dollars(used: Used) -> dict[str, float]:
    """The bill by its lines, and its `total`."""
    bill: dict[str, float] = {}
    for one in fields(used):
        line, price = PRICES[one.name]
        if cost := getattr(used, one.name) * price:
            bill[line] = bill.get(line, 0.0) + cost
    return {**bill, "total": sum(bill.values())}
