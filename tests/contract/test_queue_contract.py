"""The queue: every entry of every answer is read."""

import json
import time

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError
from worlds import NOW

from minutero.aws.queue import SqsTaskQueue, encode_message, message_group, parse_message
from minutero.domain.exchanged import NewerMessage, Outgoing, QueueDepth, Sent
from minutero.domain.task import Place, Pointer
from minutero.errors import Unavailable


def received(world, url):
    """The bodies and groups of what is visible, read until a receive is empty."""
    found = []
    while True:
        answer = world.sqs.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, AttributeNames=["MessageGroupId"]
        )
        messages = answer.get("Messages", [])
        if not messages:
            return found
        found += [(m["Body"], m.get("Attributes", {}).get("MessageGroupId")) for m in messages]


def test_ten_messages_arrive_as_they_were_sent(aws_world, new_task):
    tasks = [new_task(tenant="acme" if n % 2 else "", large=n == 0) for n in range(10)]
    results = aws_world.queue.send([Outgoing(task.pointer) for task in tasks])
    assert results == [Sent.SENT] * 10
    messages = received(aws_world, aws_world.queue_urls[0])
    pointers = sorted((parse_message(body)[0] for body, _ in messages), key=lambda p: p.place.sk)
    assert pointers == sorted((task.pointer for task in tasks), key=lambda p: p.place.sk)
    groups = {parse_message(body)[0].tenant: group for body, group in messages}
    assert groups == {"acme": message_group("acme"), "": None}


def test_a_delayed_message_is_not_there_before_its_time(aws_world, new_task):
    task = new_task(tenant="acme")
    assert aws_world.queue.send([Outgoing(task.pointer, delay=3)]) == [Sent.SENT]
    assert received(aws_world, aws_world.queue_urls[0]) == []
    deadline = time.monotonic() + 60
    while not (found := received(aws_world, aws_world.queue_urls[0])):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert parse_message(found[0][0]) == (task.pointer, "")


def test_a_dead_letter_carries_its_reason(aws_world, new_task):
    pointer = new_task(tenant="acme", large=True).pointer
    aws_world.queue.send_dead(Outgoing(pointer, reason="ValueError: ñ\n"))
    ((body, group),) = received(aws_world, aws_world.queue_urls[1])
    assert parse_message(body) == (pointer, "ValueError: ñ\n")
    assert group == message_group("acme")


def test_an_empty_queue_holds_nothing(world):
    assert world.queue.depth() == QueueDepth(ready=0, delayed=0, in_flight=0)
    assert world.queue.dead_depth() == QueueDepth(ready=0, delayed=0, in_flight=0)


def test_each_queue_tells_what_it_holds(world, new_task):
    messages = [Outgoing(new_task().pointer, delay=delay) for delay in (0, 0, 0, 600, 900)]
    assert world.queue.send(messages) == [Sent.SENT] * 5
    world.queue.send_dead(Outgoing(new_task().pointer, reason="spent"))
    assert world.queue.depth() == QueueDepth(ready=3, delayed=2, in_flight=0)
    assert world.queue.dead_depth() == QueueDepth(ready=1, delayed=0, in_flight=0)


def test_what_a_worker_has_in_hand_is_told(aws_world, new_task):
    aws_world.queue.send([Outgoing(new_task().pointer)] * 3)
    aws_world.sqs.receive_message(
        QueueUrl=aws_world.queue_urls[0], MaxNumberOfMessages=1, VisibilityTimeout=300
    )
    assert aws_world.queue.depth() == QueueDepth(ready=2, delayed=0, in_flight=1)


@pytest.mark.parametrize("which", ["depth", "dead_depth"])
@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "AccessDenied"}}, "GetQueueAttributes"),
        ReadTimeoutError(endpoint_url="http://sqs"),
    ],
    ids=str,
)
def test_a_queue_that_does_not_answer_is_told(moto_world, monkeypatch, which, error):
    def fails(*_):
        raise error

    monkeypatch.setattr(moto_world.sqs, "_make_api_call", fails)
    with pytest.raises(Unavailable):
        getattr(moto_world.queue, which)()


