"""What measurements found is written into the page, between its marks."""

import pytest

from bench.pages import fill, table
from bench.performance import PAGE, tables

COSTS = {"way": "burst", "payload": 2_048, "keyed": True}
UNITS = {"write_units": 4.016, "read_units": 2.7, "dynamodb": 3.18, "sqs": 0.3}
LATE = {"p50": 700, "p99": 1_900, "max": 2_000}
CPU = {"cpu_us_per_task": 481.25, "floor_cpu_us_per_task": 409.8, "ratio_to_floor": 1.174}
RESULTS = {
    "dispatch": CPU,
    "worker": CPU,
    "create": {**CPU, "keyed": CPU, "http": CPU, "http_keyed": {**CPU, "ratio_to_floor": 2.5}},
    "ledger": {
        "tasks": [{**COSTS, **UNITS}],
        "floor": UNITS,
        "by_phase": [
            {
                "phase": "run",
                "write_units": 2.0,
                "read_units": 1.0,
                "dynamodb_requests": 2.1,
                "sqs_requests": 0.2,
                "log_bytes": 493.4,
            }
        ],
        "usd_per_million": [{**COSTS, "dynamodb": 2.8, "http": 1.0, "total": 3.8}],
        "eventbridge_scheduler": [{**COSTS, "scheduler": 1.0, "total": 1.0}],
        "idle_month": {"usd": [{"what": "ticks", "dynamodb": 0.7, "total": 0.7}]},
    },
    "end_to_end": {
        "tasks": 300,
        "lateness_ms": LATE,
        "early": 0,
        "lost": 1,
        "doubled": 2,
        "by_tick": {"tasks": 150, "lateness_ms": LATE},
        "near": {"tasks": 150, "lateness_ms": {}},
    },
    "memory": {"buckets": [{"tasks": 10_000, "most_mb": 56.4, "added_mb": 3.9}]},
    "start_up": {
        "functions": [{"function": "api", "import_ms": 412.3, "open_ms": 99.94}],
        "layers": [{"layer": "one", "files": 3_382, "unzipped_mb": 34.2, "zipped_mb": 20.7}],
    },
}


def test_each_mark_of_the_page_is_made_by_a_measurement(tmp_path):
    page = tmp_path / "performance.md"
    page.write_text(PAGE.read_text("utf-8"), "utf-8")
    made = tables(RESULTS)
    fill(page, dict.fromkeys(made, "made anew"))
    assert page.read_text("utf-8").count("\nmade anew\n") == len(made)


def test_numbers_stand_in_their_rows():
    made = tables(RESULTS)
    assert "| burst, 2,048 B, with a key | 4.02 | 2.70 | 3.18 | 0.30 |" in made["units"]
    assert "| run | 2.00 | 1.00 | 2.10 | 0.20 | 493 |" in made["phases"]
    assert "| burst, 2,048 B, with a key | 2.80 | 1.00 | 3.80 |" in made["usd"]
    assert "| a tick of 4,000 | 481 | 410 | 1.17 |" in made["dispatch"]
    assert "| the same with keys | 481 | 410 | 2.50 |" in made["create"]
    assert "| by a tick | 150 | 700 | 1,900 | 2,000 |" in made["end_to_end"]
    assert made["end_to_end"].endswith("Of all 300: 0 early, 1 lost, 2 doubled.")
    assert "| api | 412 | 99.94 |" in made["imports"]


@pytest.mark.parametrize("name", RESULTS)
def test_what_was_not_measured_leaves_its_tables_as_they_are(name):
    without = {one: told for one, told in RESULTS.items() if one != name}
    assert tables(without).keys() < tables(RESULTS).keys()


def test_a_table_is_filled_between_its_marks_alone(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        "a\n<!-- made: one -->\nold\n<!-- end -->\nb\n<!-- made: two -->\n<!-- end -->\n"
    )
    fill(page, {"one": table(["x", "y"], [["1", "2"]])})
    assert page.read_text() == (
        "a\n<!-- made: one -->\n\n| x | y |\n| --- | ---: |\n| 1 | 2 |\n\n<!-- end -->\n"
        "b\n<!-- made: two -->\n<!-- end -->\n"
    )
