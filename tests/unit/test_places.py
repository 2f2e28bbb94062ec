"""Buckets, sort keys and task ids."""

import itertools
import string
from collections import Counter

import pytest
from hypothesis import strategies as st
from properties import given
from world import NOW

from minutero.domain.buckets import (
    bucket_name,
    claim_sort_key,
    minute_of,
    minutes,
    parse_bucket,
)
from minutero.domain.instants import DAY, HOUR, MINUTE, SECOND
from minutero.domain.task import (
    Place,
    Pointer,
    first_place,
    new_task_id,
    place_of,
    read_sort_key,
    read_task_id,
    run_id_of,
    shard_of,
    task_id_from,
)

instants = st.integers(0, 253_402_300_799_999)
shards = st.integers(0, 511)
randoms = st.binary(min_size=11, max_size=11)


def test_a_bucket_is_the_utc_minute_and_the_shard():
    assert bucket_name(NOW, 7) == "2026-11-29T20:21Z#07"
    assert bucket_name(NOW + MINUTE - 1, 7) == "2026-11-29T20:21Z#07"
    assert bucket_name(NOW + MINUTE, 7) == "2026-11-29T20:22Z#07"
    assert bucket_name(NOW - 1, 123) == "2026-11-29T20:20Z#123"


@given(instants, shards)
def test_a_bucket_name_is_read_back(ms, shard):
    assert parse_bucket(bucket_name(ms, shard)) == (minute_of(ms), shard)


@pytest.mark.parametrize(
    "bucket", ["", "settings", "payload#1abc", "2026-11-29T20:21Z", "2026-11-29T20:21Z#", "#07"]
)
def test_what_is_no_bucket_is_not_read_as_one(bucket):
    with pytest.raises(ValueError):  # noqa: PT011
        parse_bucket(bucket)


def test_the_minutes_between_two_instants_include_both_ends():
    assert list(minutes(NOW + 5, NOW + 2 * MINUTE)) == [NOW, NOW + MINUTE, NOW + 2 * MINUTE]
    assert list(minutes(NOW, NOW)) == [NOW]
    assert list(minutes(NOW + MINUTE, NOW)) == []


def test_due_order_is_the_order_of_sort_keys_within_a_bucket():
    places = [
        place_of(new_task_id(NOW + second * SECOND, 1), 0, NOW + second * SECOND)
        for second in range(60)
    ]
    assert len({place.bucket for place in places}) == 1
    assert sorted(place.sk for place in places) == [place.sk for place in places]


@given(instants, shards, randoms, st.integers(0, 9999), instants)
def test_open_claims_sort_after_every_task(ms, shard, random, run_no, opened_at):
    task = place_of(task_id_from(ms, shard, random), run_no, ms)
    assert task.sk < claim_sort_key(opened_at, "00")


@given(instants, instants)
def test_a_later_claim_sorts_after_an_earlier_one(one, other):
    first, second = sorted([one, other])
    if first < second:
        assert claim_sort_key(first, "ffff") < claim_sort_key(second, "0000")


@given(instants, shards, randoms)
def test_a_task_id_tells_its_first_second_and_shard(ms, shard, random):
    task_id = task_id_from(ms, shard, random)
    assert read_task_id(task_id) == (ms // SECOND * SECOND, shard)


@given(instants, shards, randoms)
def test_a_task_id_is_safe_in_a_url_and_begins_with_its_version(ms, shard, random):
    task_id = task_id_from(ms, shard, random)
    assert task_id[0] == "1"
    assert set(task_id) <= set(string.ascii_letters + string.digits + "-_")


@given(instants, shards, randoms)
def test_a_task_is_found_by_its_id_alone(ms, shard, random):
    task_id = task_id_from(ms, shard, random)
    place = first_place(task_id)
    assert place == place_of(task_id, 0, ms)
    assert place.bucket == bucket_name(ms, shard)


@given(instants, shards, randoms, st.integers(0, 9999))
def test_a_sort_key_tells_the_task_and_the_run(ms, shard, random, run_no):
    task_id = task_id_from(ms, shard, random)
    sk = place_of(task_id, run_no, ms).sk
    assert read_sort_key(sk) == (task_id, run_no)
    pointer = Pointer(Place("any", sk), ms)
    assert (pointer.task_id, pointer.run_id) == (task_id, f"{task_id}.{run_no}")


def test_a_moved_task_keeps_its_shard():
    task_id = task_id_from(NOW, 5, b"12345678901")
    moved = place_of(task_id, 1, NOW + DAY + 3 * SECOND)
    assert moved == Place(bucket_name(NOW + DAY, 5), f"03#{task_id}#0001")
    assert run_id_of(task_id, 1) != run_id_of(task_id, 0)


GOOD = task_id_from(NOW, 3, b"abcdefghijk")


@pytest.mark.parametrize(
    "task_id",
    [
        "",
        "1",
        "task-17",
        "2" + GOOD[1:],
        GOOD[1:],
        GOOD[:-1],
        GOOD[:-4],
        GOOD + "A",
        GOOD + "AAAA",
        GOOD + "=",
        GOOD + "\n",
        " " + GOOD,
        GOOD[:-1] + "é",
        GOOD[:-1] + "#",
        GOOD[:-1] + "\x00",
        GOOD[:-2] + "%2",
        "1" + "A" * 1_000_000,
    ],
)
def test_what_is_no_task_id_is_refused(task_id):
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        read_task_id(task_id)
    assert len(str(refused.value)) < 200


@pytest.mark.parametrize(("url_safe", "other"), [("-", "+"), ("_", "/")])
def test_the_other_alphabet_of_base64_does_not_make_a_second_name_for_a_task(url_safe, other):
    task_id = GOOD[:-4] + url_safe * 4
    assert read_task_id(task_id) == (NOW, 3)
    with pytest.raises(ValueError, match="not a task id"):
        read_task_id(task_id.replace(url_safe, other))


def test_another_id_never_leads_to_the_same_place():
    """Whatever character is changed: refused, or the id of another place."""
    place = first_place(GOOD)
    for at, character in itertools.product(range(len(GOOD)), "AB01_-"):
        changed = GOOD[:at] + character + GOOD[at + 1 :]
        if changed == GOOD:
            continue
        try:
            found = first_place(changed)
        except (ValueError, OverflowError):
            continue
        assert found != place


@pytest.mark.parametrize("sk", ["", "00", "00#" + GOOD, f"x0#{GOOD}#0000", f"00#{GOOD}#x", "~1#a"])
def test_what_is_no_sort_key_of_a_task_is_refused(sk):
    with pytest.raises(ValueError):  # noqa: PT011
        read_sort_key(sk)


def test_ids_are_spread_evenly_over_the_shards_and_never_beyond():
    counts = Counter(read_task_id(new_task_id(NOW, 8))[1] for _ in range(8_000))
    assert set(counts) == set(range(8))
    assert min(counts.values()) > 800
    assert max(counts.values()) < 1200


def test_ids_of_one_second_differ():
    assert len({new_task_id(NOW, 8) for _ in range(10_000)}) == 10_000


def test_a_shard_is_the_same_in_every_process():
    """Written down: another hash would look for tasks where they are not."""
    assert [shard_of(what, 8) for what in (b"", b"a", b"weekly-report")] == [5, 5, 7]


def test_hours_and_days_are_made_of_minutes():
    assert (HOUR, DAY) == (60 * MINUTE, 24 * HOUR)
