import pytest
from world import NOW, World

from minutero.domain.exchanged import Page
from minutero.domain.instants import HOUR
from minutero.domain.task import OpenClaim
from minutero.service.settle import is_settled


def settled(world, *, clean=False):
    return is_settled(world.store, world.bucket(NOW + HOUR), pass_was_clean=clean)


def test_an_empty_bucket_is_settled(world):
    assert settled(world)


def test_a_scheduled_task_unsettles_its_bucket(world):
    world.add(after=HOUR)
    assert not settled(world)


def test_a_claimed_task_does_not_and_its_open_claim_does(world):
    task = world.add(after=HOUR)
    world.memory.tasks.claim([task.place], "abc", NOW)
    assert settled(world)
    world.memory.tasks.open_claim(claim := OpenClaim(task.place.bucket, "abc", NOW))
    assert not settled(world)
    assert not settled(world, clean=True)
    world.memory.tasks.close_claim(claim)
    assert settled(world)


def test_an_unreadable_row_unsettles_its_bucket(world):
    world.store.always("page", lambda real, *args: Page([], [], ["99#bad"], None))
    assert not settled(world)


def test_the_claims_are_asked_for_after_the_pass_and_never_before(world):
    world.add(at=NOW + 2 * HOUR)
    settled(world)
    assert world.store.names("page", "open_claims") == ["page", "open_claims"]


def test_a_pass_just_made_is_not_made_again(world):
    assert settled(world, clean=True)
    assert world.store.names("page", "open_claims") == ["open_claims"]


def test_all_pages_are_looked_at():
    world = World(page=2)
    tasks = [world.add(after=HOUR) for _ in range(7)]
    by_key = sorted(tasks, key=lambda task: task.place.sk)
    world.memory.tasks.claim([task.place for task in by_key[:-1]], "abc", NOW)
    assert not settled(world)
    world.memory.tasks.claim([by_key[-1].place], "abc", NOW)
    assert settled(world)


@pytest.mark.parametrize("moment", ["before the pass", "during the pass"])
def test_a_batch_taken_at_any_moment_of_the_look_keeps_its_bucket_unsettled(world, moment):
    task = world.add(after=HOUR)
    claim = OpenClaim(task.place.bucket, "abc", NOW)

    def take(real, bucket, after=None):
        if moment == "during the pass":
            page = real(bucket, after)
            world.memory.tasks.open_claim(claim)
            world.memory.tasks.claim([task.place], "abc", NOW)
            return page
        world.memory.tasks.open_claim(claim)
        world.memory.tasks.claim([task.place], "abc", NOW)
        return real(bucket, after)

    world.store.next("page", take)
    assert not settled(world)
