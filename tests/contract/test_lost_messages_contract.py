"""What the audit rests on when it sends again, and what the worker rests on when it acknowledges."""

from itertools import pairwise

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError
from worlds import KEEP, NOW

from minutero.aws import bucket_pages, clients
from minutero.aws.batches import TRIES, batch_get
from minutero.aws.oldest_message import LOOK_BACK, OldestMessage
from minutero.domain.exchanged import Outgoing, Sent, Taken
from minutero.domain.instants import DAY, MINUTE, SECOND
from minutero.domain.run import Ending, Outcome
from minutero.domain.task import OpenClaim
from minutero.errors import Unavailable
from minutero.testing import SettableClock

UNTIL = NOW + MINUTE


def put_all(world, tasks):
    for task in tasks:
        world.tasks.put(task)
    return tasks


def small_pages(world, monkeypatch, size):
    monkeypatch.setattr(bucket_pages, "PAGE", size)
    if world.name == "memory":
        monkeypatch.setattr(world.tasks, "_page", size)


def all_taken(world, bucket):
    """All pages of what is taken, and how many there were."""
    found, after, pages = [], None, 0
    while True:
        taken, after = world.tasks.page_taken(bucket, after)
        found += taken
        pages += 1
        if after is None:
            return found, pages


# --- page_taken


def test_what_is_taken_is_shown_with_its_pointer_and_since_when(world, new_task):
    small, large = new_task(tenant="acme"), new_task(payload="x" * 999, large=True)
    put_all(world, [small, large])
    assert world.tasks.mark_sent(small.place, "near", NOW + 1)
    assert world.tasks.mark_sent(large.place, "tick", NOW + 2)
    found, _ = all_taken(world, small.place.bucket)
    expected = [Taken(small.pointer, NOW + 1), Taken(large.pointer, NOW + 2)]
    assert found == sorted(expected, key=lambda taken: taken.pointer.place.sk)


def test_only_what_is_taken_is_shown(world, new_task):
    scheduled, cancelled, taken, elsewhere = put_all(
        world, [new_task(), new_task(), new_task(), new_task(shard=4)]
    )
    for task in (cancelled, taken, elsewhere):
        world.tasks.mark_sent(task.place, "near", NOW)
    world.tasks.cancel(cancelled, NOW, KEEP, NOW)
    world.tasks.open_claim(OpenClaim(scheduled.place.bucket, "c1", NOW))
    found, _ = all_taken(world, scheduled.place.bucket)
    assert found == [Taken(taken.pointer, NOW)]


def test_of_an_empty_bucket_nothing_is_taken(world):
    assert all_taken(world, "2026-11-29T20:21Z#03") == ([], 1)


@pytest.mark.parametrize("size", [2, 3])
def test_the_pages_of_what_is_taken_hold_each_once(world, new_task, monkeypatch, size):
    """A page may hold nothing that is taken, and still not be the last."""
    small_pages(world, monkeypatch, size)
    tasks = sorted(put_all(world, [new_task() for _ in range(9)]), key=lambda task: task.place.sk)
    taken = [*tasks[:1], *tasks[6:]]
    for task in taken:
        world.tasks.mark_sent(task.place, "near", NOW)
    found, pages = all_taken(world, tasks[0].place.bucket)
    assert found == [Taken(task.pointer, NOW) for task in taken]
    assert pages >= 9 // size


def test_a_taken_row_that_makes_no_sense_stops_no_audit(aws_world, new_task):
    good, bad = put_all(aws_world, [new_task(), new_task()])
    for task in (good, bad):
        aws_world.tasks.mark_sent(task.place, "near", NOW)
    aws_world.tables.client.update_item(
        TableName=aws_world.tables.names.tasks,
        Key={"bucket": {"S": bad.place.bucket}, "sk": {"S": bad.place.sk}},
        UpdateExpression="REMOVE claimed_at",
    )
    found, _ = all_taken(aws_world, good.place.bucket)
    assert found == [Taken(good.pointer, NOW)]


