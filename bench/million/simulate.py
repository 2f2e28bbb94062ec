"""One scenario from the first tick to the last start."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import ceil

from bench.million.dispatching import Dispatching, Sent
from bench.million.scenario import Scenario
from bench.million.working import STEP, start


@dataclass(frozen=True, slots=True)
class Outcome:
    """Seconds. `claimed`, `sent`, `started`: when the last task was, from the start of the first minute on;
    what is negative is ahead of it. `ahead`: how long before the second it was due in the hindmost task
    was sent; negative is late. `lateness`: from the second a task is due in to its start."""

    claimed: float
    sent: float
    ahead: float
    started: float
    lateness: Mapping[int, float]


def simulate(scenario: Scenario) -> Outcome:
    """What becomes of a scenario."""
    sent = Dispatching(scenario).run()
    started = start(scenario, ready(sent))
    return Outcome(
        claimed=max(one.claimed_at for one in sent),
        sent=max(one.sent_at for one in sent),
        ahead=min(one.due[0] - one.sent_at for one in sent),
        started=max(step for _, step in started) * STEP,
        lateness=_percentiles(started),
    )


def ready(sent: Iterable[Sent]) -> Counter[tuple[int, int]]:
    """Messages by (step from which they can be received, second they are due in). SQS counts delays in whole
    seconds, and they are rounded up, so a message may come up to a second after its task is due."""
    found: Counter[tuple[int, int]] = Counter()
    for one in sent:
        for due, count in Counter(one.due).items():
            at = one.sent_at + max(0, ceil(due - one.sent_at))
            found[ceil(at / STEP), due] += count
    return found


def _percentiles(started: Mapping[tuple[int, int], int]) -> dict[int, float]:
    late: Counter[float] = Counter()
    for (due, step), count in started.items():
        late[round(step * STEP - due, 1)] += count
    wanted = {50: late.total() * 0.5, 99: late.total() * 0.99, 100: late.total()}
    found: dict[int, float] = {}
    passed = 0
    for lateness in sorted(late):
        passed += late[lateness]
        found |= {name: lateness for name in wanted if name not in found and passed >= wanted[name]}
    return found
