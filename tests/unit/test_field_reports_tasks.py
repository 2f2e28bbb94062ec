"""What went wrong for others, of tasks and their runs. docs/field-reports.md lists the reports."""

import json
import math
from collections import Counter

import pytest
from world import NOW

from minutero.domain import page_token
from minutero.domain.instants import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    parse_instant,
)
from minutero.domain.new_task import FURTHEST, NewTask, encode_payload, parse_json
from minutero.domain.run import Ending, succeeded
from minutero.domain.task import new_task_id, place_of
from minutero.domain.timing import Timing
from minutero.errors import InvalidInput

# --- what is stored


@pytest.mark.parametrize(
    "run_at",
    [
        "0001-01-01T00:00:00Z",
        "1970-01-01T00:00:00Z",
        "2019-06-01T00:00:00Z",
        "2036-11-28T00:00:00Z",
    ],
)
def test_what_dynamodb_shall_delete_is_dated_a_retention_ahead(world, run_at):
    """B071: it leaves alone what expired over five years ago, so such a row would stay for ever."""
    retention = world.timing.retention
    task = world.add_task(NewTask("echo", run_at=parse_instant(run_at), key=run_at), "h").task
    assert task.keep_until * SECOND >= NOW + retention - SECOND
    moved = task.moved(parse_instant("2019-06-01T00:00:00Z"), NOW + DAY, retention)
    assert moved.keep_until * SECOND >= NOW + DAY + retention - SECOND


@pytest.mark.parametrize(
    "text",
    [
        '{"price":30.4,"x":0.1,"big":1e+30}',
        '{"lat":33.10318374633789}',
        "[5e-324,1.7976931348623157e+308,-0.0,9007199254740993,0.30000000000000004]",
    ],
)
def test_a_number_of_a_payload_comes_back_as_it_went_in(text):
    """B134, B135: DynamoDB's numbers are decimals; a payload is kept as text."""
    assert encode_payload(parse_json(text)) == text


@pytest.mark.parametrize("size", [409_000, 420_000])
def test_a_payload_near_dynamodbs_own_limit_is_refused_by_ours(size):
    """B148: an item may have 400 KB."""
    with pytest.raises(InvalidInput) as refused:
        encode_payload("x" * size)
    assert refused.value.code == "payload_too_large"
    assert "262144" in refused.value.message


def test_the_tasks_of_one_second_are_spread_over_all_shards():
    """B140: one partition takes 1,000 writes a second, also on demand.

    A minute's tasks are claimed over the look-ahead, so 50,000 of one midnight need one write each of
    eight shards within three minutes.
    """
    ids = (new_task_id(NOW, 8) for _ in range(50_000))
    per_shard = Counter(place_of(task_id, 0, NOW).bucket for task_id in ids)
    assert len(per_shard) == 8
    assert max(per_shard.values()) < 1_000 * Timing().look_ahead // SECOND
    assert max(per_shard.values()) < 1.1 * 50_000 / 8


@pytest.mark.parametrize(
    "result", [math.nan, {"score": math.nan}, [math.inf], -math.inf, "\ud800", {1, 2}]
)
def test_a_result_that_is_no_json_is_dropped_and_the_run_has_succeeded(result):
    """B166: the job's work is done; running it again because of its answer would do it twice."""
    outcome = succeeded(result)
    assert (outcome.ending, outcome.result) == (Ending.SUCCEEDED, None)
    assert outcome.note.startswith("result dropped")


@pytest.mark.parametrize("letter", ["x", "\U0001f600"])
def test_the_longest_token_that_can_be_given_is_taken(letter):
    """B164: a position holds a sort key, which has up to 1,024 bytes."""
    sort_key = letter * (1_024 // len(letter.encode()))
    position = [NOW + FURTHEST, sort_key, NOW + FURTHEST]
    token = page_token.sign(position, {"list": "dead"}, b"secret")
    assert page_token.read(token, {"list": "dead"}, b"secret") == position


# --- claims under throttling, keys


def test_a_shard_that_is_throttled_is_gone_on_with_by_a_later_tick(world):
    """B141: quiet retries of a library show as lag only."""
    task = world.add(after=HOUR)
    world.clock.advance(HOUR - MINUTE)
    world.store.always("claim", lambda real, places, *rest: [None] * len(places))
    world.tick()
    assert world.waiting() == []
    world.store.heal()
    world.play(minutes=5)
    assert world.status(task) == "succeeded"


def test_two_calls_without_a_key_never_share_an_answer(world):
    """B127, B128: a key that comes out as nothing must not be everybody's key."""
    tasks = [
        world.add_task(NewTask("echo", payload=json.dumps(tenant), tenant=tenant), "h").task
        for tenant in ("acme", "umbrella", "acme")
    ]
    assert len({task.task_id for task in tasks}) == 3
    assert [world.stored(task).payload for task in tasks] == ['"acme"', '"umbrella"', '"acme"']


# --- cancel and reschedule


@pytest.mark.parametrize("first", [True, False], ids=["before the claim", "after it"])
def test_of_a_cancel_and_a_claim_at_one_moment_a_confirmed_cancel_wins(world, first):
    """B169: both saw "queued", and the run went on."""
    task = world.add(after=HOUR)
    world.clock.advance(HOUR - MINUTE)

    def cancelled_meanwhile(real, *args):
        if first:
            world.cancel(task.task_id)
        claimed = real(*args)
        if not first:
            world.cancel(task.task_id)
        return claimed

    world.store.next("claim", cancelled_meanwhile)
    world.play(minutes=3)
    assert world.status(task) == "cancelled"
    assert world.runs == []


def test_a_task_cancelled_while_its_message_waits_never_runs(world):
    """B170: the message is held back by `DelaySeconds`."""
    task = world.add(after=50 * SECOND)
    assert [message.delay for message in world.waiting()] == [50]
    world.clock.advance(20 * SECOND)
    world.cancel(task.task_id)
    world.play(minutes=2)
    assert (world.status(task), world.runs) == ("cancelled", [])
    assert world.record(task).attempts == 0


def test_cancelling_one_of_many_under_ticks_leaves_none_alive_and_no_other_harmed(world):
    """B171: thousands were cancelled under load, and some lived on."""
    tasks = [world.add(after=n * SECOND) for n in range(400)]
    gone, kept = tasks[::2], tasks[1::2]
    for n, task in enumerate(gone):
        if n % 20 == 0:
            world.tick()
        if n:  # the first may run before its turn comes
            world.cancel(task.task_id)
    world.play(minutes=8)
    ran = [task_id for task_id, _, _ in world.runs]
    assert sorted(ran) == sorted(task.task_id for task in [*kept, gone[0]])


@pytest.mark.parametrize("moved", [True, False], ids=["moved", "not moved"])
def test_a_task_moved_two_seconds_before_it_was_due_runs_once_at_its_new_time(world, moved):
    """B174: the message of the old time is on its way; it carries the old run and is dropped."""
    task = world.add(after=MINUTE)
    world.clock.advance(MINUTE - 2 * SECOND)
    if moved:
        world.move.reschedule(task.task_id, lambda now: NOW + HOUR + MINUTE)
    world.play(minutes=63)
    due = NOW + MINUTE + (HOUR if moved else 0)
    assert [(task_id, at) for task_id, _, at in world.runs] == [(task.task_id, due)]
