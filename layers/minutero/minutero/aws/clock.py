"""The clock of this machine."""

import time


class SystemClock:
    """Lambda keeps it within some tens of milliseconds; the margins of `domain.timing` are seconds."""

    def now(self) -> int:
        """Milliseconds since the epoch."""
        return time.time_ns() // 1_000_000

    def sleep(self, ms: int) -> None:
        """Waits `ms` milliseconds."""
        time.sleep(ms / 1000)
