"""Cursors and settings in memory."""

import secrets
from collections.abc import Sequence
from dataclasses import replace

from minutero.domain.exchanged import Cursor, Growth


class MemoryCursorStore:
    """`CursorStore` over a dict."""

    def __init__(self) -> None:
        self.cursors: dict[int, Cursor] = {}

    def get(self, shard: int) -> Cursor | None:
        return self.cursors.get(shard)

    def begin(self, shard: int, watermark: int) -> Cursor:
        return self.cursors.setdefault(shard, Cursor(shard, watermark, first_minute=watermark))

    def lease(self, shard: int, owner: str, now: int, until: int) -> bool:
        known = self.cursors[shard]
        if known.leased_to_another(owner, now):
            return False
        self.cursors[shard] = replace(known, lease_owner=owner, lease_until=until)
        return True

    def advance(self, shard: int, owner: str, now: int, watermark: int, until: int) -> bool:
        known = self.cursors[shard]
        if known.leased_to_another(owner, now) or known.watermark > watermark:
            return False
        self.cursors[shard] = replace(
            known, watermark=watermark, lease_owner=owner if until else "", lease_until=until
        )
        return True

    def audited(self, shard: int, look: str, minute: int) -> None:
        known = self.cursors[shard]
        self.cursors[shard] = replace(known, audited={**known.audited, look: minute})


class MemorySettingsStore:
    """`SettingsStore` in three attributes."""

    def __init__(self) -> None:
        self._growth: list[Growth] = []
        self._jobs: frozenset[str] | None = None
        self._token_secret = b""

    def growth(self) -> Sequence[Growth]:
        return tuple(self._growth)

    def grow(self, growth: Growth) -> None:
        if not self._growth or self._growth[-1].shards < growth.shards:
            self._growth.append(growth)

    def jobs(self) -> frozenset[str] | None:
        return self._jobs

    def announce_jobs(self, names: frozenset[str]) -> None:
        self._jobs = names

    def token_secret(self) -> bytes:
        self._token_secret = self._token_secret or secrets.token_bytes(32)
        return self._token_secret
