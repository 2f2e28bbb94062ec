"""The dead-letter function: lists what has died, so that people can see it and run it again."""

from typing import Any

from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)

from minutero import wiring
from minutero.aws.json_lines import function_logger
from minutero.observed import observed

function_logger()


@observed()
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """An SQS event of the dead-letter queue; the answer names the messages to keep."""
    processor = BatchProcessor(EventType.SQS, raise_on_entire_batch_failure=False)
    return process_partial_response(  # type: ignore[return-value]  # a TypedDict is a dict
        event=event,
        record_handler=lambda record: wiring.dead_letter().message(record["body"]),
        processor=processor,
        context=context,
    )
