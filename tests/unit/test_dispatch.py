"""A tick: what it serves, in which order, and what it leaves to the next."""

import pytest
from faults import (
    ProcessDied,
    answers_unknown,
    fails_all,
    is_down,
    loses_its_answer,
    process_dies,
    refuses_all,
    works,
)
from world import NOW, World

from minutero.domain.exchanged import Page
from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.task import OpenClaim, Place, State


def settled_world(**more):
    """A world whose shards have a cursor, settled as far as can be."""
    world = World(**more)
    world.tick()
    for name in ("store", "queue", "cursors"):
        getattr(world, name).calls.clear()
    return world


@pytest.fixture
def world():
    return settled_world()


def visited(world):
    """The minutes whose buckets were read, in order, relative to NOW."""
    from minutero.domain.buckets import parse_bucket

    return [(parse_bucket(args[0])[0] - NOW) // MINUTE for args in world.store.called("page")]


# --- what is served


def test_what_is_due_within_the_look_ahead_is_claimed_and_sent_with_its_delay(world):
    task = world.add(after=4 * MINUTE - 1)
    assert world.tick()[0].tally.claimed == 1
    assert world.stored(task).state is State.CLAIMED
    [message] = world.waiting()
    assert (message.pointer, message.delay) == (task.pointer, 240)
    assert world.open_claims() == []


def test_what_is_due_later_is_left_alone(world):
    task = world.add(after=4 * MINUTE)
    assert world.tick()[0].tally.claimed == 0
    assert world.stored(task).state is State.SCHEDULED
    world.clock.advance(MINUTE)
    assert world.tick()[0].tally.claimed == 1


def test_a_task_runs_once_at_its_second_never_early(world):
    tasks = [world.add(after=9 * MINUTE + seconds * SECOND) for seconds in (0, 17, 59)]
    world.play(minutes=11)
    assert [(task_id, at - NOW) for task_id, _, at in world.runs] == [
        (task.task_id, task.run_at - NOW) for task in tasks
    ]
    assert all(world.status(task) == "succeeded" for task in tasks)


def test_tasks_are_sent_in_due_order(world):
    for seconds in (200, 30, 60, 0, 90, 59):
        world.add_crashed(after=seconds * SECOND)
    world.tick()
    dues = [
        message.pointer.due - NOW
        for [messages] in world.queue.called("send")
        for message in messages
    ]
    assert [due // SECOND for due in dues] == [0, 30, 59, 60, 90, 200]


def test_what_is_due_now_goes_before_the_backlog_and_the_backlog_goes_oldest_first(world):
    old = [world.add_crashed() for _ in range(1)]
    world.clock.advance(5 * MINUTE)
    less_old = world.add_crashed()
    world.clock.advance(10 * MINUTE)
    now = world.add_crashed()
    world.store.calls.clear()
    world.tick()
    assert world.waiting_ids() == [now.task_id, old[0].task_id, less_old.task_id]
    # From 2 minutes before now to 3 after, then from the watermark on.
    assert visited(world)[:6] == [13, 14, 15, 16, 17, 18]
    assert visited(world)[6] == -5
    assert sorted(set(visited(world))) == list(range(-5, 19))


def test_an_outage_is_caught_up_and_nothing_is_lost(world):
    tasks = []
    for _ in range(120):
        tasks.append(world.add_crashed())
        world.clock.advance(MINUTE)
    world.tick()
    world.work()
    assert sorted(task_id for task_id, _, _ in world.runs) == sorted(t.task_id for t in tasks)
    assert world.watermark() == world.clock.now() - 6 * MINUTE


def test_a_bucket_of_many_pages_is_served_whole():
    world = settled_world(page=7)
    tasks = [world.add(after=HOUR) for _ in range(60)]
    world.clock.advance(HOUR)
    report = world.tick()[0]
    assert (report.tally.claimed, report.tally.sent) == (60, 60)
    assert sorted(world.waiting_ids()) == sorted(task.task_id for task in tasks)
    assert world.open_claims() == []


def test_claims_and_messages_go_in_the_largest_batches(world):
    for _ in range(60):
        world.add(after=HOUR)
    world.clock.advance(HOUR)
    world.tick()
    assert [len(args[0]) for args in world.store.called("claim")] == [25, 25, 10]
    assert [len(args[0]) for args in world.queue.called("send")] == [10] * 6
    assert len(world.store.called("open_claim")) == 1


def test_claimed_tasks_are_not_claimed_again_by_the_next_tick(world):
    world.add(after=3 * MINUTE + 1)
    world.tick()
    assert world.tick()[0].tally.claimed == 0
    assert len(world.queue) == 1


def test_how_late_a_task_was_claimed_is_told(world):
    world.add_crashed()
    world.clock.advance(1500)
    assert world.tick()[0].tally.lateness_ms == [1500]


# --- the watermark


def test_a_new_shard_begins_before_any_task_can_lie_in_it():
    world = World(shards=2)
    world.tick()
    for shard in range(2):
        assert world.memory.cursors.cursors[shard].first_minute == NOW - 61 * MINUTE


def test_the_watermark_moves_over_settled_buckets_up_to_the_grace(world):
    assert world.watermark() == NOW - 6 * MINUTE
    world.clock.advance(MINUTE - 1)
    world.tick()
    assert world.watermark() == NOW - 6 * MINUTE
    world.clock.advance(1)
    report = world.tick()[0]
    assert world.watermark() == NOW - 5 * MINUTE
    assert report.lag_ms == 0


def test_a_bucket_whose_tasks_were_just_sent_is_settled_by_the_same_tick(world):
    world.add_crashed()
    world.clock.advance(20 * MINUTE)
    world.tick()
    assert world.watermark() == NOW + 14 * MINUTE


def test_a_failed_send_keeps_the_watermark_before_its_bucket_and_later_ones_are_served(world):
    stuck = world.add_crashed()
    world.clock.advance(2 * MINUTE)
    later = world.add_crashed()
    world.clock.advance(20 * MINUTE)
    failing = {stuck.task_id}

    def fails_some(real, messages):
        from minutero.domain.exchanged import Sent

        return [
            Sent.FAILED if message.pointer.task_id in failing else real([message])[0]
            for message in messages
        ]

    world.queue.always("send", fails_some)
    report = world.tick(enough=2 * SECOND)[0]
    assert world.watermark() == NOW - MINUTE
    assert world.waiting_ids() == []
    assert report.tally.left_open == 1
    assert report.lag_ms == 17 * MINUTE
    world.clock.advance(MINUTE)
    world.tick()
    assert world.waiting_ids() == [later.task_id], "served behind the bucket that is stuck"
    assert world.watermark() == NOW - MINUTE
    failing.clear()
    world.clock.advance(2 * MINUTE)
    world.tick()
    assert sorted(world.waiting_ids()) == sorted([later.task_id, stuck.task_id])
    assert world.watermark() == world.clock.now() // MINUTE * MINUTE - 6 * MINUTE


def test_an_open_claim_blocks_the_watermark_though_nothing_is_scheduled(world):
    bucket = world.bucket(NOW + MINUTE)
    world.clock.advance(20 * MINUTE)
    world.memory.tasks.open_claim(OpenClaim(bucket, "abc", world.clock.now()))
    world.tick()
    assert world.watermark() == NOW


def test_a_claim_opened_during_the_pass_over_its_bucket_blocks_the_watermark(world):
    """A query is no snapshot: the claims are asked for after the pass."""
    bucket = world.bucket(NOW + MINUTE)
    world.clock.advance(20 * MINUTE)

    def opened_meanwhile(real, name, after=None):
        page = real(name, after)
        if name == bucket:
            world.memory.tasks.open_claim(OpenClaim(bucket, "abc", world.clock.now()))
        return page

    world.store.always("page", opened_meanwhile)
    world.tick()
    assert world.watermark() == NOW


def test_a_task_added_during_a_tick_is_never_put_behind_the_watermark(world):
    added = []

    def adds_one(real, *args):
        if not added:
            added.append(None)
            added[0] = world.add_crashed(at=NOW)
        return real(*args)

    world.clock.advance(20 * MINUTE + 59 * SECOND)
    world.cursors.always("advance", adds_one)
    world.tick()
    world.cursors.heal()
    assert world.watermark() < added[0].run_at - 5 * MINUTE
    world.tick()
    assert world.stored(added[0]).state is State.CLAIMED


def test_the_watermark_is_saved_every_hour_of_a_long_catch_up(world):
    world.clock.advance(3 * HOUR)
    world.tick()
    saved = [((args[3] - NOW) // MINUTE, args[4] > 0) for args in world.cursors.called("advance")]
    assert saved == [(54, True), (114, True), (174, True), (174, False)]


def test_a_catch_up_that_dies_goes_on_where_it_had_saved(world):
    world.clock.advance(3 * HOUR)
    reads = []

    def dies_late(real, bucket, after=None):
        reads.append(bucket)
        if len(reads) > 100:
            raise ProcessDied
        return real(bucket, after)

    world.store.always("page", dies_late)
    with pytest.raises(ProcessDied):
        world.tick()
    assert world.watermark() == NOW + 54 * MINUTE
    world.store.heal()
    world.clock.advance(90 * SECOND + 1)
    world.tick(owner="dispatcher-2")
    assert world.watermark() == world.clock.now() // MINUTE * MINUTE - 6 * MINUTE


# --- what it costs


def test_an_idle_tick_writes_only_the_watermark(world):
    world.clock.advance(MINUTE)
    world.tick()
    assert {name for name, _ in world.cursors.calls} == {"get", "advance"}
    assert len(world.cursors.called("advance")) == 1
    assert {name for name, _ in world.store.calls} == {"page", "open_claims"}
    assert world.queue.calls == []


def test_a_tick_that_can_move_nothing_writes_nothing(world):
    world.tick()
    assert world.cursors.names("advance", "lease", "begin") == []


def test_reads_do_not_depend_on_the_number_of_future_tasks():
    def pages(tasks):
        world = settled_world(page=10)
        for _ in range(tasks):
            world.add(after=4 * MINUTE)
            world.add(after=30 * DAY)
        return world.tick()[0].pages_read

    assert pages(0) == pages(100) > 0


def test_a_tick_reads_each_bucket_once(world):
    world.clock.advance(MINUTE)
    report = world.tick()[0]
    assert visited(world) == [-1, 0, 1, 2, 3, 4, -5, -4, -3, -2]
    assert report.pages_read == 10


# --- time


def test_no_batch_is_begun_after_the_deadline(world):
    for _ in range(3):
        world.add_crashed()
        world.clock.advance(MINUTE)
    world.clock.advance(20 * MINUTE)
    sends = []

    def slow(real, messages):
        sends.append(messages)
        world.clock.advance(30 * SECOND)
        return real(messages)

    world.queue.always("send", slow)
    world.tick(enough=45 * SECOND)
    assert len(sends) == 2
    assert world.open_claims() == []
    assert world.memory.cursors.cursors[0].lease_owner == "", "the lease is given back"
    world.tick(enough=45 * SECOND)
    assert len(sends) == 3


def test_a_tick_without_time_claims_nothing_but_what_is_due_now_comes_first_next_time(world):
    task = world.add_crashed()
    world.tick(enough=0)
    assert world.stored(task).state is State.SCHEDULED
    world.tick()
    assert world.stored(task).state is State.CLAIMED


def test_unknown_answers_are_repeated_no_longer_than_the_deadline(world):
    world.add_crashed()
    world.store.always("claim", answers_unknown)
    world.tick(enough=10 * SECOND)
    assert NOW + 10 * SECOND <= world.clock.now() <= NOW + 11 * SECOND
    assert len(world.open_claims()) == 1


# --- leases


def test_a_shard_leased_to_another_is_left_to_it(world):
    world.memory.cursors.lease(0, "dispatcher-2", NOW, NOW + 90 * SECOND)
    task = world.add_crashed()
    assert "leased" in world.tick()[0].skipped
    assert world.stored(task).state is State.SCHEDULED
    assert world.store.names("page") == []


def test_a_lease_that_ran_out_is_taken_over(world):
    world.memory.cursors.lease(0, "dispatcher-2", NOW, NOW + 90 * SECOND)
    task = world.add_crashed()
    world.clock.advance(90 * SECOND)
    assert "leased" in world.tick()[0].skipped
    world.clock.advance(1)
    assert world.tick()[0].skipped == ""
    assert world.stored(task).state is State.CLAIMED


def test_the_lease_is_taken_with_the_first_work_and_given_back_at_the_end(world):
    leased = []

    def looks(real, messages):
        cursor = world.memory.cursors.cursors[0]
        leased.append((cursor.lease_owner, cursor.lease_until - world.clock.now()))
        return real(messages)

    world.add_crashed()
    world.queue.always("send", looks)
    world.tick()
    assert leased == [("dispatcher-1", 90 * SECOND)]
    assert world.memory.cursors.cursors[0].lease_owner == ""


def test_a_shard_taken_by_another_meanwhile_is_let_go(world):
    def another_first(real, shard, owner, now, until):
        world.memory.cursors.lease(shard, "dispatcher-2", now, until)
        return real(shard, owner, now, until)

    task = world.add_crashed()
    world.cursors.next("lease", another_first)
    assert "another" in world.tick()[0].skipped
    assert world.stored(task).state is State.SCHEDULED
    assert world.memory.cursors.cursors[0].lease_owner == "dispatcher-2"


def test_a_catch_up_whose_shard_was_taken_stops(world):
    def another_first(real, shard, owner, now, watermark, until):
        world.memory.cursors.lease(shard, "dispatcher-2", now, now + 90 * SECOND)
        return real(shard, owner, now, watermark, until)

    world.clock.advance(3 * HOUR)
    world.cursors.next("advance", another_first)
    world.tick()
    assert world.watermark() == NOW - 6 * MINUTE
    assert max(visited(world)[6:]) == 54


def test_two_dispatchers_at_once_lose_and_double_nothing(world):
    """The lease is for efficiency only: here it never holds anyone back."""
    tasks = [world.add_crashed() for _ in range(40)]
    world.cursors.always("lease", lambda real, *args: True)
    ran = []

    def another_between(real, places, claim_id, at, taken_from=None):
        if not ran:
            ran.append(True)
            world.tick(owner="dispatcher-2")
        return real(places, claim_id, at, taken_from)

    world.store.always("claim", another_between)
    world.tick()
    world.work()
    assert sorted(task_id for task_id, _, _ in world.runs) == sorted(t.task_id for t in tasks)


# --- faults


def test_one_broken_shard_does_not_stop_the_others():
    world = settled_world(shards=3)
    tasks = {}
    while len(tasks) < 3:
        task = world.add_crashed()
        tasks[int(task.place.bucket[-2:])] = task

    def shard_one_is_down(real, bucket, after=None):
        return (is_down if bucket.endswith("#01") else works)(real, bucket, after)

    world.store.always("page", shard_one_is_down)
    reports = world.tick()
    assert "down" in reports[1].skipped
    assert (reports[0].skipped, reports[2].skipped) == ("", "")
    assert world.stored(tasks[0]).state is State.CLAIMED
    assert world.stored(tasks[1]).state is State.SCHEDULED
    assert world.stored(tasks[2]).state is State.CLAIMED


@pytest.mark.parametrize("method", ["open_claim", "claim", "close_claim", "page", "open_claims"])
@pytest.mark.parametrize("fault", [is_down, loses_its_answer])
def test_a_store_that_fails_anywhere_costs_time_and_no_task(world, method, fault):
    tasks = [world.add_crashed() for _ in range(3)]
    world.store.next(method, fault)
    world.play(minutes=8)
    assert sorted(task_id for task_id, _, _ in world.runs) == sorted(t.task_id for t in tasks)
    world.clock.advance(10 * MINUTE)
    world.tick()
    assert world.open_claims() == []
    assert world.watermark() > NOW


@pytest.mark.parametrize("method", ["open_claim", "claim", "close_claim", "page", "open_claims"])
def test_a_dispatcher_that_dies_anywhere_costs_time_and_no_task(world, method):
    tasks = [world.add_crashed() for _ in range(3)]
    world.store.next(method, process_dies)
    with pytest.raises(ProcessDied):
        world.play(minutes=8)
    world.play(minutes=8)
    assert sorted(task_id for task_id, _, _ in world.runs) == sorted(t.task_id for t in tasks)


@pytest.mark.parametrize("fault", [is_down, loses_its_answer, process_dies, fails_all])
def test_a_queue_that_fails_leaves_the_claim_open_and_a_rescue_sends(world, fault):
    tasks = [world.add_crashed() for _ in range(3)]
    world.queue.always("send", fault)
    try:
        world.tick(enough=SECOND)
    except ProcessDied:
        assert fault is process_dies
    world.queue.heal()
    assert all(world.stored(task).state is State.CLAIMED for task in tasks)
    [claim] = world.open_claims()
    world.clock.set(claim.opened_at + 120 * SECOND)
    assert world.tick()[0].tally.rescued == 0, "its lease has not run out"
    world.clock.advance(1)
    assert world.tick()[0].tally.rescued == 3
    assert world.open_claims() == []
    world.work()
    assert sorted(task_id for task_id, _, _ in world.runs) == sorted(t.task_id for t in tasks)


def test_a_tick_whose_answer_was_lost_does_not_keep_the_next_dispatcher_out(world):
    """Lambda may give the next tick to another process."""
    world.add_crashed()
    world.queue.next("send", is_down)
    world.tick()
    assert world.memory.cursors.cursors[0].lease_owner == ""
    world.clock.advance(MINUTE)
    assert world.tick(owner="dispatcher-2")[0].skipped == ""


def test_a_shard_that_failed_half_way_still_tells_what_it_did(world):
    for _ in range(2):
        world.add_crashed()
        world.clock.advance(MINUTE)
    world.queue.next("send", works, is_down)
    report = world.tick()[0]
    assert "unavailable" in report.skipped
    assert (report.tally.claimed, report.tally.sent) == (2, 1)


def test_a_message_the_queue_refuses_is_buried_and_does_not_stop_its_shard(world):
    bad = world.add_crashed()
    world.queue.next("send", refuses_all)
    report = world.tick()[0]
    assert (report.tally.buried, report.tally.sent) == (1, 0)
    assert world.status(bad) == "dead"
    letter = world.memory.tasks.letters[bad.run_id]
    assert (letter.job, letter.died_at, letter.place) == ("echo", NOW, bad.place)
    assert "refused" in letter.reason
    assert world.open_claims() == []
    world.clock.advance(20 * MINUTE)
    world.tick()
    assert world.watermark() == NOW + 14 * MINUTE


def test_a_row_that_cannot_be_read_is_buried_and_does_not_stop_its_shard(world):
    task = world.add_crashed()
    bucket = task.place.bucket
    bad = ["99#what#is#this"]

    def with_a_bad_row(real, name, after=None):
        page = real(name, after)
        if name != bucket:
            return page
        return Page(page.scheduled, page.open_claims, tuple(bad), page.next)

    def bury(real, place, reason, at, keep_until):
        assert place == Place(bucket, bad.pop())
        return real(place, reason, at, keep_until)

    world.store.always("page", with_a_bad_row)
    world.store.always("bury_unreadable", bury)
    report = world.tick()[0]
    assert (report.tally.buried, report.tally.sent) == (1, 1)
    letter = world.memory.tasks.letters["99#what#is#this"]
    assert (letter.died_at, letter.keep_until) == (NOW, (NOW + 30 * DAY) // SECOND)
    assert bad == []
    assert world.tick()[0].tally.buried == 0


def test_an_unreadable_row_keeps_the_watermark_before_its_bucket_until_it_is_buried(world):
    bucket = world.bucket(NOW + MINUTE)

    def with_a_bad_row(real, name, after=None):
        page = real(name, after)
        bad = ("99#bad",) if name == bucket else ()
        return Page(page.scheduled, page.open_claims, bad, page.next)

    world.store.always("page", with_a_bad_row)
    world.clock.advance(20 * MINUTE)
    world.tick()
    assert world.watermark() == NOW
    world.store.heal()
    world.tick()
    assert world.watermark() == NOW + 14 * MINUTE


# --- several shards


def test_a_long_backlog_in_one_shard_keeps_nothing_due_now_in_another_waiting():
    world = World(shards=2)
    world.tick()
    world.clock.advance(3 * HOUR)
    due_now = [world.add(after=200 * SECOND) for _ in range(20)]
    assert {task.place.bucket[-2:] for task in due_now} == {"00", "01"}
    world.clock.advance(MINUTE)

    def takes_a_second(real, *args):
        world.clock.advance(SECOND)
        return real(*args)

    world.store.always("page", takes_a_second)
    reports = world.tick(enough=45 * SECOND).values()
    assert sorted(world.waiting_ids()) == sorted(task.task_id for task in due_now)
    assert all(report.lag_ms > 2 * HOUR for report in reports), "neither backlog was finished"
    assert all(report.lag_ms < 3 * HOUR for report in reports), "and each got its share of the time"
