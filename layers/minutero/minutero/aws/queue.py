"""The tasks queue and its dead-letter queue."""

import hashlib
import json
import logging
from collections.abc import Sequence
from json.encoder import encode_basestring_ascii as _quoted
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from minutero.domain.buckets import bucket_name, parse_bucket
from minutero.domain.exchanged import NewerMessage, Outgoing, QueueDepth, Sent
from minutero.domain.task import Place, Pointer, read_sort_key
from minutero.errors import Unavailable

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

logger = logging.getLogger(__name__)

MESSAGE_VERSION = 1

NOT_THE_MESSAGE = ("Throttl", "AccessDenied", "Kms", "KMS", "OverLimit", "NonExistentQueue")
"""Parts of error codes that SQS may put on the sender (any 4xx) although another message would fare no
better: a missing permission must not make every task dead."""

THE_MESSAGE = {
    "InvalidMessageContents",
    "InvalidParameterValue",
    "MissingParameter",
    "UnsupportedOperation",
}
"""Codes of a request refused whole for what is in it, such as a character outside XML 1.0:
https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_SendMessageBatch.html"""


class SqsTaskQueue:
    """`TaskQueue` over two standard queues, given by their URLs."""

    def __init__(self, client: "SQSClient", url: str, dead_letter_url: str) -> None:
        self._client = client
        self._url = url
        self._dead_letter_url = dead_letter_url

    def send(self, messages: Sequence[Outgoing]) -> list[Sent]:
        """Up to 10 messages in one request. Every entry of the answer is read: SQS tells what became of
        each inside a 200."""
        entries: Any = [
            {"Id": str(index), "DelaySeconds": message.delay, **_contents(message)}
            for index, message in enumerate(messages)
        ]
        try:
            answer = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
        except (BotoCoreError, ClientError) as error:
            return self._refused_whole(messages, error)
        results = {one["Id"]: Sent.SENT for one in answer.get("Successful", ())}
        for failure in answer.get("Failed", ()):
            told = {"error": failure, "run_id": _run_id(messages, failure["Id"])}
            logger.warning("SQS did not take a message", extra=told)
            results[failure["Id"]] = _of_entry(failure)
        # An entry in neither list was not promised: sending it again at worst sends it twice.
        return [results.get(str(index), Sent.FAILED) for index in range(len(messages))]

    def _refused_whole(
        self, messages: Sequence[Outgoing], error: BotoCoreError | ClientError
    ) -> list[Sent]:
        code = _code(error).rpartition(".")[2]
        if code not in THE_MESSAGE:
            logger.warning("SQS did not take a batch", extra={"error": str(error)})
            return [Sent.FAILED] * len(messages)
        if len(messages) > 1:
            # One of them is to blame; each alone tells which.
            return [self.send([message])[0] for message in messages]
        told = {"run_id": messages[0].pointer.run_id, "error": str(error)}
        logger.error("SQS refuses a message for good", extra=told)
        return [Sent.REFUSED]

    def acknowledge(self, receipts: Sequence[str]) -> None:
        """`Inbox`: deletes up to 10 messages. One that stays is delivered again and found to have run."""
        entries: Any = [
            {"Id": str(index), "ReceiptHandle": receipt} for index, receipt in enumerate(receipts)
        ]
        try:
            self._client.delete_message_batch(QueueUrl=self._url, Entries=entries)
        except (BotoCoreError, ClientError) as error:
            told = {"error": str(error)}
            logger.warning("SQS did not delete %d messages", len(entries), extra=told)

    def send_dead(self, message: Outgoing) -> None:
        """One message to the dead-letter queue. Raises Unavailable."""
        request: Any = {"QueueUrl": self._dead_letter_url, **_contents(message)}
        try:
            self._client.send_message(**request)
        except (BotoCoreError, ClientError) as error:
            raise Unavailable(f"SQS did not take the dead letter: {error}") from error

    def depth(self) -> QueueDepth:
        """What the tasks queue holds. Raises Unavailable."""
        return self._depth(self._url)

    def dead_depth(self) -> QueueDepth:
        """What the dead-letter queue holds. Raises Unavailable."""
        return self._depth(self._dead_letter_url)

    def _depth(self, url: str) -> QueueDepth:
        try:
            return depth_of(self._client, url)
        except (BotoCoreError, ClientError) as error:
            raise Unavailable(f"SQS did not tell how many messages there are: {error}") from error


