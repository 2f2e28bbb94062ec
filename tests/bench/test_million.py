"""The simulation of a minute with very many tasks, at small sizes: what it may never do."""

import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from bench.million import LOOK_AHEADS, SHARDS
from bench.million.dispatching import TICK_TIME, Dispatching
from bench.million.limits import BATCH, PARTITION_READS, PARTITION_WRITES
from bench.million.plot import HEIGHT, picture
from bench.million.scenario import DISPATCHER_MEMORY, WORKER_MEMORY, Scenario
from bench.million.simulate import ready, simulate
from bench.million.store import WHOLE, WRITE, Table
from bench.million.working import batches, start

SVG = "{http://www.w3.org/2000/svg}"
TEMPLATE = Path(__file__).parents[2] / "template.yaml"
SMALL = Scenario(20_000, minutes=2, shards=16, look_ahead=5)


def due(sent):
    return Counter(second for one in sent for second in one.due)


@pytest.mark.parametrize("tasks", [1, 999, 20_000])
@pytest.mark.parametrize("shards", [1, 16])
def test_every_task_is_claimed_and_sent_once(tasks, shards):
    sent = Dispatching(replace(SMALL, tasks=tasks, shards=shards)).run()
    assert sum(len(one.due) for one in sent) == 2 * tasks
    assert all(one.claimed_at < one.sent_at for one in sent)


def test_the_tasks_of_each_second_are_sent_once():
    sent = due(Dispatching(replace(SMALL, tasks=6_000, shards=10)).run())
    assert sent == Counter(dict.fromkeys(range(120), 100))


def test_every_message_starts_once_and_none_before_it_can_be_received():
    messages = ready(Dispatching(SMALL).run())
    started = start(SMALL, messages)
    assert started.total() == messages.total() == 40_000
    of_second = Counter()
    for (second, _), count in started.items():
        of_second[second] += count
    assert of_second == due(Dispatching(SMALL).run())
    assert all(step / 10 >= second for second, step in started)


def test_no_partition_and_no_table_gives_more_than_it_has_in_any_second():
    dispatching = Dispatching(replace(SMALL, tasks=60_000))
    dispatching.run()
    table = dispatching.table
    assert max(table.used.values()) <= WHOLE
    assert max(table.written.values()) <= 4_000
    assert max(table.used.values()) > 0.9 * WHOLE, "nothing came near the limit: it is not tested"


def test_a_partition_gives_its_reads_or_its_writes_or_a_mix():
    table = Table(4_000)
    assert table.write(0, 5_000, now=7.2) == PARTITION_WRITES
    assert not table.read(0, 1, now=7.9)
    assert table.read(0, PARTITION_READS, now=8.0)
    assert table.write(0, 1, now=8.5) == 0
    assert table.read(1, PARTITION_READS // 2, now=8.0)
    assert table.write(1, 5_000, now=8.0) == PARTITION_READS // 2 // WRITE


def never_later(scenarios):
    ends = [simulate(scenario).sent for scenario in scenarios]
    assert all(later <= earlier for earlier, later in pairwise(ends)), ends
    assert ends[-1] < ends[0]


def test_more_shards_are_never_slower():
    never_later(replace(SMALL, tasks=60_000, shards=shards) for shards in (8, 16, 32, 64))


def test_more_look_ahead_is_never_later():
    never_later(replace(SMALL, look_ahead=minutes) for minutes in (2, 5, 10, 14))


def test_a_table_that_is_ready_for_more_is_never_slower():
    never_later(replace(SMALL, tasks=60_000, table_units=units) for units in (4_000, 8_000, 40_000))


def test_the_same_scenario_has_the_same_outcome():
    assert simulate(SMALL) == simulate(SMALL)


def test_lambda_begins_with_five_batches_and_stops_at_the_maximum():
    mapped = replace(SMALL, concurrency=100)
    grown = [batches(mapped, seconds) for seconds in (1.6, 10, 60, 600)]
    assert grown == sorted(grown)
    assert 5 <= grown[0] < 6
    assert grown[-1] == 100


def test_pollers_are_there_at_once_as_far_as_the_account_goes():
    assert batches(replace(SMALL, pollers=10), 2) == 100
    assert batches(replace(SMALL, pollers=200), 600) == 1_000 - SMALL.dispatchers


def test_what_is_simulated_is_what_the_template_says():
    text = TEMPLATE.read_text("utf-8")
    dispatcher = text[text.index("  DispatcherFunction:") : text.index("  WorkerFunction:")]
    assert f"MemorySize: {DISPATCHER_MEMORY}" in dispatcher
    assert int(re.search(r"Timeout: (\d+)", dispatcher)[1]) == TICK_TIME + 5
    assert re.search(r"Globals:.*?MemorySize: (\d+)", text, re.DOTALL)[1] == str(WORKER_MEMORY)
    assert text.count(f"BatchSize: {BATCH}") == 2


def test_the_picture_has_a_line_for_each_shard_count_and_none_outside_of_it():
    rows = [
        {"shards": shards, "look_ahead": minutes, "sent_ahead": 100.0 * shards - 9_000 / minutes}
        for shards in SHARDS
        for minutes in LOOK_AHEADS
    ]
    root = ET.fromstring(picture(rows, "a title"))
    lines = root.findall(f"{SVG}polyline")
    assert len(lines) == len(SHARDS)
    heights = [float(point.split(",")[1]) for line in lines for point in line.get("points").split()]
    assert len(heights) == len(rows)
    assert all(0 < height < HEIGHT for height in heights)
