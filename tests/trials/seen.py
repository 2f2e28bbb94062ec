"""What the jobs and the workers saw, and what it says of the promises."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Seen:
    """What became of the tasks. One in doubt was asked for and never confirmed; one is over when a worker has
    acknowledged it as ended. By name, `ended` and `over` by task id."""

    confirmed: dict[str, str] = field(default_factory=dict)
    in_doubt: set[str] = field(default_factory=set)
    starts: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    over: set[str] = field(default_factory=set)
    early: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    lateness: list[int] = field(default_factory=list)

    def numbers(self, coins: Mapping[str, int]) -> dict[str, Any]:
        """early, lost and doubled, and how late the first starts were, in milliseconds. `coins` tells how
        often each effect took place."""
        late = sorted(self.lateness) or [0]
        twice = [name for name, count in coins.items() if count > 1]
        twice += [task_id for task_id, count in self.ended.items() if count > 1]
        return {
            "tasks": len(self.confirmed),
            "early": len(self.early),
            "lost": len(set(self.confirmed.values()) - self.over),
            "doubled": len(twice) + len(self.again),
            "in_doubt": len(self.in_doubt),
            "lateness_ms": {
                "p50": late[len(late) // 2],
                "p99": late[len(late) * 99 // 100],
                "max": late[-1],
            },
        }