# --- known


def test_a_run_is_known_from_its_start_to_its_end_and_after(world, new_task):
    names = ("running", "failed", "finished", "cancelled", "never")
    tasks = dict(zip(names, put_all(world, [new_task() for _ in names]), strict=True))
    runs = {name: task.run_id for name, task in tasks.items()}
    for name in ("running", "failed", "finished"):
        world.ledger.start(runs[name], "a", NOW, UNTIL, KEEP)
    world.ledger.fail(runs["failed"], "a", "no", NOW)
    world.ledger.finish(runs["finished"], "a", Outcome(Ending.SUCCEEDED), NOW)
    world.tasks.cancel(tasks["cancelled"], NOW, KEEP, NOW)
    assert world.ledger.known(list(runs.values())) == set(runs.values()) - {runs["never"]}


def test_a_hundred_runs_are_asked_for_at_once(world, new_task):
    runs = [new_task().run_id for _ in range(100)]
    for run_id in runs[::7]:
        world.ledger.start(run_id, "a", NOW, UNTIL, KEEP)
    assert world.ledger.known(runs) == frozenset(runs[::7])


def test_the_next_run_of_a_task_is_not_known_by_its_last_one(world, new_task):
    task = new_task()
    moved = task.moved(UNTIL, NOW, 30 * DAY)
    world.ledger.start(task.run_id, "a", NOW, UNTIL, KEEP)
    assert world.ledger.known([moved.run_id]) == frozenset()


def test_one_run_may_be_asked_for_twice(world):
    world.ledger.start("1abc.0", "a", NOW, UNTIL, KEEP)
    assert world.ledger.known(["1abc.0", "1abc.0", "1xyz.0"]) == {"1abc.0"}


def test_of_no_runs_none_is_known(world):
    assert world.ledger.known([]) == frozenset()


def test_runs_that_were_left_unread_are_asked_for_again(moto_world, monkeypatch):
    """Unread is not unknown: else a running task would be sent again for nothing."""
    runs = ["1abc.0", "1def.0", "1ghi.0"]
    for run_id in runs[:2]:
        moto_world.ledger.start(run_id, "a", NOW, UNTIL, KEEP)
    real = moto_world.tables.client._make_api_call
    asked = []

    def reads_one(operation, request):
        [(table, wanted)] = request["RequestItems"].items()
        asked.append(len(wanted["Keys"]))
        first, *rest = wanted["Keys"]
        answer = real(operation, {"RequestItems": {table: {**wanted, "Keys": [first]}}})
        left = {table: {**wanted, "Keys": rest}} if rest else {}
        return {**answer, "UnprocessedKeys": left}

    monkeypatch.setattr(moto_world.tables.client, "_make_api_call", reads_one)
    assert moto_world.ledger.known(runs) == set(runs[:2])
    assert asked == [3, 2, 1]


# --- batch_get


class Reads:
    """A DynamoDB client that answers BatchGetItem as it is told to; an exception is raised."""

    def __init__(self, *answers):
        self.answers = list(answers)
        self.requests = []

    def batch_get_item(self, RequestItems):  # noqa: N803 - botocore's name
        self.requests.append(RequestItems)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def row(name):
    return {"id": {"S": name}}


def answer(rows, unread=()):
    left = {"t": {"Keys": list(unread), "ConsistentRead": True}} if unread else {}
    return {"Responses": {"t": list(rows)}, "UnprocessedKeys": left}


def read(client, keys, clock=None):
    return batch_get(client, "t", keys, clock or SettableClock(0), {"ConsistentRead": True})


def test_without_keys_nothing_is_asked():
    client = Reads()
    assert read(client, []) == []
    assert client.requests == []


def test_only_what_was_left_unread_is_asked_for_again_and_in_the_same_way():
    a, b, c = (row(name) for name in "abc")
    client = Reads(answer([a], [b, c]), answer([b], [c]), answer([c]))
    assert read(client, [a, b, c]) == [a, b, c]
    asked = [request["t"] for request in client.requests]
    assert [one.pop("ConsistentRead") for one in asked] == [True] * 3
    assert asked == [{"Keys": [a, b, c]}, {"Keys": [b, c]}, {"Keys": [c]}]


