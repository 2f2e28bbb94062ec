"""Cursors and settings: what dispatchers and writers agree on."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.exceptions import ConnectTimeoutError
from worlds import NOW, in_memory, over_aws

from minutero.domain.exchanged import Growth
from minutero.domain.instants import DAY, MINUTE
from minutero.errors import Unavailable

WATERMARK = NOW - NOW % MINUTE
UNTIL = NOW + 90_000


def test_a_shard_has_no_cursor_before_its_first_tick(world):
    assert world.cursors.get(3) is None


def test_a_cursor_begins_once(world):
    first = world.cursors.begin(3, WATERMARK)
    assert (first.shard, first.watermark, first.first_minute) == (3, WATERMARK, WATERMARK)
    assert world.cursors.begin(3, WATERMARK + MINUTE) == first
    assert world.cursors.get(3) == first


def test_a_leased_shard_is_anothers_until_the_lease_runs_out(world):
    world.cursors.begin(3, WATERMARK)
    assert world.cursors.lease(3, "a", NOW, UNTIL)
    assert world.cursors.lease(3, "a", NOW, UNTIL)
    assert not world.cursors.lease(3, "b", UNTIL, UNTIL + 1)
    assert world.cursors.lease(3, "b", UNTIL + 1, UNTIL + 90_000)
    cursor = world.cursors.get(3)
    assert (cursor.lease_owner, cursor.lease_until) == ("b", UNTIL + 90_000)
    assert cursor.watermark == WATERMARK


def test_the_watermark_moves_and_gives_the_lease_back(world):
    world.cursors.begin(3, WATERMARK)
    world.cursors.lease(3, "a", NOW, UNTIL)
    assert world.cursors.advance(3, "a", NOW, WATERMARK + MINUTE, UNTIL)
    assert not world.cursors.lease(3, "b", NOW, UNTIL)
    assert world.cursors.advance(3, "a", NOW, WATERMARK + 2 * MINUTE, 0)
    assert world.cursors.lease(3, "b", NOW, UNTIL)
    cursor = world.cursors.get(3)
    assert (cursor.watermark, cursor.first_minute) == (WATERMARK + 2 * MINUTE, WATERMARK)


def test_the_watermark_never_moves_back(world):
    world.cursors.begin(3, WATERMARK)
    assert world.cursors.advance(3, "a", NOW, WATERMARK, UNTIL)
    assert not world.cursors.advance(3, "a", NOW, WATERMARK - MINUTE, UNTIL)
    assert world.cursors.get(3).watermark == WATERMARK


def test_who_lost_the_lease_moves_no_watermark(world):
    world.cursors.begin(3, WATERMARK)
    world.cursors.lease(3, "a", NOW, UNTIL)
    world.cursors.lease(3, "b", UNTIL + 1, UNTIL + 90_000)
    assert not world.cursors.advance(3, "a", UNTIL + 2, WATERMARK + MINUTE, UNTIL + 90_000)
    assert world.cursors.get(3).watermark == WATERMARK


def test_looks_are_noted_beside_each_other(world):
    world.cursors.begin(103, WATERMARK)
    world.cursors.audited(103, "hour", WATERMARK)
    world.cursors.audited(103, "day", WATERMARK - DAY)
    world.cursors.audited(103, "hour", WATERMARK + MINUTE)
    assert dict(world.cursors.get(103).audited) == {
        "hour": WATERMARK + MINUTE,
        "day": WATERMARK - DAY,
    }


@pytest.mark.stack
def test_racing_leases_have_one_winner(ministack_world):
    ministack_world.cursors.begin(3, WATERMARK)
    with ThreadPoolExecutor(16) as threads:
        won = threads.map(
            lambda n: ministack_world.cursors.lease(3, f"o{n}", NOW, UNTIL), range(16)
        )
        assert sum(won) == 1


def test_shard_counts_only_grow(world):
    assert list(world.settings.growth()) == []
    first, second = Growth(8, WATERMARK), Growth(16, WATERMARK + DAY)
    world.settings.grow(first)
    world.settings.grow(first)
    world.settings.grow(second)
    world.settings.grow(Growth(12, WATERMARK))
    assert list(world.settings.growth()) == [first, second]


def test_jobs_are_what_was_announced_last(world):
    assert world.settings.jobs() is None
    world.settings.announce_jobs(frozenset({"echo", "leaderboard_close"}))
    world.settings.announce_jobs(frozenset({"echo"}))
    assert world.settings.jobs() == {"echo"}


def test_a_deployment_signs_with_one_secret(world):
    secret = world.settings.token_secret()
    assert (type(secret), len(secret)) == (bytes, 32)
    assert world.settings.token_secret() == secret


def test_two_deployments_do_not_share_a_secret(world, template_tables):
    other = in_memory() if world.tables is None else None
    if other is None:
        other = over_aws("other", world.tables.client, world.sqs, template_tables)
    assert other.settings.token_secret() != world.settings.token_secret()


def test_a_secret_that_another_made_first_is_everybodys(moto_world, monkeypatch):
    client = moto_world.tables.client
    real, made = client._make_api_call, []

    def is_late(operation, request):
        if operation == "PutItem" and not made:
            made.append(None)
            made.append(moto_world.settings.token_secret())
        return real(operation, request)

    monkeypatch.setattr(client, "_make_api_call", is_late)
    assert moto_world.settings.token_secret() == made[1]


def test_a_secret_whose_making_was_not_answered_is_found(moto_world, monkeypatch):
    client = moto_world.tables.client
    real, made = client._make_api_call, []

    def loses_its_answer(operation, request):
        answer = real(operation, request)
        if operation == "PutItem":
            made.append(request["Item"]["secret"]["B"])
            raise ConnectTimeoutError(endpoint_url="http://dynamodb")
        return answer

    monkeypatch.setattr(client, "_make_api_call", loses_its_answer)
    with pytest.raises(Unavailable):
        moto_world.settings.token_secret()
    assert [moto_world.settings.token_secret()] == made


@pytest.mark.stack
def test_racing_makers_of_a_secret_get_the_same(ministack_world):
    with ThreadPoolExecutor(16) as threads:
        made = threads.map(lambda _: ministack_world.settings.token_secret(), range(16))
        assert len(set(made)) == 1


def test_a_worker_without_jobs_has_announced_none(world):
    world.settings.announce_jobs(frozenset())
    assert world.settings.jobs() == frozenset()
