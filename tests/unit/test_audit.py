"""The second look at settled buckets: it repairs what should never happen."""

import pytest
from faults import ProcessDied, fails_all, is_down, process_dies, works
from world import NOW, World

from minutero.domain.buckets import parse_bucket
from minutero.domain.exchanged import Page
from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.task import State, first_place, task_id_from


def behind(world, ms=NOW, shard=0, random=b"0123456789a"):
    """A scheduled task behind the watermark: what should never happen."""
    task = world.add(after=400 * DAY)
    task_id = task_id_from(ms, shard, random)
    lost = type(task)(
        task_id, 0, first_place(task_id), "echo", run_at=ms, created_at=ms, keep_until=0
    )
    world.memory.tasks.put(lost)
    return lost


def settle(world, after):
    """Time passes, and everything is settled."""
    world.clock.advance(after)
    world.tick()
    world.store.calls.clear()


def audit(world, enough=MINUTE):
    shards = sorted(world.memory.cursors.cursors)
    return world.auditor.audit(shards, world.clock.now() + enough)


def visited(world):
    return [(parse_bucket(args[0])[0] - NOW) // MINUTE for args in world.store.called("page")]


def test_a_new_deployment_has_nothing_to_look_at(world):
    assert audit(World()).buckets == 0
    world.tick()
    world.clock.advance(-2 * HOUR)
    assert audit(world).buckets == 0


def test_each_settled_bucket_is_looked_at_an_hour_and_a_day_after_it(world):
    world.tick()
    settle(world, 2 * DAY)
    audit(world)
    first = -60  # the shard began at -61
    assert visited(world) == [
        *range(first, 2 * 24 * 60 - 60 + 1),
        *range(first, 24 * 60 + 1),
    ]


def test_a_look_goes_on_where_it_was(world):
    world.tick()
    settle(world, 2 * HOUR)
    assert audit(world).buckets == 121
    assert audit(world).buckets == 0
    settle(world, 3 * MINUTE)
    assert audit(world).buckets == 3
    assert visited(world) == [61, 62, 63]


def test_no_bucket_ahead_of_the_watermark_is_looked_at(world):
    world.tick()
    world.clock.advance(3 * HOUR)
    world.store.calls.clear()
    audit(world)
    assert max(visited(world)) == -6, "settled up to there"


def test_a_task_behind_the_watermark_is_claimed_sent_and_counted(world):
    world.tick()
    settle(world, 2 * HOUR)
    lost = behind(world)
    report = audit(world)
    assert (report.tally.claimed, report.tally.sent) == (1, 1)
    assert world.stored(lost).state is State.CLAIMED
    assert world.open_claims() == []
    world.work()
    assert [task_id for task_id, _, _ in world.runs] == [lost.task_id]
    assert audit(world).tally.claimed == 0


def test_the_second_look_finds_what_came_after_the_first(world):
    world.tick()
    settle(world, 2 * HOUR)
    audit(world)
    lost = behind(world)
    assert audit(world).tally.claimed == 0
    settle(world, 23 * HOUR)
    assert audit(world).tally.claimed == 1
    assert world.stored(lost).state is State.CLAIMED


def test_a_sound_deployment_needs_no_repair(world):
    for minutes in range(30):
        world.add(after=minutes * MINUTE)
    world.play(minutes=31)
    settle(world, 2 * DAY)
    report = audit(world)
    assert report.buckets > 3000
    assert (report.tally.claimed, report.tally.buried, report.unavailable) == (0, 0, [])


def test_an_unreadable_row_is_buried(world):
    world.tick()
    settle(world, 2 * HOUR)
    bucket = world.bucket(NOW)
    world.memory.tasks.put(behind(world))

    def with_a_bad_row(real, name, after=None):
        page = real(name, after)
        bad = ("99#bad",) if name == bucket else ()
        return Page(page.scheduled, page.open_claims, bad, page.next)

    world.store.always("page", with_a_bad_row)
    assert audit(world).tally.buried == 1
    assert "99#bad" in world.memory.tasks.letters


def test_a_bucket_of_many_pages_is_repaired_whole():
    world = World(page=3)
    world.tick()
    settle(world, 2 * HOUR)
    for number in range(10):
        behind(world, random=b"0123456789" + bytes([number]))
    assert audit(world).tally.sent == 10


def test_an_audit_stops_at_its_deadline_and_goes_on_later(world):
    world.tick()
    settle(world, 2 * HOUR)

    def slow(real, bucket, after=None):
        world.clock.advance(SECOND)
        return real(bucket, after)

    world.store.always("page", slow)
    assert audit(world, enough=50 * SECOND).buckets == 50
    world.store.heal()
    assert audit(world).buckets == 71
    assert visited(world) == list(range(-60, 61))


def test_an_audit_without_time_does_nothing(world):
    world.tick()
    settle(world, 2 * HOUR)
    assert audit(world, enough=0).buckets == 0
    assert world.cursors.names("audited") == []


def test_a_broken_shard_does_not_stop_the_others_and_is_looked_at_again():
    world = World(shards=2)
    world.tick()
    settle(world, 2 * HOUR)

    def shard_zero_is_down(real, bucket, after=None):
        return (is_down if bucket.endswith("#00") else works)(real, bucket, after)

    world.store.always("page", shard_zero_is_down)
    report = audit(world)
    assert report.buckets == 121
    assert report.unavailable == ["shard 0: down"]
    world.store.heal()
    assert audit(world).buckets == 121


@pytest.mark.parametrize("fault", [fails_all, is_down, process_dies])
def test_a_repair_whose_send_failed_is_not_lost(world, fault):
    """No tick ever comes here again: what an audit began, an audit must end."""
    world.tick()
    settle(world, 2 * HOUR)
    lost = behind(world)
    world.queue.always("send", fault)
    try:
        audit(world, enough=SECOND)
    except ProcessDied:
        assert fault is process_dies
    assert world.stored(lost).state is State.CLAIMED
    world.queue.heal()
    for _ in range(3):
        settle(world, 5 * MINUTE)
        audit(world)
    assert world.waiting_ids() == [lost.task_id]
    assert world.open_claims() == []


# --- messages that are gone


def message_gone(world, count=1):
    """Tasks that were claimed and sent, and whose messages nobody has any more."""
    tasks = [world.add() for _ in range(count)]
    while world.memory.queue.receive(world.clock.now()) is not None:
        pass
    world.queue.calls.clear()
    return tasks


def test_a_task_whose_message_is_gone_is_sent_again_and_counted(world):
    world.tick()
    [task] = message_gone(world)
    settle(world, 2 * HOUR)
    assert audit(world).sent_again == 1
    world.work()
    assert [task_id for task_id, _, _ in world.runs] == [task.task_id]


def test_many_are_sent_again_in_batches_the_queue_takes(world):
    world.tick()
    tasks = message_gone(world, 25)
    settle(world, 2 * HOUR)
    assert audit(world).sent_again == 25
    assert [len(messages) for [messages] in world.queue.called("send")] == [10, 10, 5]
    assert sorted(world.waiting_ids()) == sorted(task.task_id for task in tasks)


def test_what_the_queue_does_not_take_is_sent_again_by_a_later_audit(world):
    world.tick()
    [task] = message_gone(world)
    settle(world, 2 * HOUR)
    world.queue.always("send", fails_all)
    assert audit(world).sent_again == 0
    world.queue.heal()
    settle(world, 5 * MINUTE)
    assert audit(world).sent_again == 1
    assert world.waiting_ids() == [task.task_id]


def test_a_message_that_may_still_wait_in_the_queue_is_not_sent_again(world):
    """After an outage of the worker the queue is long: its oldest message tells."""
    world.tick()
    message_gone(world)
    settle(world, 2 * HOUR)
    world.oldest_message = lambda now: NOW + 15 * MINUTE
    assert audit(world).sent_again == 0
    assert world.queue.calls == []


def test_while_the_age_of_the_queue_is_not_known_nothing_is_sent_again(world):
    world.tick()
    message_gone(world)
    settle(world, 2 * HOUR)
    world.oldest_message = lambda now: None
    assert audit(world).sent_again == 0


@pytest.mark.parametrize("state", ["succeeded", "retrying", "cancelled"])
def test_a_task_that_shows_a_run_is_not_sent_again(world, state):
    def fails(payload, run):
        raise ValueError

    world.tick()
    if state == "retrying":
        world.job("echo", fails)
    task = world.add()
    if state == "cancelled":
        world.cancel(task.task_id)
    world.work()
    assert world.status(task) == state
    settle(world, 2 * HOUR)
    assert audit(world).sent_again == 0


def test_what_is_claimed_is_looked_at_once(world):
    """The second look, a day later, is for what is scheduled."""
    world.tick()
    message_gone(world)
    settle(world, 2 * HOUR)
    world.oldest_message = lambda now: None
    audit(world)
    world.oldest_message = lambda now: now
    settle(world, 2 * DAY)
    assert audit(world).sent_again == 0


def test_all_pages_of_what_is_claimed_are_looked_at():
    world = World(page=4)
    world.tick()
    tasks = message_gone(world, 11)
    settle(world, 2 * HOUR)
    assert audit(world).sent_again == 11
    assert sorted(world.waiting_ids()) == sorted(task.task_id for task in tasks)


def test_a_message_the_queue_does_not_take_is_not_counted_as_sent(world):
    world.tick()
    message_gone(world, 3)
    settle(world, 2 * HOUR)
    world.queue.always("send", fails_all)
    assert audit(world).sent_again == 0


def test_the_ledger_is_asked_for_no_more_runs_than_it_takes(world):
    world.tick()
    tasks = message_gone(world, 205)
    settle(world, 2 * HOUR)
    assert audit(world).sent_again == len(tasks)
    asked = [run_ids for [run_ids] in world.ledger.called("known")]
    assert [len(run_ids) for run_ids in asked] == [100, 100, 5]
    assert {run_id for run_ids in asked for run_id in run_ids} == {task.run_id for task in tasks}


def test_the_queues_age_is_not_asked_for_when_every_task_shows_a_run(world):
    world.tick()
    world.add()
    world.work()
    settle(world, 2 * HOUR)
    world.oldest_message = lambda now: pytest.fail("asked")
    assert audit(world).sent_again == 0
