"""Buckets, claims and open claims: what the dispatch protocol rests on."""

import random
from concurrent.futures import ThreadPoolExecutor

import pytest
from worlds import NOW

from minutero.domain.exchanged import Claim, Page
from minutero.domain.instants import MINUTE, SECOND
from minutero.domain.task import OpenClaim, Place, State

MINUTE_START = NOW - NOW % MINUTE


def put_all(world, tasks):
    for task in tasks:
        world.tasks.put(task)
    return tasks


def in_order(tasks):
    """Pointers as a bucket has them: by second, then by id."""
    return sorted((task.pointer for task in tasks), key=lambda pointer: pointer.place.sk)


def whole_page(world, bucket, **how):
    """All pages of a bucket as one."""
    scheduled, claims, unreadable, after = [], [], [], None
    while True:
        page = world.tasks.page(bucket, after, **how)
        scheduled += page.scheduled
        claims += page.open_claims
        unreadable += page.unreadable
        after = page.next
        if after is None:
            return Page(scheduled, claims, unreadable, None)


def test_an_empty_bucket_has_an_empty_page(world):
    page = world.tasks.page("2026-11-29T20:21Z#03")
    assert (list(page.scheduled), list(page.open_claims), list(page.unreadable)) == ([], [], [])
    assert page.next is None


def test_a_page_shows_what_is_scheduled_in_due_order(world, new_task):
    seconds = [41, 7, 59, 0, 30]
    tasks = put_all(world, [new_task(MINUTE_START + s * SECOND, tenant="acme") for s in seconds])
    tasks.append(new_task(MINUTE_START + 8 * SECOND, payload="x" * 999, large=True))
    world.tasks.put(tasks[-1])
    bucket = tasks[0].place.bucket
    page = whole_page(world, bucket)
    assert list(page.scheduled) == in_order(tasks)
    assert [pointer.due for pointer in page.scheduled] == sorted(task.run_at for task in tasks)


def test_other_shards_and_minutes_are_other_buckets(world, new_task):
    here = new_task()
    put_all(world, [here, new_task(shard=4), new_task(run_at=NOW + MINUTE)])
    assert list(whole_page(world, here.place.bucket).scheduled) == [here.pointer]


def test_what_is_not_scheduled_any_more_is_not_on_the_page(world, new_task):
    task = new_task()
    world.tasks.put(task)
    world.tasks.mark_sent(task.place, "near", NOW)
    assert not whole_page(world, task.place.bucket).scheduled


def test_a_page_goes_on_where_the_last_one_stopped(world, new_task):
    tasks = put_all(world, [new_task() for _ in range(30)])
    bucket = tasks[0].place.bucket
    rest = world.tasks.page(bucket, in_order(tasks)[9].place.sk)
    assert list(rest.scheduled) == in_order(tasks)[10:]


def test_a_bucket_of_many_pages_is_read_whole(honest_world, new_task):
    tasks = [new_task() for _ in range(600)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(honest_world.tasks.put, tasks))
    claim = OpenClaim(tasks[0].place.bucket, "c1", NOW)
    honest_world.tasks.open_claim(claim)
    assert honest_world.tasks.page(claim.bucket).next is not None
    page = whole_page(honest_world, claim.bucket)
    assert list(page.scheduled) == in_order(tasks)
    assert list(page.open_claims) == [claim]
    assert list(honest_world.tasks.open_claims(claim.bucket)) == [claim]


def test_open_claims_are_listed_oldest_first_until_closed(world, new_task):
    task = new_task()
    world.tasks.put(task)
    bucket = task.place.bucket
    claims = [OpenClaim(bucket, f"claim{n}", NOW - n * MINUTE) for n in (1, 3, 2)]
    for claim in claims:
        world.tasks.open_claim(claim)
    oldest_first = sorted(claims, key=lambda claim: claim.opened_at)
    assert list(world.tasks.open_claims(bucket)) == oldest_first
    assert list(world.tasks.page(bucket).open_claims) == oldest_first
    world.tasks.close_claim(claims[0])
    world.tasks.close_claim(claims[0])
    assert list(world.tasks.open_claims(bucket)) == oldest_first[:2]


def test_opening_a_claim_again_is_opening_it_once(world):
    claim = OpenClaim("2026-11-29T20:21Z#03", "c1", NOW)
    world.tasks.open_claim(claim)
    world.tasks.open_claim(claim)
    assert list(world.tasks.open_claims(claim.bucket)) == [claim]


def test_a_claim_takes_what_is_scheduled(honest_world, new_task):
    tasks = put_all(honest_world, [new_task() for _ in range(25)])
    places = [task.place for task in tasks]
    assert honest_world.tasks.claim(places, "c1", NOW) == [Claim.WON] * 25
    assert [honest_world.tasks.get(place) for place in places] == [
        t.claimed("c1", NOW) for t in tasks
    ]