def test_each_pause_before_the_next_try_is_longer():
    clock, times = SettableClock(0), []
    client = Reads(*[answer([], [row("a")])] * (TRIES - 1), answer([row("a")]))
    real = client.batch_get_item
    client.batch_get_item = lambda **request: times.append(clock.now()) or real(**request)
    assert read(client, [row("a")], clock) == [row("a")]
    pauses = [later - before for before, later in pairwise(times)]
    assert len(pauses) == TRIES - 1
    assert pauses[0] > 0
    assert pauses == sorted(set(pauses))


def test_a_table_that_throttles_on_is_told_and_not_asked_for_ever():
    client = Reads(*[answer([row("a")], [row("b")])] * 99)
    with pytest.raises(Unavailable, match="1 of 2"):
        read(client, [row("a"), row("b")])
    assert len(client.requests) == TRIES


def test_an_answer_that_names_no_table_holds_no_items():
    assert read(Reads({"Responses": {}}), [row("a")]) == []


def test_a_read_without_an_answer_is_told():
    with pytest.raises(Unavailable):
        read(Reads(ConnectTimeoutError(endpoint_url="http://dynamodb")), [row("a")])


# --- acknowledge


def received(world):
    """Takes what is visible: from then on it is in flight."""
    answer = world.sqs.receive_message(
        QueueUrl=world.queue_urls[0], MaxNumberOfMessages=10, VisibilityTimeout=300
    )
    return [message["ReceiptHandle"] for message in answer.get("Messages", [])]


def left(world):
    """How many messages are not deleted."""
    names = [f"ApproximateNumberOfMessages{which}" for which in ("", "NotVisible", "Delayed")]
    answer = world.sqs.get_queue_attributes(QueueUrl=world.queue_urls[0], AttributeNames=names)
    return sum(int(count) for count in answer["Attributes"].values())


def in_hand(world, new_task, count):
    tasks = [new_task() for _ in range(count)]
    assert world.queue.send([Outgoing(task.pointer) for task in tasks]) == [Sent.SENT] * count
    receipts = []
    while len(receipts) < count:
        receipts += received(world)
    return receipts


@pytest.mark.parametrize("count", [1, 10])
def test_what_is_acknowledged_is_deleted(aws_world, new_task, count):
    aws_world.queue.acknowledge(in_hand(aws_world, new_task, count))
    assert left(aws_world) == 0


def test_what_is_not_acknowledged_stays(aws_world, new_task):
    aws_world.queue.acknowledge(in_hand(aws_world, new_task, 3)[1:])
    assert left(aws_world) == 1


def test_acknowledging_again_is_no_harm(aws_world, new_task):
    receipts = in_hand(aws_world, new_task, 3)
    aws_world.queue.acknowledge(receipts[:2])
    aws_world.queue.acknowledge(receipts)
    assert left(aws_world) == 0


@pytest.mark.parametrize(
    "error",
    [
        ConnectTimeoutError(endpoint_url="http://sqs"),
        ClientError({"Error": {"Code": "RequestThrottled"}}, "DeleteMessageBatch"),
    ],
    ids=str,
)
def test_a_failing_acknowledgement_is_logged_and_left(moto_world, monkeypatch, caplog, error):
    """The message comes again, and its run is found over."""

    def fails(*_):
        raise error

    monkeypatch.setattr(moto_world.sqs, "_make_api_call", fails)
    moto_world.queue.acknowledge(["a", "b"])
    assert "did not delete 2 messages" in caplog.text


# --- the oldest message


@pytest.fixture
def cloudwatch(monkeypatch):
    """A client as a function opens it: the environment says where."""

    def at(endpoint):
        monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        if endpoint:
            monkeypatch.setenv("AWS_ENDPOINT_URL", endpoint)
        return clients.cloudwatch()

    return at


