"""Many shards are more than one tick can serve: it calls further dispatchers for groups of them."""

from collections.abc import Sequence

GROUP = 8
"""Shards one dispatcher serves. A call that is lost, or comes twice, harms nothing: the next tick serves
its shards, and a lease or a claim is had by one."""


def groups(shards: int) -> tuple[Sequence[int], list[list[int]]]:
    """(what the tick serves itself, the groups it calls others for). Only a tick for all shards calls
    others, so the called ones never do."""
    everything = list(range(shards))
    return everything[:GROUP], [
        everything[first : first + GROUP] for first in range(GROUP, shards, GROUP)
    ]
