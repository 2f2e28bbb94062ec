"""How old the oldest message of the tasks queue is."""

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from botocore.exceptions import BotoCoreError, ClientError

from minutero.aws.queue import depth_of
from minutero.domain.exchanged import QueueDepth
from minutero.domain.instants import MINUTE, SECOND

if TYPE_CHECKING:
    from mypy_boto3_cloudwatch import CloudWatchClient
    from mypy_boto3_sqs import SQSClient

logger = logging.getLogger(__name__)

LOOK_BACK = 15 * MINUTE
"""CloudWatch has SQS's age by the minute, some minutes late:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html"""

EMPTY = QueueDepth(ready=0, delayed=0, in_flight=0)


class OldestMessage:
    """Asks SQS, then CloudWatch. Without an answer nothing is known, and nothing is sent again for it."""

    def __init__(self, sqs: "SQSClient", cloudwatch: "CloudWatchClient", queue_url: str) -> None:
        self._sqs = sqs
        self._cloudwatch = cloudwatch
        self._queue_url = queue_url

    def __call__(self, now: int) -> int | None:
        """When the oldest message was sent, in milliseconds: now for an empty queue, None if unknown."""
        try:
            if depth_of(self._sqs, self._queue_url) == EMPTY:
                return now
            age = self._age(now)
        except (BotoCoreError, ClientError) as error:
            told = {"error": str(error)}
            logger.warning("the age of the queue's oldest message is not known", extra=told)
            return None
        return None if age is None else now - age

    def _age(self, now: int) -> int | None:
        answer = self._cloudwatch.get_metric_statistics(
            Namespace="AWS/SQS",
            MetricName="ApproximateAgeOfOldestMessage",
            Dimensions=[{"Name": "QueueName", "Value": self._queue_url.rpartition("/")[2]}],
            StartTime=datetime.fromtimestamp((now - LOOK_BACK) // SECOND, UTC),
            EndTime=datetime.fromtimestamp(now // SECOND, UTC),
            Period=60,
            Statistics=["Maximum"],
        )
        ages = [point["Maximum"] for point in answer["Datapoints"]]
        # The largest of the last minutes: an age too old only makes the audit more careful.
        return int(max(ages) * SECOND) if ages else None
