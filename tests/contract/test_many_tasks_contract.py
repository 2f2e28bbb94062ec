"""Many tasks in one call: written in batches, and listed for people."""

import json
from itertools import pairwise

import pytest
from botocore.exceptions import ConnectTimeoutError
from worlds import KEEP, NOW, key_of

from minutero.aws import stored_tasks
from minutero.aws.batches import TRIES
from minutero.domain.exchanged import Move
from minutero.domain.instants import HOUR, MINUTE, SECOND
from minutero.domain.new_task import PAYLOAD_LIMIT
from minutero.domain.task import OpenClaim, State
from minutero.errors import Unavailable

LARGE = '{"text":"' + "x" * 2_000 + '"}'
MINUTE_START = NOW - NOW % MINUTE
LOST = ConnectTimeoutError(endpoint_url="http://dynamodb")


# --- put_many


def test_many_tasks_come_back_as_they_were_put(world, new_task):
    tasks = [
        new_task(
            run_at=NOW + n * SECOND,
            shard=n % 3,
            payload=LARGE if n % 2 else '{"n": 1.10, "s": "ñ\\u0000"}',
            large=bool(n % 2),
            tenant="acme" if n % 3 else "",
            expires_after_seconds=600 if n % 5 else None,
        )
        for n in range(60)
    ]
    assert world.tasks.put_many(tasks) == [True] * 60
    assert [world.tasks.get(task.place) for task in tasks] == tasks


def test_of_no_tasks_none_is_put(world):
    assert world.tasks.put_many([]) == []


def test_a_task_of_many_is_the_item_that_one_alone_is(aws_world, new_task):
    task = new_task(
        payload=LARGE, large=True, tenant="acme", expires_after_seconds=600, max_attempts=7
    )
    keys = [("payload", f"payload#{task.task_id}"), (task.place.sk, task.place.bucket)]

    def items():
        table = aws_world.tables.names.tasks
        asked = [{"bucket": {"S": bucket}, "sk": {"S": sk}} for sk, bucket in keys]
        return [aws_world.tables.client.get_item(TableName=table, Key=key)["Item"] for key in asked]

    aws_world.tasks.put(task)
    alone = items()
    aws_world.tasks.put_many([task])
    assert items() == alone
    assert {item["expires_at"]["N"] for item in alone} == {str(KEEP)}


def test_putting_many_again_is_putting_them_once(world, new_task):
    tasks = [new_task(payload="1"), new_task(payload=LARGE, large=True)]
    assert world.tasks.put_many(tasks) == [True, True]
    assert world.tasks.put_many(tasks) == [True, True]
    assert world.tasks.get_many([task.pointer for task in tasks]) == {t.place: t for t in tasks}


class Batches:
    """Stands before BatchWriteItem; the rest goes on. `leave(requests, puts)` says how many puts of a request
    stay undone, from its end; an exception is raised. `requests` holds the puts of each."""

    def __init__(self, world, monkeypatch, leave=lambda _number, _puts: 0):
        self._real = world.tables.client._make_api_call
        self._clock = world.tasks._clock
        self._leave = leave
        self.requests = []
        self.times = []
        monkeypatch.setattr(world.tables.client, "_make_api_call", self._call)

    def _call(self, operation, request):
        if operation != "BatchWriteItem":
            return self._real(operation, request)
        [(table, puts)] = request["RequestItems"].items()
        self.requests.append(puts)
        self.times.append(self._clock.now())
        left = self._leave(len(self.requests), puts)
        if isinstance(left, Exception):
            raise left
        done, undone = puts[: len(puts) - left], puts[len(puts) - left :]
        if done:
            self._real(operation, {"RequestItems": {table: done}})
        return {"UnprocessedItems": {table: undone} if undone else {}}

    def sizes(self):
        return [len(puts) for puts in self.requests]

    def kinds(self):
        """Of each request, whether it was of payloads."""
        return [
            {put["PutRequest"]["Item"]["sk"]["S"] == "payload" for put in puts}
            for puts in self.requests
        ]


@pytest.mark.parametrize(
    ("tasks", "large", "sizes"),
    [(1, 0, [1]), (25, 0, [25]), (60, 0, [25, 25, 10]), (25, 3, [3, 25]), (25, 25, [20, 5, 25])],
)
def test_a_request_holds_what_dynamodb_takes(
    moto_world, new_task, monkeypatch, tasks, large, sizes
):
    batches = Batches(moto_world, monkeypatch)
    made = [new_task(payload=LARGE if n < large else "1", large=n < large) for n in range(tasks)]
    assert moto_world.tasks.put_many(made) == [True] * tasks
    assert batches.sizes() == sizes


