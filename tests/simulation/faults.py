"""What goes wrong between a process and the world: a proxy around every port."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

from minutero.errors import Unavailable
from tests.simulation.kernel import Kernel, Killed


@dataclass
class Rates:
    """Chances of each fault: of a call, before as after its effect; `part` of one statement or entry in a
    batch; `slow` and `stuck` of long pauses. `brownout`: from and until, almost every part fails.
    `page_takes`: milliseconds that each page of a bucket takes, whatever else is slow."""

    crash: float = 0.003
    throttled: float = 0.006
    answer_lost: float = 0.006
    slow: float = 0.02
    stuck: float = 0.002
    part: float = 0.02
    brownout: tuple[int, int] = (0, 0)
    page_takes: int = 0

    def times(self, factor: float) -> "Rates":
        """Worse, or better, weather."""
        return replace(
            self,
            crash=self.crash * factor,
            throttled=self.throttled * factor,
            answer_lost=self.answer_lost * factor,
            stuck=self.stuck * factor,
            part=self.part * factor,
        )

    def total(self) -> float:
        return self.crash + self.throttled + self.answer_lost

    def parts(self, kernel: Kernel) -> tuple[float, float]:
        """Of one part of a batch: drawn below the first it is not done, from the second on it is done and its
        answer is lost."""
        process = kernel.current
        if process is None or not process.faulty:
            return 0.0, 1.0
        browned_out = self.brownout[0] <= kernel.now < self.brownout[1]
        return 0.9 if browned_out else self.part, 1 - self.part


ANSWER_TAKES_TIME = 0.1
AT_ONCE = 0.5
"""Calls drawn above it take effect before anybody else does anything."""


class Faulty:
    """A port whose calls switch before and after their effect, and fail at either point."""

    def __init__(self, target: Any, name: str, kernel: Kernel, rates: Rates) -> None:
        self._target = target
        self._name = name
        self._kernel = kernel
        self._rates = rates

    def __getattr__(self, method: str) -> Any:
        call = _call(
            getattr(self._target, method), f"{self._name}.{method}", self._kernel, self._rates
        )
        setattr(self, method, call)
        return call


def _call(
    effect: Callable[..., Any], name: str, kernel: Kernel, rates: Rates
) -> Callable[..., Any]:
    chance = kernel.chance
    quiet = 1 - 2 * rates.total()
    noted = name.encode()

    slow = rates.slow
    pause = kernel.pause

    def call(*args: Any, **kwargs: Any) -> Any:
        process = kernel.current
        if process is None:
            return effect(*args, **kwargs)
        luck = chance()
        if luck < AT_ONCE:
            pause(1 + int(luck * 20) if luck >= slow else _latency(luck, rates))
        luck = chance()
        if luck > quiet and process.faulty:
            return _unlucky(luck - quiet, effect, name, kernel, rates, args, kwargs)
        kernel.digest = crc32(noted, kernel.digest ^ kernel.now)
        answer = effect(*args, **kwargs)
        # The pause before the next call's effect lets the others in just as well; this one lets time pass
        # between the effect and what the caller's clock says then.
        if luck < ANSWER_TAKES_TIME:
            pause(_latency(chance(), rates))
        return answer

    return call


def _unlucky(
    luck: float,
    effect: Callable[..., Any],
    name: str,
    kernel: Kernel,
    rates: Rates,
    args: Any,
    kwargs: Any,
) -> Any:
    happens = luck > rates.total()
    luck -= rates.total() if happens else 0
    if happens:
        kernel.note(name.encode())
        effect(*args, **kwargs)
        kernel.pause(_latency(kernel.chance(), rates))
    if luck < rates.crash:
        kernel.note(b"crashed")
        raise Killed
    if luck < rates.crash + rates.throttled:
        raise Unavailable(f"{name}: throttled")
    raise Unavailable(f"{name}: the answer was lost")


def _latency(luck: float, rates: Rates) -> int:
    if luck < rates.stuck:
        return 500 + round(luck / rates.stuck * 60_000)
    if luck < rates.slow:
        return 20 + round(luck / rates.slow * 3_000)
    return 1 + round(luck * 10)
