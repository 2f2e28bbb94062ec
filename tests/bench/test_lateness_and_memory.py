"""What is reckoned of an end-to-end run; memory and start-up at a tiny size."""

import pytest

from bench import memory, start_up
from bench.end_to_end import BY_TICK, NEAR, Created, lateness, outcome


def test_percentiles_are_those_of_the_tasks_that_are_no_later():
    assert lateness(range(1, 201)) == {"p50": 100, "p99": 198, "max": 200}
    assert lateness([7]) == {"p50": 7, "p99": 7, "max": 7}
    assert lateness([]) == {}


def test_early_lost_and_doubled_are_counted_by_what_the_job_wrote_down():
    created = [
        Created("on time", 1_000, NEAR),
        Created("early", 1_000, NEAR),
        Created("twice", 1_000, BY_TICK),
        Created("lost", 1_000, BY_TICK),
    ]
    told = outcome(created, {"on time": (1_250, 1), "early": (999, 1), "twice": (1_500, 2)})
    assert (told["tasks"], told["early"], told["lost"], told["doubled"]) == (4, 1, 1, 1)
    assert told["lateness_ms"]["max"] == 500
    assert told[NEAR] == {"tasks": 2, "lateness_ms": {"p50": -1, "p99": 250, "max": 250}}
    assert told[BY_TICK]["tasks"] == 1


def test_the_memory_of_a_tick_over_two_buckets_is_told():
    told = memory.measure(small=30, large=60)
    assert [one["tasks"] for one in told["buckets"]] == [30, 60]
    for one in told["buckets"]:
        assert one["most_mb"] > one["added_mb"] >= 0


@pytest.mark.parametrize("name", start_up.FUNCTIONS)
def test_each_function_is_imported_from_what_is_built(name, tmp_path):
    for layer in start_up.LAYERS:
        (tmp_path / layer / "python").mkdir(parents=True)
    function = tmp_path / start_up.FUNCTIONS[name]
    function.mkdir()
    (function / "app.py").write_text("registry = load_jobs = lambda: None")
    (tmp_path / start_up.LAYERS[1] / "python" / "minutero.py").write_text(
        f"class wiring:\n    {name} = lambda *_: None\n"
    )
    told = start_up.function(tmp_path, name, rounds=1)
    assert told["function"] == name
    assert told["import_ms"] > 0


def test_a_layer_is_as_large_as_its_files_without_what_was_compiled(tmp_path):
    (tmp_path / "python" / "__pycache__").mkdir(parents=True)
    (tmp_path / "python" / "a.py").write_bytes(b"x" * start_up.MEGABYTE)
    (tmp_path / "python" / "__pycache__" / "a.pyc").write_bytes(b"x" * start_up.MEGABYTE)
    told = start_up.layer(tmp_path)
    assert (told["files"], told["unzipped_mb"]) == (1, 1.0)
    assert 0 < told["zipped_mb"] < 0.1
