"""A clock that stands still until it is told to move."""


class SettableClock:
    """Milliseconds, moved by hand; `sleep` moves it too, so that nothing waits in a test."""

    def __init__(self, now: int) -> None:
        self._now = now

    def now(self) -> int:
        return self._now

    def sleep(self, ms: int) -> None:
        self._now += ms

    def set(self, now: int) -> None:
        """Jumps to an instant."""
        self._now = now

    def advance(self, ms: int) -> None:
        """Moves on."""
        self._now += ms
