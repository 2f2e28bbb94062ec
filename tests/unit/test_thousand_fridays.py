"""1,000 Fridays with all that can go wrong: +10 a week for each winner, one summary a week."""

import random
from collections import Counter

import pytest
from faults import ProcessDied, is_down, loses_its_answer
from league import FRIDAY, WINNERS, League, load_job, week_at

from minutero.domain.instants import DAY, MINUTE, SECOND
from minutero.errors import Unavailable
from minutero.testing import MemorySlots

FRIDAYS = 1_000
REPLICAS = 3
DELIVERIES = 10
"""Of one Friday, with faults; then each replica's task is delivered twice more, without."""


def dies(real, *args, **kwargs):
    raise ProcessDied


def dies_after(real, *args, **kwargs):
    real(*args, **kwargs)
    raise ProcessDied


FAULTS = {
    "nothing": None,
    "down before the commit": ("slots", "take", is_down),
    "commit's answer lost": ("slots", "take", loses_its_answer),
    "crash before the commit": ("slots", "take", dies),
    "crash after the commit": ("slots", "take", dies_after),
    "crash before the run ends": ("ledger", "finish", dies),
    "end's answer lost": ("ledger", "finish", loses_its_answer),
    "start's answer lost": ("ledger", "start", loses_its_answer),
    "renamed section": "rename",
    "another run between read and commit": "between",
}


class Friday:
    """One Friday: three replicas' tasks, delivered in any order and any number of times, with faults."""

    def __init__(self, league, chance, happened):
        self.league, self.world = league, league.world
        self.chance = chance
        self.happened = happened
        self.tasks = [league.add_run(max_attempts=20) for _ in range(REPLICAS)]

    def play(self):
        for _ in range(DELIVERIES):
            fault = self.chance.choice(list(FAULTS))
            self.happened[fault] += 1
            self._deliver(self.chance.choice(self.tasks), fault)
            # At once, staggered, or past the end of an attempt that has died.
            self.world.clock.advance(self.chance.choice([0, SECOND, MINUTE, 2 * MINUTE]))
        for task in self.tasks * 2:
            self.world.clock.advance(2 * MINUTE)
            self._deliver(task, "nothing")

    def _deliver(self, task, fault):
        league, world = self.league, self.world
        if fault != "renamed section":
            league.restore_section()
        match FAULTS[fault]:
            case "rename":
                league.rename_section()
            case "between":
                league.after_read = self._another_run
            case (port, method, replacement):
                getattr(world, port).next(method, replacement)
        try:
            world.deliver(task)
        except (ProcessDied, Unavailable):
            self.happened["processes or answers lost"] += 1
        finally:
            league.after_read = lambda: None
            for port in (world.slots, world.ledger):
                port.heal()

    def _another_run(self):
        self.league.after_read = lambda: None
        self._deliver(self.chance.choice(self.tasks), "nothing")


def check(league, week, weeks):
    """One Friday is over."""
    coins = {who: league.table.get(f"wallet#{who}")["coins"] for who in WINNERS}
    assert coins == dict.fromkeys(WINNERS, 10 * weeks), week
    assert league.table.get(f"thread#{week}")["section"] == "announcements"
    assert all(league.table.get(f"notification#{week}#{who}") for who in WINNERS)
    # Beside them: the boards, the threads, the notifications, the section.
    assert len(league.table.items()) == len(WINNERS) + weeks * (2 + len(WINNERS)) + 1


def play(league, fridays):
    """So many Fridays, each looked at when it is over; how often what went wrong."""
    chance, happened = random.Random(fridays), Counter()
    for number in range(fridays):
        now = FRIDAY + number * 7 * DAY
        league.world.clock.set(now)
        league.open_board(week_at(now))
        Friday(league, chance, happened).play()
        check(league, week_at(now), number + 1)
    return happened


def test_each_wallet_gets_ten_a_week_over_a_thousand_fridays(monkeypatch):
    league = League(monkeypatch, load_job())
    happened = play(league, FRIDAYS)
    assert set(FAULTS) <= set(happened)
    coins = {who: league.table.get(f"wallet#{who}")["coins"] for who in WINNERS}
    print(
        f"{FRIDAYS} Fridays, {len(league.world.runs)} bodies of {FRIDAYS * REPLICAS} runs: {coins}"
    )
    print(dict(happened))


def test_without_the_slot_ten_fridays_are_enough_to_pay_too_much(monkeypatch):
    take = MemorySlots.take

    def upserted(self, slot, writes):
        self.taken.clear()
        return take(self, slot, writes)

    monkeypatch.setattr(MemorySlots, "take", upserted)
    with pytest.raises(AssertionError):
        play(League(monkeypatch, load_job()), 10)
