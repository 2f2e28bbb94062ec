"""The times the protocol rests on, in milliseconds, and the relations between them."""

from dataclasses import dataclass

from minutero.domain.instants import DAY, MINUTE, SECOND
from minutero.errors import SettingsError


@dataclass(frozen=True, slots=True)
class Timing:
    """Raises SettingsError when made of values that would break a promise."""

    look_ahead: int = 3 * MINUTE
    look_back: int = 2 * MINUTE
    settle_grace: int = 5 * MINUTE
    client_clock_margin: int = 4 * MINUTE
    dispatcher_timeout: int = 50 * SECOND
    shard_lease: int = 90 * SECOND
    claim_lease: int = 120 * SECOND
    worker_timeout: int = 60 * SECOND
    run_margin: int = 30 * SECOND
    retention: int = 30 * DAY

    def __post_init__(self) -> None:
        rules = {
            "the look-ahead must be 1 to 14 minutes: SQS delays a message by at most 15": (
                MINUTE <= self.look_ahead <= 14 * MINUTE
            ),
            "the look-back must reach over one missed tick, and stay within the settle grace": (
                MINUTE < self.look_back <= self.settle_grace
            ),
            "the dispatcher's time-out must be under its minute, or ticks pile up": (
                self.dispatcher_timeout < MINUTE
            ),
            "a shard's lease must outlive the dispatcher's time-out": (
                self.dispatcher_timeout < self.shard_lease
            ),
            "an open claim's lease must be more than twice the dispatcher's time-out, or a claim is rescued "
            "under its living owner": self.claim_lease > 2 * self.dispatcher_timeout,
            "the settle grace must outlast an open claim's lease": self.settle_grace
            > self.claim_lease,
            "the settle grace must outlast the error allowed to clients' clocks, or they put tasks behind a "
            "watermark": self.settle_grace > self.client_clock_margin,
            "the worker's time-out must be 1 s to 15 minutes": (
                SECOND <= self.worker_timeout <= 15 * MINUTE
            ),
            "the retention must be 30 days at least: queues keep a message for 14": (
                self.retention >= 30 * DAY
            ),
        }
        broken = [rule for rule, holds in rules.items() if not holds]
        if broken:
            raise SettingsError("; ".join(broken))