def test_a_claim_loses_what_another_has(honest_world, new_task):
    tasks = put_all(honest_world, [new_task() for _ in range(4)])
    taken, marked, free, _ = places = [task.place for task in tasks]
    places[3] = new_task().place
    assert honest_world.tasks.claim([taken], "c1", NOW) == [Claim.WON]
    assert honest_world.tasks.mark_sent(marked, "near", NOW)
    results = honest_world.tasks.claim(places, "c2", NOW + 1)
    assert results == [Claim.LOST, Claim.LOST, Claim.WON, Claim.LOST]
    assert honest_world.tasks.get(taken).claim_id == "c1"
    assert honest_world.tasks.get(free).claim_id == "c2"
    assert honest_world.tasks.get(places[3]) is None


def test_finding_ones_own_claim_in_the_way_is_won(honest_world, new_task):
    task = new_task()
    honest_world.tasks.put(task)
    assert honest_world.tasks.claim([task.place], "c1", NOW) == [Claim.WON]
    assert honest_world.tasks.claim([task.place], "c1", NOW + 5) == [Claim.WON]
    assert honest_world.tasks.get(task.place).claimed_at == NOW


def test_a_cancelled_task_is_lost(honest_world, new_task):
    task = new_task()
    honest_world.tasks.put(task)
    honest_world.tasks.cancel(task, NOW, task.keep_until, NOW)
    assert honest_world.tasks.claim([task.place], "c1", NOW) == [Claim.LOST]
    assert honest_world.tasks.get(task.place).state is State.CANCELLED


def test_a_rescue_takes_only_what_that_very_claim_had(honest_world, new_task):
    old, other, scheduled = put_all(honest_world, [new_task() for _ in range(3)])
    places = [task.place for task in (old, other, scheduled)]
    honest_world.tasks.claim(places[:1], "dead", NOW)
    honest_world.tasks.claim(places[1:2], "alive", NOW)
    results = honest_world.tasks.claim(places, "rescuer", NOW + 9, taken_from="dead")
    assert results == [Claim.WON, Claim.LOST, Claim.LOST]
    assert honest_world.tasks.get(old.place) == old.claimed("rescuer", NOW + 9)
    assert honest_world.tasks.get(scheduled.place).state is State.SCHEDULED


def test_a_page_of_a_claim_shows_what_is_still_claimed_under_it(honest_world, new_task):
    tasks = put_all(honest_world, [new_task() for _ in range(4)])
    places = [task.place for task in tasks]
    honest_world.tasks.claim(places[:2], "c1", NOW)
    honest_world.tasks.claim(places[2:3], "c2", NOW)
    page = honest_world.tasks.page_claimed(places[0].bucket, "c1")
    assert list(page.scheduled) == in_order(tasks[:2])
    assert page.next is None


def test_a_page_of_what_is_taken_tells_since_when(world, new_task):
    tasks = put_all(world, [new_task(tenant="acme") for _ in range(3)])
    bucket = tasks[0].place.bucket
    world.tasks.open_claim(OpenClaim(bucket, "c1", NOW))
    for number, task in enumerate(tasks[:2]):
        world.tasks.mark_sent(task.place, f"c{number}", NOW + number)
    taken, after = world.tasks.page_taken(bucket)
    assert after is None
    assert {one.pointer: one.claimed_at for one in taken} == {
        tasks[0].pointer: NOW,
        tasks[1].pointer: NOW + 1,
    }


@pytest.mark.stack
@pytest.mark.parametrize("rivals", [2, 8])
def test_racing_claims_have_exactly_one_winner_a_task(ministack_world, new_task, rivals):
    tasks = [new_task() for _ in range(200)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(ministack_world.tasks.put, tasks))
    places = [task.place for task in tasks]

    def claim_all(rival: int) -> list[Place]:
        order = places[:]
        random.Random(rival).shuffle(order)
        won = []
        for start in range(0, len(order), 25):
            chunk = order[start : start + 25]
            results = ministack_world.tasks.claim(chunk, f"c{rival}", NOW)
            assert Claim.UNKNOWN not in results
            won += [p for p, r in zip(chunk, results, strict=True) if r is Claim.WON]
        return won

    with ThreadPoolExecutor(rivals) as threads:
        wins = list(threads.map(claim_all, range(rivals)))
    assert sorted(place.sk for won in wins for place in won) == sorted(p.sk for p in places)
    for rival, won in enumerate(wins):
        assert {ministack_world.tasks.get(place).claim_id for place in won} <= {f"c{rival}"}
