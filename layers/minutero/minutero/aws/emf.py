"""Metrics as CloudWatch reads them from a function's log: EMF lines, by Powertools."""

import logging
import sys
from collections.abc import Sequence
from threading import Lock

from minutero.domain.metrics import Metric, Unit

logger = logging.getLogger(__name__)

NAMESPACE = "Minutero"

MOST_VALUES = 100
"""Values of one metric in one line, as many as EMF takes:
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html"""


class EmfMeter:
    """`Meter` that keeps what is added, for one line a call of the function. Used from any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._values: dict[Metric, list[float]] = {}

    def add(self, metric: Metric, value: float = 1) -> None:
        with self._lock:
            values = self._values.setdefault(metric, [])
            if metric.unit is Unit.COUNT and values:
                values[0] += value
            else:
                values.append(value)

    def emit(self) -> None:
        """Prints what was added since the last time. Never raises: no task fails for a metric.

        A count of nothing is left out, since CloudWatch bills a metric for each hour it was told in.
        """
        with self._lock:
            values, self._values = self._values, {}
        told = {metric: some for metric, some in values.items() if _says_something(metric, some)}
        try:
            if told:
                _print(told)
        except Exception:
            logger.exception("the metrics of this call are lost")


def sample(values: Sequence[float], most: int = MOST_VALUES) -> Sequence[float]:
    """All values, or as many of them as fit, evenly spaced in their order: the least, the greatest and the
    percentiles stay, only the number of samples does not."""
    if len(values) <= most:
        return values
    ordered = sorted(values)
    step = (len(ordered) - 1) / (most - 1)
    return [ordered[round(step * index)] for index in range(most)]


def _says_something(metric: Metric, values: Sequence[float]) -> bool:
    return metric.unit is not Unit.COUNT or values != [0]


def _print(told: dict[Metric, list[float]]) -> None:
    """The dimension `service` is the stack's name, from POWERTOOLS_SERVICE_NAME, and there is no other."""
    # Imported with the first line, so that importing this costs nothing. Of Powertools' two it is the one
    # that shares no state: a job may use the other for metrics of its own.
    from aws_lambda_powertools.metrics import EphemeralMetrics  # noqa: PLC0415

    line = EphemeralMetrics(namespace=NAMESPACE)
    for metric, values in told.items():
        first, *more = sample(values)
        line.add_metric(str(metric), str(metric.unit), first)
        # Powertools would format all values so far with each, and print a line at the hundredth.
        line.metric_set[str(metric)]["Value"].extend(map(float, more))
    line.flush_metrics()
    sys.stdout.flush()
