"""The lines CloudWatch makes metrics of."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minutero.aws import emf
from minutero.aws.emf import MOST_VALUES, NAMESPACE, EmfMeter, sample
from minutero.domain.metrics import Metric
from minutero.watchdog import EXIT_CODE


@pytest.fixture
def emitted(capsys, monkeypatch):
    """Adds these to a meter and emits; the lines."""
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "minutero-dev")
    monkeypatch.delenv("POWERTOOLS_METRICS_DISABLED", raising=False)

    def of(*added, meter=None):
        meter = meter or EmfMeter()
        for metric, value in added:
            meter.add(metric, value)
        meter.emit()
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return of


def test_a_line_is_emf_with_the_stack_as_its_only_dimension(emitted):
    (line,) = emitted((Metric.CLAIMED, 3), (Metric.LATENESS_AT_START, 12))
    (told,) = line["_aws"]["CloudWatchMetrics"]
    assert told["Namespace"] == NAMESPACE
    assert told["Dimensions"] == [["service"]]
    assert line["service"] == "minutero-dev"
    assert told["Metrics"] == [
        {"Name": "Claimed", "Unit": "Count"},
        {"Name": "LatenessAtStart", "Unit": "Milliseconds"},
    ]
    assert (line["Claimed"], line["LatenessAtStart"]) == ([3], [12])


def test_all_metrics_at_once_are_one_line_with_their_units(emitted):
    (line,) = emitted(*((metric, 1) for metric in Metric))
    (told,) = line["_aws"]["CloudWatchMetrics"]
    assert {one["Name"]: one["Unit"] for one in told["Metrics"]} == {
        str(metric): str(metric.unit) for metric in Metric
    }


def test_counts_are_added_up_and_of_a_time_each_value_is_kept(emitted):
    (line,) = emitted(
        (Metric.SENT, 2),
        (Metric.SENT, 5),
        (Metric.LATENESS_AT_CLAIM, 2),
        (Metric.LATENESS_AT_CLAIM, 5),
    )
    assert line["Sent"] == [7]
    assert line["LatenessAtClaim"] == [2, 5]


def test_what_counts_to_nothing_is_no_metric_and_a_time_of_nothing_is_one(emitted):
    assert emitted((Metric.SENT, 0), (Metric.SENT, 0)) == []
    (line,) = emitted((Metric.SENT, 0), (Metric.WATERMARK_LAG, 0))
    assert line["WatermarkLag"] == [0]
    assert "Sent" not in line


def test_a_call_without_metrics_emits_nothing_and_each_call_its_own(emitted):
    meter = EmfMeter()
    assert emitted(meter=meter) == []
    assert emitted((Metric.SENT, 1), meter=meter)[0]["Sent"] == [1]
    assert emitted((Metric.SENT, 2), meter=meter)[0]["Sent"] == [2]


@pytest.mark.parametrize("many", [MOST_VALUES, MOST_VALUES + 1, 10_000])
def test_any_number_of_values_is_one_line_of_at_most_a_hundred(emitted, many):
    (line,) = emitted(*((Metric.LATENESS_AT_CLAIM, value) for value in range(many)))
    values = line["LatenessAtClaim"]
    assert len(values) == MOST_VALUES == 100
    assert (values[0], values[-1]) == (0, many - 1)


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=500), st.integers(2, 100))
def test_a_sample_keeps_the_least_and_the_greatest_and_invents_nothing(values, most):
    kept = sample(values, most)
    assert len(kept) == min(most, len(values))
    assert (min(kept), max(kept)) == (min(values), max(values))
    left = list(values)
    for value in kept:
        left.remove(value)


def test_a_sample_keeps_the_percentiles():
    kept = sorted(sample([value**2 for value in range(10_001)]))
    for percent in (10, 50, 90, 99):
        real = (percent * 100) ** 2
        assert abs(kept[percent * MOST_VALUES // 100] - real) < 0.05 * 10_000**2


def test_nothing_is_lost_between_threads(emitted):
    meter = EmfMeter()
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: meter.add(Metric.SENT), range(2_000)))
    assert emitted(meter=meter)[0]["Sent"] == [2_000]


def test_a_metric_that_cannot_be_emitted_fails_nobody(emitted, monkeypatch, caplog):
    def broken(_):
        raise OSError("stdout is closed")

    monkeypatch.setattr(emf, "_print", broken)
    meter = EmfMeter()
    assert emitted((Metric.SENT, 1), meter=meter) == []
    assert "metrics of this call are lost" in caplog.text


def test_a_jobs_own_metrics_are_not_mixed_with_ours(emitted, capsys):
    from aws_lambda_powertools import Metrics

    own = Metrics(namespace="Orders", service="shop")
    own.add_metric("OrdersClosed", "Count", 1)
    (line,) = emitted((Metric.STARTED, 1))
    assert "OrdersClosed" not in line
    own.flush_metrics()
    other = json.loads(capsys.readouterr().out)
    assert "Started" not in other


def test_the_last_line_of_a_process_that_is_ended_is_printed():
    """Its stdout is a pipe, and nothing flushes that for it."""
    code = (
        "import threading\n"
        "from minutero.aws.emf import EmfMeter\n"
        "from minutero.domain.metrics import Metric\n"
        "from minutero.watchdog import watchdog\n"
        "meter = EmfMeter()\n"
        "meter.add(Metric.STARTED)\n"
        "with watchdog(0.001, meter.emit):\n"
        "    threading.Event().wait(60)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert ended.returncode == EXIT_CODE
    assert json.loads(ended.stdout)["Started"] == [1]
