"""Events of SQS, as Lambda hands them to the worker."""

import hashlib
from collections.abc import Iterable
from typing import Any


def sqs_event(bodies: Iterable[str], *, receives: int = 1) -> dict[str, Any]:
    """An event with one record a message body; `receives` is how often each has been received by now.

    Its shape: https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
    """
    return {"Records": [_record(number, body, receives) for number, body in enumerate(bodies, 1)]}


def _record(number: int, body: str, receives: int) -> dict[str, Any]:
    return {
        "messageId": f"00000000-0000-4000-8000-{number:012d}",
        "receiptHandle": f"receipt-{number}",
        "body": body,
        "attributes": {
            "ApproximateReceiveCount": str(receives),
            "SentTimestamp": "1767225600000",
            "SenderId": "AROAEXAMPLE:minutero-dispatcher",
            "ApproximateFirstReceiveTimestamp": "1767225600000",
        },
        "messageAttributes": {},
        "md5OfBody": hashlib.md5(body.encode(), usedforsecurity=False).hexdigest(),
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:us-east-1:123456789012:minutero-tasks",
        "awsRegion": "us-east-1",
    }
