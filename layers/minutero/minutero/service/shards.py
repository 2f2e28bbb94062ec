"""How many shards there are, and since when."""

from collections.abc import Sequence

from minutero.domain.buckets import minute_of
from minutero.domain.instants import DAY, HOUR, MINUTE
from minutero.ports import Growth, SettingsStore

FIRST_MARGIN = HOUR
GROWTH_MARGIN = DAY
"""How far before its time a new shard's cursor starts, for writers whose clocks are behind. At the first
use an hour does: no task can be older than the settings item, only its writer's clock can."""


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
            self._growth = self._settings.growth() or self._grow(now, FIRST_MARGIN)
            self._read_at = now
        return self._growth[-1].shards

    def for_dispatch(self, now: int) -> Sequence[Growth]:
        """The counts as they are now, raised first if the deployment wants more shards."""
        growth = self._settings.growth()
        if not growth:
            growth = self._grow(now, FIRST_MARGIN)
        elif growth[-1].shards < self._wanted:
            growth = self._grow(now, GROWTH_MARGIN)
        self._growth, self._read_at = growth, now
        return growth

    def _grow(self, now: int, margin: int) -> Sequence[Growth]:
        self._settings.grow(Growth(self._wanted, minute_of(now - margin)))
        return self._settings.growth()


def first_watermark(shard: int, growth: Sequence[Growth]) -> int:
    """The watermark of a shard that has no cursor yet: the minute before any task can lie in it."""
    since = next(step.since for step in growth if shard < step.shards)
    return since - MINUTE
