"""Nobody ticks for hours, everybody comes at once, no worker works: what is owed then, and in which order."""

import json

from minutero.domain.instants import HOUR, MINUTE, SECOND
from minutero.service.fan_out import GROUP

WAITING = 5_000
BURST = 2_000
OUTAGE = 300
NO_EFFECT = {"effect": False}


def test_after_three_hours_without_a_tick_what_is_due_now_goes_first_then_all(trial):
    # Each request takes a tenth of a second of the trial's clock, so that one tick is not enough.
    made = trial(request_time=100, shards=2)
    start = made.clock.now()
    every = 3 * HOUR // WAITING
    made.add_many({f"late-{at}": start + 5 * MINUTE + at * every for at in range(WAITING - 50)})
    after = start + 3 * HOUR + 6 * MINUTE
    made.add_many({f"now-{at}": after + at * SECOND for at in range(50)})
    assert made.sent == []
    made.clock.set(after)
    ticks = 0
    while made.clock.now() - 8 * MINUTE > min(made.watermarks(), default=0):
        made.clock.set(max(made.clock.now(), after + ticks * MINUTE))
        made.tick()
        ticks += 1
    due = [json.loads(body)["due"] for body in made.sent]
    backlog = next(at for at, one in enumerate(due) if one < after - 2 * MINUTE)
    assert {one for one in due if one >= after} <= set(due[:backlog])
    assert len(set(made.sent)) == len(made.sent) == WAITING
    assert ticks > 1
    print({"tasks": WAITING, "ticks": ticks, "sent_before_the_backlog": backlog})


def test_2000_tasks_of_one_second_are_all_run_once(trial):
    made = trial()
    due = made.clock.now() + 10 * MINUTE
    made.add_many({f"task-{at}": due for at in range(BURST)}, NO_EFFECT)
    made.play(due + 2 * MINUTE, ticks=1)
    told = made.numbers()
    print(told)
    assert (told["tasks"], told["early"], told["lost"], told["doubled"]) == (BURST, 0, 0, 0)
    assert told["messages"] == BURST


def test_an_hour_without_a_worker_loses_nothing_and_sends_nothing_again(trial):
    made = trial()
    start = made.clock.now()
    made.add_many({f"task-{at}": start + at * 10 * SECOND for at in range(OUTAGE)}, NO_EFFECT)
    # Longer than an hour, so that the audit looks at what waits, too.
    made.play(start + 80 * MINUTE, ticks=1, works=False, audits=True)
    assert len(made.sent) == OUTAGE
    made.play(start + 80 * MINUTE + 10 * MINUTE, ticks=1, audits=True)
    told = made.numbers()
    print(told)
    assert (told["tasks"], told["early"], told["lost"], told["doubled"]) == (OUTAGE, 0, 0, 0)
    assert told["messages"] == OUTAGE, [one for one in made.sent if made.sent.count(one) > 1]


def test_64_shards_are_served_by_invocations_of_which_some_get_lost_and_some_come_twice_at_once(
    trial,
):
    made = trial(shards=64)
    due = made.clock.now() + 10 * MINUTE
    for shard in range(64):
        # As if ticks had come until now.
        made.api.stats.cursors.begin(shard, due - 6 * MINUTE)
    made.add_many({f"task-{at}": due for at in range(5 * 64)}, NO_EFFECT)
    made.clock.set(due - 2 * MINUTE)
    first, *others = [list(range(at, at + GROUP)) for at in range(0, 64, GROUP)]
    made.serve_at_once([first, *others[2:], first, *others[4:]])
    lost = {f"{shard:02}" for group in others[:2] for shard in group}
    served = [json.loads(body)["bucket"][-2:] for body in made.sent]
    assert len(lost) == 2 * GROUP
    assert lost.isdisjoint(served)
    made.serve_at_once([first, *others, *others])
    made.play(due + MINUTE, ticks=0)
    told = made.numbers()
    print(told)
    assert (told["tasks"], told["early"], told["lost"], told["doubled"]) == (320, 0, 0, 0)
    assert told["messages"] == 320
