"""What went wrong for others, of ticks and messages. docs/field-reports.md lists the reports."""

import json
import sys

import pytest
from faults import ProcessDied, process_dies
from world import NOW, World

from minutero.aws.queue import encode_message
from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.task import State
from minutero_cli.terminal import printable, printable_json

# --- ticks


@pytest.mark.parametrize(
    "ticks",
    [
        [4, 9, 17],
        [0, 0],
        [0, 59, 60, 60, 119],
        [58, 130, 131],
    ],
    ids=str,
)
def test_each_task_is_sent_once_whatever_the_ticks(ticks):
    """B084: EventBridge's ticks are irregular, and come twice."""
    world = World(shards=2)
    tasks = [world.add(after=4 * MINUTE + n * 10 * SECOND) for n in range(18)]
    for second in [*ticks, 180, 240]:
        world.clock.set(NOW + second * SECOND)
        world.tick(owner=f"dispatcher-{second}")
    assert sorted(world.waiting_ids()) == sorted(task.task_id for task in tasks)


def test_of_one_tick_delivered_twice_at_once_the_second_claims_nothing():
    """B085"""
    world = World()
    tasks = [world.add_crashed() for _ in range(40)]
    second = []

    def delivered_again(real, places, claim_id, at, taken_from=None):
        if not second:
            second.append(None)
            second[0] = world.tick(owner="dispatcher-2")[0].tally
        return real(places, claim_id, at, taken_from)

    world.store.always("claim", delivered_again)
    first = world.tick()[0].tally
    assert (first.sent, second[0].claimed, second[0].sent) == (40, 0, 0)
    assert sorted(world.waiting_ids()) == sorted(task.task_id for task in tasks)


def half_of_them(real, places, claim_id, at, taken_from=None):
    """The process ends with half of its batch claimed."""
    assert real(places[: len(places) // 2], claim_id, at, taken_from)
    raise ProcessDied


def test_a_bucket_that_was_claimed_by_half_is_served_whole_however_often_its_tick_is_repeated():
    """B086: Lambda calls twice again by itself."""
    world = World()
    tasks = [world.add_crashed() for _ in range(20)]
    world.store.next("claim", half_of_them, half_of_them, half_of_them)
    for attempt in range(3):
        world.clock.set(NOW + attempt * 91 * SECOND)
        with pytest.raises(ProcessDied):
            world.tick(owner=f"dispatcher-{attempt}")
    world.clock.advance(2 * MINUTE)
    world.play(minutes=8)
    assert sorted(task_id for task_id, _, _ in world.runs) == sorted(t.task_id for t in tasks)
    assert world.open_claims() == []


def test_a_dispatcher_that_was_killed_stops_its_own_shard_for_as_long_as_its_leases():
    """B089"""
    world = World(shards=3)
    tasks = [world.add_crashed() for _ in range(30)]
    world.queue.next("send", process_dies)
    with pytest.raises(ProcessDied):
        world.tick()
    claimed = [one for one in tasks if world.stored(one).state is State.CLAIMED]
    assert claimed
    others = [one for one in tasks if one not in claimed]
    world.tick(owner="dispatcher-2")
    assert sorted(world.waiting_ids()) == sorted(one.task_id for one in others)
    world.clock.advance(world.timing.claim_lease + SECOND)
    world.tick(owner="dispatcher-2")
    assert sorted(world.waiting_ids()) == sorted(one.task_id for one in tasks)


# --- messages


@pytest.mark.parametrize(
    "reason", ["", "\x00", "\ud800", "\u2028\uffff", "ñ 日本 🎉", "]]>\x1b[2J"]
)
def test_a_message_is_never_empty_and_ascii_alone(world, reason):
    """B156: emulators let pass what SQS refuses."""
    body = encode_message(world.add(tenant="acme").pointer, reason)
    assert body.isascii()
    assert body.isprintable()
    assert json.loads(body).get("reason", "") == reason


# --- what a person sees


@pytest.mark.parametrize("shown", [printable, printable_json])
def test_no_character_that_controls_a_terminal_or_ends_a_line_is_shown_as_it_is(shown):
    """B188: U+2028, NUL and all of their kind, whatever splits lines."""
    controls = [one for one in map(chr, range(sys.maxunicode + 1)) if not one.isprintable()]
    assert {"\x00", "\x1b", "\x85", "\u2028", "\u202e"} <= set(controls)
    told = shown(json.dumps("".join(controls), ensure_ascii=False))
    assert told.isprintable()
    assert len(told.splitlines()) == 1
