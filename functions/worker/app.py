"""The worker: runs the jobs in `jobs/`, one message a task."""

import logging
from functools import cache
from pathlib import Path
from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)

from minutero import job_files, wiring
from minutero.aws.json_lines import function_logger
from minutero.jobs import registry
from minutero.observed import observed
from minutero.service.run_messages import Batch, Delivery
from minutero.watchdog import watchdog

logger = function_logger()
# What a job logs by `logging.getLogger(__name__)`; other libraries only warn.
logging.getLogger("jobs").setLevel(logging.INFO)

MARGIN_SECONDS = 1.0
"""The process ends itself this long before Lambda would: time to acknowledge what is done."""

ANNOUNCE = "announce_jobs"
"""The event `{"minutero": "announce_jobs"}` asks only for the names of the jobs."""


@cache
def load_jobs() -> frozenset[str]:
    """The jobs of `jobs/`, and those that come with the package."""
    return job_files.load_jobs(Path(__file__).with_name("jobs"))


@observed()
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """An SQS event; the answer names the messages to keep (ReportBatchItemFailures)."""
    if event.get("minutero") == ANNOUNCE:
        # Again, although it was done once: a process of another version may have written its own names since.
        _announce()
        return {"jobs": sorted(load_jobs())}
    _announce_once()
    return _run(event["Records"], context)


def _run(records: list[dict[str, Any]], context: Any) -> dict[str, Any]:
    worker = wiring.worker(registry)
    batch = worker.batch(worker.clock.now() + context.get_remaining_time_in_millis())
    deliveries = {_delivery(record): record for record in records}
    in_order = [deliveries[delivery] for delivery in batch.read(list(deliveries))]
    # Asked again: reading took some of it.
    seconds = context.get_remaining_time_in_millis() / 1000 - MARGIN_SECONDS
    with watchdog(seconds, lambda: _last_words(batch)):
        return process_partial_response(  # type: ignore[return-value]  # a TypedDict is a dict
            event={"Records": in_order},
            record_handler=lambda record: batch.run(_delivery(record)),
            processor=BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False),
            context=context,
        )


def _last_words(batch: Batch) -> None:
    """The metrics first: they take a millisecond, and an answer of SQS may take longer than there is."""
    wiring.METER.emit()
    batch.acknowledge_done()


def _delivery(record: Any) -> Delivery:
    receives = record["attributes"].get("ApproximateReceiveCount", "1")
    return Delivery(record["body"], record["receiptHandle"], int(receives))


@cache
def _announce_once() -> None:
    """Each process tells once which jobs it has, so that a new version's are known with its first event."""
    _announce()


def _announce() -> None:
    wiring.worker(registry).announce(load_jobs())
