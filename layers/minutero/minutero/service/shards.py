"""How many shards there are, and since when."""

from collections.abc import Sequence

from minutero.domain.buckets import minute_of
from minutero.domain.exchanged import Growth
from minutero.domain.instants import HOUR, MINUTE
from minutero.ports import SettingsStore

MARGIN = HOUR
"""How far before its time a new shard's cursor starts. No task can be older than the settings item that
lets writers use its shard; only a writer's clock can be behind, by minutes at most. A longer margin is a
longer walk over empty minutes before the shard's backlog is reached."""


class Shards:
    """The shard counts of a deployment, read at most once a minute."""

    def __init__(self, settings: SettingsStore, wanted: int) -> None:
        self._settings = settings
        self._wanted = wanted
        self._growth: Sequence[Growth] = ()
        self._read_at = 0

    def for_writing(self, now: int) -> int:
        """The count a writer may use: never more than the settings item says, since dispatchers that
        have not read a larger one would not look there."""
        if not self._growth or now - self._read_at >= MINUTE:
            self._growth = self._settings.growth() or self._grow(now)
            self._read_at = now
        return self._growth[-1].shards

    def for_dispatch(self, now: int) -> Sequence[Growth]:
        """The counts as they are now, raised first if the deployment wants more shards."""
        growth = self._settings.growth()
        if not growth or growth[-1].shards < self._wanted:
            growth = self._grow(now)
        self._growth, self._read_at = growth, now
        return growth

    def _grow(self, now: int) -> Sequence[Growth]:
        self._settings.grow(Growth(self._wanted, minute_of(now - MARGIN)))
        return self._settings.growth()


def first_watermark(shard: int, growth: Sequence[Growth]) -> int:
    """The watermark of a shard that has no cursor yet: the minute before any task can lie in it."""
    since = next(step.since for step in growth if shard < step.shards)
    return since - MINUTE
