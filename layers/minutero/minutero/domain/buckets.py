"""Buckets: the UTC minute and the shard a task is stored under, and the order within."""

from collections.abc import Iterator
from datetime import UTC, datetime
from functools import lru_cache

from minutero.domain.instants import MINUTE, SECOND

CLAIM_PREFIX = "~"
"""Sort keys of open claims begin with it: after every task, since task keys begin with a digit."""


def minute_of(ms: int) -> int:
    """The start of the minute of an instant, in milliseconds."""
    return ms - ms % MINUTE


def minutes(first: int, last: int) -> Iterator[int]:
    """The starts of all minutes from that of `first` to that of `last`, both included."""
    return iter(range(minute_of(first), minute_of(last) + 1, MINUTE))


def bucket_name(ms: int, shard: int) -> str:
    """Partition key of the bucket of an instant: `2026-11-29T20:21Z#07`."""
    return _bucket_of_minute(ms // MINUTE, shard)


@lru_cache(4_096)
def _bucket_of_minute(minute: int, shard: int) -> str:
    return f"{datetime.fromtimestamp(minute * MINUTE // SECOND, UTC):%Y-%m-%dT%H:%MZ}#{shard:02d}"


@lru_cache(4_096)
def parse_bucket(bucket: str) -> tuple[int, int]:
    """Partition key -> (start of the minute in milliseconds, shard). Raises ValueError for anything else."""
    minute, _, shard = bucket.partition("#")
    start = datetime.strptime(minute, "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)
    return int(start.timestamp()) * SECOND, int(shard)


def claim_sort_key(opened_at: int, claim_id: str) -> str:
    """Sort key of an open claim: later ones sort after earlier ones."""
    return f"{CLAIM_PREFIX}{opened_at:014d}#{claim_id}"
