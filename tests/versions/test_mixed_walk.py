"""Any order of calls, each by either version: nothing is lost, doubled or early, and both tell the same."""

import random

import pytest
from deployment import Message, Refused

from minutero.domain.instants import MINUTE, SECOND

pytestmark = pytest.mark.stack

STEPS = 30
DEEDS = ["fail", "die", "fail for long", "refuse", "skip"]
OVER = {"succeeded", "skipped", "dead", "cancelled"}


class Walk:
    """One deployment on which either version does what chance says."""

    def __init__(self, seed, halves, deployment):
        self.chance = random.Random(seed)
        self.halves = list(halves.values())
        self.now = halves["now"]
        self.deployment = deployment
        self.due = {}
        self.cancelled = {}
        self.discarded = set()

    @property
    def either(self):
        return self.chance.choice(self.halves)

    def step(self):
        steps = (self.add, self.tick, self.work, self.work, self.bury, self.change, self.audit)
        weights = (6, 4, 4, 4, 2, 4, 1)
        self.chance.choices(steps, weights)[0]()

    def add(self):
        due = self.deployment.now + self.chance.randrange(12) * MINUTE
        deeds = self.chance.choices(DEEDS, k=self.chance.choice([0, 0, 0, 1, 2]))
        payload = {"do": deeds, "long": "x" * self.chance.choice([0, 0, 5_000])}
        key = self.chance.choice([{}, {"key": f"k{len(self.due)}"}])
        task = self.either.add(payload, run_at=due, **key)
        if key:
            assert self.either.add(payload, run_at=due, **key) == task
        self.due[task] = due

    def tick(self):
        self.deployment.now += self.chance.randrange(5, 120) * SECOND
        self.either.tick(dies=self.chance.random() < 0.2)

    def work(self):
        """Messages one by one, each by either version, now and then delivered twice."""
        for body in self.deployment.received():
            started = len(self.deployment.ran)
            for _ in range(self.chance.choice([1, 1, 2])):
                (end,) = self.either.work([body]) or ["died"]
            for run in self.deployment.ran[started:]:
                assert run["at"] >= self.due[run["task_id"]]
            if end == "died" or end.startswith("kept"):
                again = Message(body, self.deployment.now + 6 * MINUTE)
                self.deployment.messages.append(again)

    def bury(self):
        for body in list(self.deployment.dead_messages):
            self.deployment.dead_messages.remove(body)
            (end,) = self.either.call("bury", bodies=[body])
            if end.startswith("kept"):
                self.deployment.dead_messages.append(body)

    def audit(self):
        self.either.call("audit")

    def change(self):
        if not self.due:
            return
        task = self.chance.choice(list(self.due))
        change = self.chance.choice(["cancel", "reschedule", "run_now", "redrive", "discard"])
        half = self.now if change == "discard" else self.either
        due = self.deployment.now + self.chance.randrange(8) * MINUTE
        more = {"run_at": due} if change == "reschedule" else {}
        try:
            half.call(change, task_id=task, **more)
        except Refused as refused:
            if refused.error not in ("Conflict", "NotFound", "Unavailable"):
                raise
        else:
            self.changed(task, change, due)

    def changed(self, task, change, due):
        match change:
            case "cancel":
                self.cancelled[task] = len(self.deployment.ran)
            case "discard":
                self.discarded.add(task)
            case "reschedule":
                self.due[task] = due
            case _:
                self.due[task] = self.deployment.now

    def end(self):
        """Time passes, and nothing goes wrong any more, until all tasks are over."""
        waiting = list(self.due)
        for _ in range(60):
            self.work()
            self.bury()
            waiting = [task for task in waiting if self.now.status(task) not in OVER]
            if not waiting:
                return
            self.deployment.now += 5 * MINUTE
            self.either.tick()
        raise AssertionError([self.now.read(task) for task in waiting])


@pytest.mark.parametrize("seed", range(2))
def test_whoever_makes_which_call_nothing_is_lost_doubled_or_early(seed, halves, deployment):
    walk = Walk(seed, halves, deployment)
    for _ in range(STEPS):
        walk.step()
    walk.end()
    succeeded = deployment.succeeded
    assert len(succeeded) == len(set(succeeded))
    for task in walk.due:
        told = [half.read(task) for half in walk.halves]
        assert told[0] == told[1]
        assert (told[0]["status"] == "succeeded") == (task in succeeded)
    for task, at in walk.cancelled.items():
        assert task not in [run["task_id"] for run in deployment.ran[at:]]
    listed = walk.now.call("dead")
    assert sorted(listed) == sorted(
        task for task in walk.due if walk.now.status(task) == "dead" and task not in walk.discarded
    )
