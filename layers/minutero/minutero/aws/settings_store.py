"""The settings items in the Tasks table."""

import secrets
from collections.abc import Sequence

from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from minutero.aws.failures import GuardFailed, ask
from minutero.aws.tables import (
    JOBS_SK,
    SETTINGS_BUCKET,
    SHARDS_SK,
    TOKEN_SECRET_SK,
    GrowthStep,
    SettingsItem,
    Tables,
)
from minutero.domain.exchanged import Growth
from minutero.ports import Clock


def larger_than_the_last(shards: int) -> Condition:
    """Grow: counts only rise, since a task in a shard that nobody looks at is lost."""
    larger: Condition = SettingsItem.largest.does_not_exist() | (SettingsItem.largest < shards)
    return larger


NO_SECRET_YET: Condition = SettingsItem.bucket.does_not_exist()
"""Make a secret: tokens signed with another one would all be refused."""


class DynamoSettingsStore:
    """`SettingsStore` over three items. `clock` is only slept with, between two tries."""

    def __init__(self, tables: Tables, clock: Clock) -> None:
        self._model = tables.settings
        self._clock = clock

    def growth(self) -> Sequence[Growth]:
        """The shard counts in force, oldest first."""
        item = self._get(SHARDS_SK)
        steps = item.steps or [] if item else []
        return tuple(Growth(int(step.shards), int(step.since)) for step in steps)

    def grow(self, growth: Growth) -> None:
        """Adds a larger count."""
        step = GrowthStep(  # type: ignore[no-untyped-call]
            shards=growth.shards, since=growth.since
        )
        actions: list[Action] = [
            SettingsItem.steps.set((SettingsItem.steps | []).append([step])),
            SettingsItem.largest.set(growth.shards),
        ]
        guard = larger_than_the_last(growth.shards)
        item = self._model(bucket=SETTINGS_BUCKET, sk=SHARDS_SK)
        try:
            ask(lambda: item.update(actions=actions, condition=guard), self._clock)
        except GuardFailed:
            # Another has added it, or we have, and the answer got lost.
            return

    def jobs(self) -> frozenset[str] | None:
        """Names of the deployed jobs as their worker announced them."""
        item = self._get(JOBS_SK)
        return frozenset(item.names or ()) if item else None

    def announce_jobs(self, names: frozenset[str]) -> None:
        """Stores the names. No guard: the last deployed worker is right."""
        item = self._model(bucket=SETTINGS_BUCKET, sk=JOBS_SK, names=sorted(names))
        ask(item.save, self._clock)

    def token_secret(self) -> bytes:
        """What page tokens are signed with. A read; a unit more for who makes it."""
        item = self._get(TOKEN_SECRET_SK)
        if item is not None:
            return bytes(item.secret)
        secret = secrets.token_bytes(32)
        made = self._model(bucket=SETTINGS_BUCKET, sk=TOKEN_SECRET_SK, secret=secret)
        try:
            ask(lambda: made.save(condition=NO_SECRET_YET), self._clock)
        except GuardFailed:
            # Another has made it since, or we have, and the answer got lost.
            return self.token_secret()
        return secret

    def _get(self, sk: str) -> SettingsItem | None:
        try:
            return ask(
                lambda: self._model.get(SETTINGS_BUCKET, sk, consistent_read=True), self._clock
            )
        except self._model.DoesNotExist:
            return None
