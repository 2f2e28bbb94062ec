"""DynamoDB as it is limited: physical partitions, and the table they belong to."""

import hashlib
from collections import defaultdict
from math import ceil

from bench.million.limits import PARTITION_READS, PARTITION_WRITES

WHOLE = PARTITION_READS
"""What a partition gives in a second. Read units take one of it each, write units three."""

WRITE = PARTITION_READS // PARTITION_WRITES


class Table:
    """A table that is ready for so many write units a second, on a partition for each 1,000 of them.

    `background` are writes a second that lie on all partitions evenly. Nothing is carried over from one
    second to the next: no burst, no split of a hot partition, no growth.
    """

    def __init__(self, write_units: int, background: float = 0) -> None:
        self.partitions = ceil(write_units / PARTITION_WRITES)
        self._most = int(write_units - background)
        self._whole = int(WHOLE - background / self.partitions * WRITE)
        self.written: dict[int, int] = defaultdict(int)
        self.used: dict[tuple[int, int], int] = defaultdict(int)

    def partition_of(self, key: str) -> int:
        """Where the items of a partition key lie: by a hash, so several keys share a partition."""
        digest = hashlib.blake2b(key.encode(), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.partitions

    def write(self, partition: int, wanted: int, now: float) -> int:
        """How many of the writes are taken; the others are throttled."""
        second = int(now // 1)
        room = (self._whole - self.used[partition, second]) // WRITE
        taken = max(0, min(wanted, room, self._most - self.written[second]))
        self.used[partition, second] += taken * WRITE
        self.written[second] += taken
        return taken

    def read(self, partition: int, units: int, now: float) -> bool:
        """Whether a read is taken."""
        second = int(now // 1)
        if self.used[partition, second] + units > self._whole:
            return False
        self.used[partition, second] += units
        return True
