"""Injected faults: nothing is early, lost or doubled, whatever the wire does and whoever dies."""

from minutero.aws import queue
from minutero.domain.exchanged import Sent
from minutero.domain.instants import MINUTE, SECOND
from tests.trials import proxy
from tests.trials.broken_wire import Rates

FAULTS = Rates(throttled=0.05, lost=0.02, unsent=0.01, partial=0.1, conflicts=0.03, deaths=0.002)
SPAN = 10 * MINUTE
LARGE = {"note": "ñ" * 2_000}


def load(trial, tasks):
    """Tasks over the span, near and far: with keys, in batches, with large payloads; and two schedules."""
    draw, now = trial.wire.random, trial.clock.now()
    due = {f"task-{at}": now + draw.randrange(SPAN // SECOND) * SECOND for at in range(tasks)}
    names = list(due)
    batch, keyed, large, plain = (names[part::4] for part in range(4))
    trial.add_many({name: due[name] for name in batch})
    for name in keyed:
        trial.add(name, due[name], {"fails": draw.random() < 0.1}, key=name)
    for name in large:
        trial.add(name, due[name], LARGE)
    for name in plain:
        trial.add(name, due[name])
    trial.put_schedule("often", "rate(3 minutes)")
    trial.put_schedule("seldom", "cron(0/5 * * * ? *)")


def ended_right(trial):
    """What is promised, whatever went wrong."""
    told = trial.numbers()
    print(told)
    assert (told["early"], told["lost"], told["doubled"]) == (0, 0, 0)
    return told


def test_500_tasks_end_right_under_throttles_lost_answers_and_deaths(trial):
    made = trial(seed=7, rates=FAULTS)
    start = made.clock.now()
    load(made, 500)
    made.play(start + SPAN + 20 * MINUTE, deaths_in_jobs=0.02)
    told = ended_right(made)
    assert told["tasks"] + told["in_doubt"] == 500
    assert set(told["faults"]) == {"throttled", "lost", "unsent", "partial", "conflicts", "deaths"}
    coins = made.coins()
    assert made.seen.confirmed.keys() <= coins.keys()
    for name, minutes in (("often", 3), ("seldom", 5)):
        fired = sum(key.startswith(f"{name} ") for key in coins)
        assert fired in range(29 // minutes, 30 // minutes + 2)
    assert made.open_claims() == 0
    assert min(made.watermarks()) >= made.clock.now() - 8 * MINUTE


def test_it_is_noticed_when_failed_entries_are_not_read(trial, monkeypatch):
    monkeypatch.setattr(queue, "_of_entry", lambda failure: Sent.SENT)
    made = trial(seed=8, rates=Rates(partial=0.3))
    now = made.clock.now()
    made.add_many({f"task-{at}": now + 10 * MINUTE for at in range(50)})
    made.play(now + 25 * MINUTE)
    assert made.numbers()["lost"] > 0


def test_a_proxy_that_throttles_resets_and_cuts_answers_off_loses_nothing(
    trial, ministack, tmp_path
):
    with proxy.between(ministack, tmp_path) as via:
        made = trial(via=via)
        start = made.clock.now()
        made.add_many({f"task-{at}": start + at * 5 * SECOND for at in range(60)})
        for at in range(60):
            made.add(f"keyed-{at}", start + at * 5 * SECOND, key=f"key-{at}")
        made.play(start + 15 * MINUTE)
        faults = proxy.fired(via)
    ended_right(made)
    print(faults)
    assert faults