def depth_of(client: "SQSClient", url: str) -> QueueDepth:
    """What a queue holds, as it was about a minute ago. Raises botocore's errors.

    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_GetQueueAttributes.html
    """
    answer = client.get_queue_attributes(
        QueueUrl=url,
        AttributeNames=[
            "ApproximateNumberOfMessages",
            "ApproximateNumberOfMessagesDelayed",
            "ApproximateNumberOfMessagesNotVisible",
        ],
    )
    counts = answer["Attributes"]
    return QueueDepth(
        ready=int(counts["ApproximateNumberOfMessages"]),
        delayed=int(counts["ApproximateNumberOfMessagesDelayed"]),
        in_flight=int(counts["ApproximateNumberOfMessagesNotVisible"]),
    )


def encode_message(pointer: Pointer, reason: str = "") -> str:
    """The body of a message: a pointer, never the payload. What says nothing is left out."""
    place = pointer.place
    more = ',"large":true' if pointer.large else ""
    if pointer.tenant:
        more += f',"tenant":{_quoted(pointer.tenant)}'
    if reason:
        more += f',"reason":{_quoted(reason)}'
    # Written out, since json's encoder takes ten times as long for so little.
    return (
        f'{{"v":{MESSAGE_VERSION},"bucket":{_quoted(place.bucket)},"sk":{_quoted(place.sk)}'
        f',"due":{pointer.due}{more}}}'
    )


def parse_message(body: str) -> tuple[Pointer, str]:
    """A message's body -> the pointer and, on the dead-letter queue, the reason.

    Members of a newer version are passed over. Raises NewerMessage for one that says it is to be read
    otherwise, ValueError for what no version of this sent.
    """
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a message of this queue: {error}") from None
    version = message.get("v") if isinstance(message, dict) else None
    if isinstance(version, int) and version > MESSAGE_VERSION:
        raise NewerMessage(f"a message of version {version}, which this one cannot read")
    if version != MESSAGE_VERSION:
        raise ValueError(f"not a message of this queue: {body[:200]!r}")
    bucket, sk, due = (message.get(name) for name in ("bucket", "sk", "due"))
    tenant, large, reason = (
        message.get("tenant", ""),
        message.get("large", False),
        message.get("reason", ""),
    )
    texts = all(isinstance(text, str) for text in (bucket, sk, tenant, reason))
    if (
        not texts
        or isinstance(due, bool)
        or not isinstance(due, int)
        or not isinstance(large, bool)
    ):
        raise ValueError(f"not a message of this queue: {body[:200]!r}")
    read_sort_key(str(sk))
    if bucket_name(*parse_bucket(str(bucket))) != bucket:
        raise ValueError(f"not the name of a bucket: {bucket!r}")
    return Pointer(Place(str(bucket), str(sk)), due, tenant, large), reason


def message_group(tenant: str) -> str:
    """`MessageGroupId` of a tenant, hashed, since names of customers belong in no metric.

    A standard queue keeps a group with a backlog from delaying the others. Source:
    https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html
    """
    return hashlib.blake2b(tenant.encode(), digest_size=8).hexdigest()


def _contents(message: Outgoing) -> dict[str, str]:
    contents = {"MessageBody": encode_message(message.pointer, message.reason)}
    if message.pointer.tenant:
        contents["MessageGroupId"] = message_group(message.pointer.tenant)
    return contents


def _run_id(messages: Sequence[Outgoing], entry: str) -> str:
    """The run of an entry of an answer; "" for an entry that was never sent."""
    return next((m.pointer.run_id for at, m in enumerate(messages) if str(at) == entry), "")


def _of_entry(failure: Any) -> Sent:
    blamed = failure.get("SenderFault") and not any(
        part in failure.get("Code", "") for part in NOT_THE_MESSAGE
    )
    return Sent.REFUSED if blamed else Sent.FAILED


def _code(error: BotoCoreError | ClientError) -> str:
    return str(error.response["Error"].get("Code", "")) if isinstance(error, ClientError) else ""