@pytest.fixture
def oldest(aws_world, cloudwatch, request):
    """Over the same cloud as `aws_world`."""
    endpoint = request.getfixturevalue("ministack") if aws_world.name == "ministack" else None
    return OldestMessage(aws_world.sqs, cloudwatch(endpoint), aws_world.queue_urls[0])


def test_of_an_empty_queue_the_oldest_message_is_of_now(oldest):
    assert oldest(NOW) == NOW


@pytest.mark.parametrize("how", ["visible", "delayed", "in flight"])
def test_a_queue_without_a_metric_tells_nothing(aws_world, oldest, new_task, how):
    """Also when all that it holds cannot be received now."""
    if how == "in flight":
        in_hand(aws_world, new_task, 1)
    else:
        delay = 900 if how == "delayed" else 0
        aws_world.queue.send([Outgoing(new_task().pointer, delay=delay)])
    assert oldest(NOW) is None


def test_once_the_queue_is_empty_again_it_is_known(aws_world, oldest, new_task):
    receipts = in_hand(aws_world, new_task, 2)
    assert oldest(NOW) is None
    aws_world.queue.acknowledge(receipts)
    assert oldest(NOW) == NOW


class Metric:
    """A CloudWatch client with these ages, in seconds, one a minute."""

    def __init__(self, *ages):
        self.ages = ages
        self.request = {}

    def get_metric_statistics(self, **request):
        self.request = request
        return {"Datapoints": [{"Maximum": float(age)} for age in self.ages]}


class Counts:
    """An SQS client that says how many messages there are."""

    def __init__(self, *counts):
        self.counts = counts

    def get_queue_attributes(self, QueueUrl, AttributeNames):  # noqa: N803 - botocore's names
        counts = [str(count) for count in self.counts]
        return {"Attributes": dict(zip(AttributeNames, counts, strict=True))}


URL = "https://sqs.us-east-1.amazonaws.com/123456789012/minutero-tasks"


@pytest.mark.parametrize(
    ("ages", "oldest"),
    [((0,), 0), ((90,), 90), ((90, 150.5, 30), 150.5), ((3_600, 0), 3_600)],
)
def test_the_largest_age_of_the_last_minutes_counts(ages, oldest):
    found = OldestMessage(Counts(0, 1, 0), Metric(*ages), URL)(NOW)
    assert found == NOW - int(oldest * SECOND)


def test_the_metric_is_asked_for_this_queue_and_the_last_minutes():
    metric = Metric(1)
    OldestMessage(Counts(1, 0, 0), metric, URL)(NOW)
    request = metric.request
    assert (request["Namespace"], request["MetricName"]) == (
        "AWS/SQS",
        "ApproximateAgeOfOldestMessage",
    )
    assert request["Dimensions"] == [{"Name": "QueueName", "Value": "minutero-tasks"}]
    assert request["EndTime"].timestamp() * SECOND == NOW
    assert (request["EndTime"] - request["StartTime"]).total_seconds() * SECOND == LOOK_BACK
    assert request["Statistics"] == ["Maximum"]


def test_an_empty_queue_asks_for_no_metric():
    metric = Metric(99)
    assert OldestMessage(Counts(0, 0, 0), metric, URL)(NOW) == NOW
    assert metric.request == {}


@pytest.mark.parametrize("service", ["sqs", "cloudwatch"])
def test_without_an_answer_nothing_is_known(
    moto_world, new_task, cloudwatch, monkeypatch, caplog, service
):
    parts = {"sqs": moto_world.sqs, "cloudwatch": cloudwatch(None)}
    moto_world.queue.send([Outgoing(new_task().pointer)])

    def fails(*_):
        raise ClientError({"Error": {"Code": "AccessDenied"}}, "?")

    monkeypatch.setattr(parts[service], "_make_api_call", fails)
    oldest = OldestMessage(parts["sqs"], parts["cloudwatch"], moto_world.queue_urls[0])
    assert oldest(NOW) is None
    assert "is not known" in caplog.text