class Answers:
    """An SQS client that answers what it is told to; an exception is raised."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    def send_message_batch(self, **request):
        self.requests.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    send_message = send_message_batch


def refused(code, status=400):
    response = {"Error": {"Code": code}, "ResponseMetadata": {"HTTPStatusCode": status}}
    return ClientError(response, "SendMessageBatch")


def sent_with(*answers, new_task, count=4):
    client = Answers(*answers)
    messages = [Outgoing(new_task().pointer) for _ in range(count)]
    return SqsTaskQueue(client, "q", "d").send(messages), client


def test_each_entry_is_told_by_itself(new_task):
    results, _ = sent_with(
        {
            "Successful": [{"Id": "3"}],
            "Failed": [
                {"Id": "0", "SenderFault": True, "Code": "InvalidMessageContents"},
                {"Id": "2", "SenderFault": False, "Code": "InternalError"},
            ],
        },
        new_task=new_task,
    )
    assert results == [Sent.REFUSED, Sent.FAILED, Sent.FAILED, Sent.SENT]


@pytest.mark.parametrize("code", ["RequestThrottled", "KmsThrottled", "AccessDeniedException"])
def test_what_would_befall_any_message_is_not_its_own_fault(new_task, code):
    entry = {"Id": "0", "SenderFault": True, "Code": code}
    assert sent_with({"Failed": [entry]}, new_task=new_task, count=1)[0] == [Sent.FAILED]


@pytest.mark.parametrize(
    "error",
    [
        refused("ThrottlingException"),
        refused("AWS.SimpleQueueService.NonExistentQueue"),
        refused("AccessDenied", 403),
        refused("InternalFailure", 500),
        ReadTimeoutError(endpoint_url="http://sqs"),
    ],
)
def test_a_request_without_an_answer_failed_as_a_whole(new_task, error):
    assert sent_with(error, new_task=new_task)[0] == [Sent.FAILED] * 4


def test_of_a_batch_refused_whole_each_message_is_tried_alone(new_task):
    code = "InvalidMessageContents"
    ok = {"Successful": [{"Id": "0"}]}
    results, client = sent_with(
        refused(code), ok, refused(code), refused("Throttled"), ok, new_task=new_task
    )
    assert results == [Sent.SENT, Sent.REFUSED, Sent.FAILED, Sent.SENT]
    assert [len(request["Entries"]) for request in client.requests] == [4, 1, 1, 1, 1]


def test_an_unanswered_dead_letter_is_told(new_task):
    client = Answers(ReadTimeoutError(endpoint_url="http://sqs"))
    with pytest.raises(Unavailable):
        SqsTaskQueue(client, "q", "d").send_dead(Outgoing(new_task().pointer, reason="spent"))


def test_a_message_says_only_what_it_must(new_task):
    task = new_task()
    assert json.loads(encode_message(task.pointer)) == {
        "v": 1,
        "bucket": task.place.bucket,
        "sk": task.place.sk,
        "due": NOW,
    }


def test_members_of_a_newer_version_are_passed_over(new_task):
    pointer = new_task(tenant="acme").pointer
    body = json.loads(encode_message(pointer, "why")) | {"trace": {"id": 1}}
    assert parse_message(json.dumps(body)) == (pointer, "why")


def test_a_message_that_only_a_newer_version_can_read_is_no_nonsense():
    with pytest.raises(NewerMessage, match="version 2"):
        parse_message('{"v": 2, "place": "elsewhere"}')


@pytest.mark.parametrize(
    "changes",
    [
        {"v": 0},
        {"v": None},
        {"v": "2"},
        {"due": "soon"},
        {"due": True},
        {"due": 1.5},
        {"sk": "00#nothing#0000"},
        {"sk": 7},
        {"bucket": "2026-11-29T20:21Z"},
        {"bucket": "2026-11-29T20:21Z#7"},
        {"bucket": "payload#x"},
        {"tenant": 5},
        {"large": "yes"},
        {"reason": []},
    ],
)
def test_nonsense_is_no_message(new_task, changes):
    body = json.loads(encode_message(new_task().pointer)) | changes
    with pytest.raises(ValueError, match=r"not|invalid"):
        parse_message(json.dumps(body))


@pytest.mark.parametrize("body", ["", "7", "[]", "null", "{", "[" * 100_000, '{"v":1}'])
def test_what_is_no_object_is_no_message(body):
    with pytest.raises(ValueError, match="not"):
        parse_message(body)


def test_a_pointer_survives_its_message():
    place = Place("2026-11-29T20:21Z#107", "07#1AGsMiTMAA2ko8Ctu3NQAAAA-#0012")
    pointer = Pointer(place, NOW + 1, "acme", large=True)
    assert parse_message(encode_message(pointer)) == (pointer, "")


@pytest.mark.parametrize(
    "text", ["acme", 'a "b" \\ c', "\u20ac \U0001f600", "\x00\x1f\x7f", "\ud800"]
)
def test_a_message_is_compact_json_in_ascii_whatever_is_in_it(text):
    place = Place("2026-11-29T20:21Z#107", "07#1AGsMiTMAA2ko8Ctu3NQAAAA-#0012")
    body = encode_message(Pointer(place, NOW, text, large=True), text)
    told = {"v": 1, "bucket": place.bucket, "sk": place.sk, "due": NOW}
    told |= {"large": True, "tenant": text, "reason": text}
    assert body == json.dumps(told, separators=(",", ":"))
