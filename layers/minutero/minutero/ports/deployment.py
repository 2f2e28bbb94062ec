"""What the functions of a deployment share: cursors and settings."""

from collections.abc import Sequence
from typing import Protocol

from minutero.domain.exchanged import Cursor, Growth


class CursorStore(Protocol):
    """The Cursors table: one row a shard."""

    def get(self, shard: int) -> Cursor | None:
        """The row of a shard, None before its first tick."""

    def begin(self, shard: int, watermark: int) -> Cursor:
        """Writes a shard's row, with its first watermark. Guard: there is none. The row as it is then."""

    def lease(self, shard: int, owner: str, now: int, until: int) -> bool:
        """Takes the shard. Guard: free, ours, or run out. False: another dispatcher has it."""

    def advance(self, shard: int, owner: str, now: int, watermark: int, until: int) -> bool:
        """Moves the watermark and keeps the lease until `until` (0: gives it back).

        Guard: not backwards, and the shard free, ours, or run out."""

    def audited(self, shard: int, look: str, minute: int) -> None:
        """Notes how far a look of the audit has come. No guard: looking twice is harmless."""


class SettingsStore(Protocol):
    """The settings items: what all functions of a deployment must agree on."""

    def growth(self) -> Sequence[Growth]:
        """The shard counts in force, oldest first; empty before the first use."""

    def grow(self, growth: Growth) -> None:
        """Adds a larger shard count. Guard: larger than the last; losing means another has added it."""

    def jobs(self) -> frozenset[str] | None:
        """Names of the deployed jobs as their worker announced them; None before the first time."""

    def announce_jobs(self, names: frozenset[str]) -> None:
        """Stores the names of the jobs this worker has."""

    def token_secret(self) -> bytes:
        """What the deployment signs page tokens with: 32 random bytes, made by the first who asks.

        Guard: there is none yet; losing means another has made it, and all have the same."""