def test_the_payloads_are_written_before_their_tasks(moto_world, new_task, monkeypatch):
    batches = Batches(moto_world, monkeypatch)
    moto_world.tasks.put_many([new_task(payload=LARGE, large=True) for _ in range(30)])
    assert batches.kinds() == [{True}, {True}, {False}, {False}]


def test_the_longest_payloads_fit_a_request(moto_world, new_task, monkeypatch):
    longest = '"' + "ñ" * (PAYLOAD_LIMIT // 2 - 1) + '"'
    sent = []

    def measure(_operation, request):
        sent.append(len(json.dumps(request)))
        return {"UnprocessedItems": {}}

    monkeypatch.setattr(moto_world.tables.client, "_make_api_call", measure)
    tasks = [new_task(payload=longest, large=True) for _ in range(stored_tasks.LARGE_PUTS)]
    assert moto_world.tasks.put_many(tasks) == [True] * len(tasks)
    assert 15_000_000 < max(sent) < 16 * 1024 * 1024


def test_what_was_left_unwritten_is_asked_for_again_after_growing_pauses(
    moto_world, new_task, monkeypatch
):
    batches = Batches(moto_world, monkeypatch, lambda _number, puts: len(puts) - 1)
    tasks = [new_task() for _ in range(4)]
    assert moto_world.tasks.put_many(tasks) == [True] * 4
    assert batches.sizes() == [4, 3, 2, 1]
    pauses = [later - before for before, later in pairwise(batches.times)]
    assert pauses[0] > 0
    assert pauses == sorted(set(pauses))
    assert [moto_world.tasks.get(task.place) for task in tasks] == tasks


def test_what_stays_unwritten_is_put_alone(moto_world, new_task, monkeypatch):
    batches = Batches(moto_world, monkeypatch, lambda number, _puts: 1 if number <= TRIES else 0)
    tasks = [new_task() for _ in range(30)]
    assert moto_world.tasks.put_many(tasks) == [True] * 30
    assert batches.sizes() == [25, 1, 1, 1, 1, 5]
    assert [moto_world.tasks.get(task.place) for task in tasks] == tasks


def test_a_batch_without_an_answer_is_made_once_and_its_tasks_are_put_alone(
    moto_world, new_task, monkeypatch
):
    batches = Batches(moto_world, monkeypatch, lambda number, _puts: LOST if number == 2 else 0)
    tasks = [new_task() for _ in range(60)]
    assert moto_world.tasks.put_many(tasks) == [True] * 60
    assert batches.sizes() == [25, 25, 10]
    assert [moto_world.tasks.get(task.place) for task in tasks] == tasks


def test_a_task_that_was_claimed_before_its_answer_got_lost_stays_claimed(
    moto_world, new_task, monkeypatch
):
    """Its batch, made again, would have it wait once more: without a guard it writes over what is there."""
    task = new_task()

    def claim_meanwhile(_number, _puts):
        moto_world.tasks.put(task)
        assert moto_world.tasks.mark_sent(task.place, "near", NOW)
        return LOST

    Batches(moto_world, monkeypatch, claim_meanwhile)
    assert moto_world.tasks.put_many([task]) == [True]
    assert moto_world.tasks.get(task.place).state is State.CLAIMED


def test_tasks_are_in_doubt_from_the_first_without_an_answer_on(moto_world, new_task, monkeypatch):
    batches = Batches(moto_world, monkeypatch, lambda number, _puts: LOST if number == 2 else 2)
    put = moto_world.tasks.put
    tasks = [new_task() for _ in range(5)]

    def put_but_the_last(task):
        if task is tasks[4]:
            raise Unavailable("down")
        put(task)

    monkeypatch.setattr(moto_world.tasks, "put", put_but_the_last)
    assert moto_world.tasks.put_many(tasks) == [True] * 4 + [False]
    assert batches.sizes() == [5, 2]


@pytest.mark.parametrize("left", [1, LOST], ids=["unprocessed", "no answer"])
def test_a_task_whose_payload_may_be_missing_is_not_written(
    moto_world, new_task, monkeypatch, left
):
    """It would be a task that cannot run."""
    Batches(
        moto_world,
        monkeypatch,
        lambda _number, puts: left if puts[0]["PutRequest"]["Item"]["sk"]["S"] == "payload" else 0,
    )
    small, large = new_task(payload="1"), new_task(payload=LARGE, large=True)
    assert moto_world.tasks.put_many([large, small]) == [False, True]
    assert moto_world.tasks.get(large.place) is None
    assert moto_world.tasks.get(small.place) == small


# --- put_many_keyed


def keyed(tasks, body_hash="b" * 64):
    return [(task, key_of(task, body_hash)) for task in tasks]


def test_many_keys_are_registered_with_their_tasks(world, new_task):
    tasks = [
        new_task(key=f"k{n}", tenant="acme", payload=LARGE if n % 5 == 0 else "1", large=n % 5 == 0)
        for n in range(25)
    ]
    assert world.tasks.put_many_keyed(keyed(tasks), NOW) == [None] * 25
    assert [world.tasks.get(task.place) for task in tasks] == tasks
    for task, key in keyed(tasks):
        assert world.tasks.get_key("acme", task.key, NOW) == key


def test_of_no_keys_none_is_registered(world):
    assert world.tasks.put_many_keyed([], NOW) == []


def test_taken_keys_tell_their_holders_and_spoil_no_other(world, new_task):
    before = [new_task(key=f"k{n}") for n in (1, 3, 4)]
    world.tasks.put_many_keyed(keyed(before), NOW)
    tasks = [new_task(key=f"k{n}", payload=LARGE, large=True) for n in range(6)]
    ends = world.tasks.put_many_keyed(keyed(tasks, "c" * 64), NOW)
    holders = {task.key: key for task, key in keyed(before)}
    assert ends == [holders.get(task.key) for task in tasks]
    for task, holder in zip(tasks, ends, strict=True):
        assert world.tasks.get(task.place) == (task if holder is None else None)
    again = world.tasks.put_many_keyed(keyed([new_task(key=f"k{n}") for n in range(6)]), NOW)
    assert [holder.task_id for holder in again] == [
        (holder.task_id if holder else task.task_id)
        for task, holder in zip(tasks, ends, strict=True)
    ]


def test_ones_own_keys_in_the_way_mean_stored(world, new_task):
    tasks = [new_task(key=f"k{n}") for n in range(4)]
    world.tasks.put_many_keyed(keyed(tasks[:2]), NOW)
    assert world.tasks.put_many_keyed(keyed(tasks), NOW + 1) == [None] * 4
    assert [world.tasks.get(task.place) for task in tasks] == tasks


def test_many_keys_are_asked_for_in_one_transaction_and_again_without_those_that_are_taken(
    moto_world, new_task, monkeypatch
):
    moto_world.tasks.put_many_keyed(keyed([new_task(key="k1"), new_task(key="k7")]), NOW)
    real, sizes = moto_world.tables.client._make_api_call, []

    def see(operation, request):
        if operation == "TransactWriteItems":
            sizes.append(len(request["TransactItems"]))
        return real(operation, request)

    monkeypatch.setattr(moto_world.tables.client, "_make_api_call", see)
    moto_world.tasks.put_many_keyed(keyed([new_task(key=f"k{n}") for n in range(25)]), NOW)
    assert sizes == [50, 46]


# --- page_tasks


def put_all(world, tasks):
    assert all(world.tasks.put_many(tasks))
    return sorted(tasks, key=lambda task: task.place.sk)


def listed(world, bucket, after="", job="", most=100):
    """All pages of a bucket from there on: the tasks, and the position behind each page."""
    found, positions = [], [after]
    while after is not None:
        tasks, after = world.tasks.page_tasks(bucket, after, job, most)
        found += tasks
        assert after is None or after > positions[-1], "a list must get on"
        positions.append(after)
    return found, positions[1:]


def test_an_empty_bucket_lists_nothing(world):
    assert listed(world, "2026-11-29T20:21Z#03") == ([], [None])


def test_the_tasks_of_a_bucket_are_listed_whole_and_in_due_order(world, new_task):
    seconds = [41, 7, 59, 0, 30]
    tasks = [
        new_task(
            MINUTE_START + s * SECOND,
            payload='{"n":1}',
            tenant="acme",
            max_attempts=7,
            expires_after_seconds=600,
        )
        for s in seconds
    ]
    in_order = put_all(world, tasks)
    put_all(world, [new_task(shard=4), new_task(run_at=NOW + MINUTE)])
    found, _ = listed(world, tasks[0].place.bucket)
    assert found == in_order
    assert [task.run_at for task in found] == sorted(task.run_at for task in tasks)


def test_tasks_are_listed_whatever_became_of_them(world, new_task):
    waiting, taken, cancelled = put_all(world, [new_task() for _ in range(3)])
    world.tasks.mark_sent(taken.place, "near", NOW)
    world.tasks.cancel(cancelled, NOW, KEEP, NOW)
    found, _ = listed(world, waiting.place.bucket)
    assert [task.state for task in found] == [State.SCHEDULED, State.CLAIMED, State.CANCELLED]
    assert found[1] == taken.claimed("near", NOW)


def test_neither_addresses_nor_open_claims_are_listed(world, new_task):
    stays, leaves = put_all(world, [new_task(), new_task()])
    bucket = stays.place.bucket
    world.tasks.open_claim(OpenClaim(bucket, "c1", NOW))
    move = Move(leaves, leaves.moved(NOW + HOUR, NOW, HOUR), "t", NOW, KEEP, NOW)
    assert world.tasks.move(move) is None
    assert listed(world, bucket)[0] == [stays]
    assert listed(world, move.to.place.bucket)[0] == [move.to]


def test_a_large_payload_is_left_out_of_a_list(world, new_task):
    (task,) = put_all(world, [new_task(payload=LARGE, large=True)])
    ((found,), _) = listed(world, task.place.bucket)
    assert (found.task_id, found.large, found.payload) == (task.task_id, True, None)


def test_one_job_may_be_asked_for(world, new_task):
    tasks = put_all(world, [new_task(job="echo" if n % 2 else "other") for n in range(6)])
    bucket = tasks[0].place.bucket
    assert listed(world, bucket, job="echo")[0] == [task for task in tasks if task.job == "echo"]
    assert listed(world, bucket, job="nobody's")[0] == []


@pytest.mark.parametrize("most", [1, 2, 4, 9, 10])
def test_the_pages_of_a_list_hold_each_task_once(world, new_task, most):
    tasks = put_all(world, [new_task(MINUTE_START + n * SECOND) for n in range(9)])
    bucket = tasks[0].place.bucket
    for claim_id in ("c1", "c2"):
        world.tasks.open_claim(OpenClaim(bucket, claim_id, NOW))
    found, positions = listed(world, bucket, most=most)
    assert found == tasks
    full = [task.place.sk for task in tasks[most - 1 :: most]]
    # Whether a page that ends with the last task knows it, is the store's to say.
    assert positions in ([*full, None], [*full[:-1], None])


def test_a_page_ends_where_it_has_looked_and_not_where_it_has_found(world, new_task):
    """Else a list of a rare job would read a whole bucket for one page."""
    tasks = put_all(world, [new_task(job="rare" if n == 8 else "echo") for n in range(9)])
    rare = [task for task in tasks if task.job == "rare"]
    bucket = tasks[0].place.bucket
    page, position = world.tasks.page_tasks(bucket, "", "rare", 3)
    assert (list(page), position) == ([one for one in rare if one in tasks[:3]], tasks[2].place.sk)
    assert listed(world, bucket, job="rare", most=3)[0] == rare


def test_a_list_goes_on_after_any_text(world, new_task):
    """The shards of a minute are listed side by side, so it may be a sort key of another bucket."""
    tasks = put_all(world, [new_task(MINUTE_START + n * SECOND) for n in range(9)])
    bucket = tasks[0].place.bucket
    elsewhere = new_task(MINUTE_START + 4 * SECOND, shard=9)
    for after in (elsewhere.place.sk, "04", tasks[3].place.sk, "05#", "04#~", "5", "~", "ñ"):
        expected = [task for task in tasks if task.place.sk > after]
        assert listed(world, bucket, after)[0] == expected, after


def test_no_list_asks_for_a_stretch_that_ends_before_it_begins(moto_world, monkeypatch):
    """DynamoDB refuses a BETWEEN whose bounds are the wrong way round; no emulator does."""
    real, bounds = moto_world.tables.client._make_api_call, []

    def see(operation, request):
        values = request["ExpressionAttributeValues"]
        bounds.append((values[":first"]["S"], values[":last"]["S"]))
        return real(operation, request)

    monkeypatch.setattr(moto_world.tables.client, "_make_api_call", see)
    for after in ("", "07", "}", "~", "~00000000000001#c1", "ñ"):
        assert listed(moto_world, "2026-11-29T20:21Z#03", after) == ([], [None])
    assert len(bounds) == 3
    assert all(first <= last for first, last in bounds)


def test_rows_that_make_no_sense_do_not_stop_a_list(aws_world, new_task):
    sound, broken = new_task(), new_task()
    aws_world.tasks.put(sound)
    bucket, table = sound.place.bucket, aws_world.tables.names.tasks
    for sk in ("00", "07#nothing#0000", broken.place.sk, "~", "~soon"):
        row = {"bucket": {"S": bucket}, "sk": {"S": sk}}
        aws_world.tables.client.put_item(TableName=table, Item=row)
    found, _ = listed(aws_world, bucket, most=2)
    assert {task.task_id for task in found} == {sound.task_id, broken.task_id}
    (told,) = [task for task in found if task.task_id == broken.task_id]
    assert told.job == ""
    assert listed(aws_world, bucket, job="echo", most=2)[0] == [sound]
