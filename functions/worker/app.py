"""The worker: runs the jobs in `jobs/`, one message a task."""

import importlib
import pkgutil
from functools import cache
from pathlib import Path
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)

from minutero import wiring
from minutero.jobs import registry

logger = Logger()

ANNOUNCE = "announce_jobs"
"""The event `{"minutero": "announce_jobs"}` asks only for the names of the jobs."""


@cache
def load_jobs() -> frozenset[str]:
    """Imports every module of `jobs/`. One that fails to import is logged and left out: it must not stop
    the jobs of the others."""
    folder = Path(__file__).with_name("jobs")
    for module in sorted(info.name for info in pkgutil.iter_modules([str(folder)])):
        try:
            importlib.import_module(f"jobs.{module}")
        except Exception:
            logger.exception("jobs/%s.py cannot be imported; its jobs are missing", module)
    return registry.names()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """An SQS event; the answer names the messages to keep (ReportBatchItemFailures)."""
    worker = wiring.worker(registry)
    _announce_once()
    if event.get("minutero") == ANNOUNCE:
        return {"jobs": sorted(load_jobs())}
    deadline = worker.clock.now() + context.get_remaining_time_in_millis()
    tasks = worker.messages.read([record["body"] for record in event["Records"]])
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
    return process_partial_response(  # type: ignore[return-value]  # a TypedDict is a dict
        event=event,
        record_handler=lambda record: worker.messages.run(record["body"], tasks, deadline),
        processor=processor,
        context=context,
    )


@cache
def _announce_once() -> None:
    """Each process tells once which jobs it has, so that a new version's are known with its first event."""
    wiring.worker(registry).announce(load_jobs())
