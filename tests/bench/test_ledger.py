"""The ledger at a tiny size: counts and shapes."""

import re
from pathlib import Path

import pytest
import yaml

from bench import deployment, ledger
from bench.ways import burst, near

pytestmark = pytest.mark.stack
TASKS = 3


@pytest.fixture(scope="module")
def told():
    return ledger.measure((burst("burst", TASKS), near(1)), (200,), shards=1)


def row(told, way, *, keyed):
    (found,) = [one for one in told["tasks"] if (one["way"], one["keyed"]) == (way, keyed)]
    return found


def test_the_units_reckoned_are_those_the_database_tells(told):
    assert len(told["tasks"]) == 4
    for one in told["tasks"]:
        assert one["write_units"] == one["as_the_database_says"]


def test_a_task_costs_four_units_and_its_share_of_the_batch(told):
    # The open claim, written and deleted, the lease; the watermark moves without a task too.
    assert row(told, "burst", keyed=False)["write_units"] == pytest.approx(4 + 4 / TASKS)
    assert row(told, "one by one, near", keyed=False)["write_units"] == 4
    assert told["write_units_per_task"] == row(told, "burst", keyed=False)["write_units"]


@pytest.mark.parametrize("way", ["burst", "one by one, near"])
def test_a_key_costs_three_units_more(told, way):
    small = row(told, way, keyed=False)["write_units"]
    assert row(told, way, keyed=True)["write_units"] - small == pytest.approx(3)


def test_the_requests_are_those_of_each_step(told):
    near_by = row(told, "one by one, near", keyed=False)
    # Sent, received and deleted alone.
    assert near_by["sqs"] == 3
    # Put, marked as sent, read, started and finished; the rest is what was read of settings and pages.
    assert near_by["dynamodb"] >= 5
    assert told["requests_per_task"] == {
        name: row(told, "burst", keyed=False)[name] for name in ("dynamodb", "sqs")
    }
    phases = {one["phase"]: one for one in told["by_phase"]}
    assert phases["run"]["write_units"] == 2
    assert phases["create"]["write_units"] == 1


def test_nothing_costs_less_than_the_floor(told):
    for name, least in told["floor"].items():
        for one in told["tasks"]:
            assert one[name] >= least


def test_bills_are_sums_of_their_lines(told):
    for one in [
        *told["usd_per_million"],
        *told["eventbridge_scheduler"],
        *told["idle_month"]["usd"],
    ]:
        lines = [
            cost
            for name, cost in one.items()
            if isinstance(cost, float) and name not in ("total", "payload")
        ]
        assert one["total"] == pytest.approx(sum(lines))
    assert told["usd_per_million_tasks"] == told["usd_per_million"][0]["total"]


def test_an_idle_tick_writes_the_watermark_alone(told):
    assert told["idle_month"]["a_tick"]["write_units"] == told["idle_month"]["shards"]


def test_the_memory_of_the_functions_is_the_templates():
    text = (Path(__file__).parents[2] / "template.yaml").read_text("utf-8")
    loader = type("Loader", (yaml.SafeLoader,), {})
    loader.add_multi_constructor("!", lambda *_: None)
    template = yaml.load(text, loader)
    default = template["Globals"]["Function"]["MemorySize"]
    for name, memory in deployment.MEMORY_GB.items():
        logical = re.sub(r"^\w", lambda first: first[0].upper(), name) + "Function"
        told = template["Resources"][logical]["Properties"].get("MemorySize", default)
        assert told == memory * 1024, name
