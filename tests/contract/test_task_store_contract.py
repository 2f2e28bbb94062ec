"""Create and read: what every task store does."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from worlds import KEEP, NOW, key_of

from minutero.domain.instants import DAY, SECOND
from minutero.domain.task import Place, State

LARGE = '{"text":"' + "x" * 2_000 + '"}'


def test_a_task_comes_back_as_it_was_put(world, new_task):
    task = new_task(
        payload='{"n": 1.10, "s": "ñ\\u0000"}',
        tenant="acme",
        key="order-17",
        max_attempts=7,
        expires_after_seconds=600,
    )
    world.tasks.put(task)
    assert world.tasks.get(task.place) == task


def test_what_was_never_put_is_not_there(world, new_task):
    assert world.tasks.get(new_task().place) is None


def test_putting_again_changes_nothing(world, new_task):
    task = new_task(payload="1")
    world.tasks.put(task)
    assert world.tasks.mark_sent(task.place, "near", NOW)
    world.tasks.put(task)
    assert world.tasks.get(task.place) == task.claimed("near", NOW)


def test_a_large_payload_comes_back_whole(world, new_task):
    task = new_task(payload=LARGE, large=True)
    world.tasks.put(task)
    assert world.tasks.get(task.place) == task


def test_many_are_read_at_once_with_their_payloads(world, new_task):
    tasks = [new_task(payload=LARGE if n % 2 else "7", large=bool(n % 2)) for n in range(20)]
    gone = new_task()
    for task in tasks:
        world.tasks.put(task)
    pointers = [task.pointer for task in [*tasks, gone, tasks[0], tasks[1]]]
    assert world.tasks.get_many(pointers) == {task.place: task for task in tasks}


def test_a_pointer_that_forgot_that_its_payload_is_large_finds_it(world, new_task):
    task = new_task(payload=LARGE, large=True)
    world.tasks.put(task)
    pointer = replace(task.pointer, large=False)
    assert world.tasks.get_many([pointer]) == {task.place: task}


def test_nothing_is_read_for_nothing(world):
    assert world.tasks.get_many([]) == {}


def test_a_key_is_registered_with_its_task(world, new_task):
    task = new_task(key="order-17", tenant="acme")
    assert world.tasks.put_keyed(task, key_of(task), NOW) is None
    assert world.tasks.get(task.place) == task
    assert world.tasks.get_key("acme", "order-17", NOW) == key_of(task)


def test_a_taken_key_tells_its_holder_and_writes_nothing(world, new_task):
    first, second = new_task(key="k"), new_task(key="k", payload=LARGE, large=True)
    world.tasks.put_keyed(first, key_of(first), NOW)
    assert world.tasks.put_keyed(second, key_of(second, "c" * 64), NOW) == key_of(first)
    assert world.tasks.get(second.place) is None
    assert world.tasks.get_key("", "k", NOW) == key_of(first)


def test_ones_own_key_in_the_way_means_stored(world, new_task):
    task = new_task(key="k")
    world.tasks.put_keyed(task, key_of(task), NOW)
    assert world.tasks.put_keyed(task, key_of(task), NOW + 1) is None


def test_tenants_do_not_share_keys(world, new_task):
    one, other = new_task(key="k", tenant="a"), new_task(key="k", tenant="b")
    assert world.tasks.put_keyed(one, key_of(one), NOW) is None
    assert world.tasks.put_keyed(other, key_of(other), NOW) is None


def test_an_expired_key_is_free(world, new_task):
    old, fresh = new_task(key="k"), new_task(key="k")
    world.tasks.put_keyed(old, key_of(old), NOW)
    later = (KEEP + 1) * SECOND
    assert world.tasks.get_key("", "k", later) is None
    assert world.tasks.put_keyed(fresh, replace(key_of(fresh), keep_until=KEEP + 99), later) is None
    assert world.tasks.get_key("", "k", later).task_id == fresh.task_id


def test_a_key_lives_until_its_last_second(world, new_task):
    task = new_task(key="k")
    world.tasks.put_keyed(task, key_of(task), NOW)
    assert world.tasks.get_key("", "k", KEEP * SECOND) == key_of(task)
    late = new_task(key="k")
    assert world.tasks.put_keyed(late, key_of(late), KEEP * SECOND) == key_of(task)
    assert world.tasks.put_keyed(late, key_of(late), KEEP * SECOND + 1) is None


def test_a_sent_task_is_marked_once(world, new_task):
    task = new_task()
    world.tasks.put(task)
    assert world.tasks.mark_sent(task.place, "near", NOW)
    assert world.tasks.get(task.place).state is State.CLAIMED


def test_what_a_tick_took_first_is_not_marked(world, new_task):
    task = new_task()
    world.tasks.put(task)
    assert world.tasks.mark_sent(task.place, "tick", NOW)
    assert not world.tasks.mark_sent(task.place, "near", NOW + 1)
    assert world.tasks.get(task.place) == task.claimed("tick", NOW)


def test_what_was_cancelled_is_not_marked(world, new_task):
    task = new_task()
    world.tasks.put(task)
    world.tasks.cancel(task, NOW, KEEP, NOW)
    assert not world.tasks.mark_sent(task.place, "near", NOW)


def test_nothing_is_marked_that_is_not_there(world, new_task):
    task = new_task()
    assert not world.tasks.mark_sent(task.place, "near", NOW)
    assert world.tasks.get(task.place) is None


def test_a_task_far_ahead_has_its_own_bucket(world, new_task):
    task = new_task(run_at=NOW + 3_000 * DAY)
    world.tasks.put(task)
    assert world.tasks.get(task.place) == task
    assert world.tasks.get(Place(task.place.bucket, "00#nothing#0000")) is None


@pytest.mark.stack
def test_racing_writers_of_one_key_make_one_task(ministack_world, new_task):
    tasks = [new_task(key="k") for _ in range(16)]

    def put(task):
        return ministack_world.tasks.put_keyed(task, key_of(task), NOW)

    with ThreadPoolExecutor(16) as threads:
        holders = list(threads.map(put, tasks))
    (winner,) = [t for t, holder in zip(tasks, holders, strict=True) if holder is None]
    assert {holder.task_id for holder in holders if holder} == {winner.task_id}
    assert [t for t in tasks if ministack_world.tasks.get(t.place)] == [winner]
