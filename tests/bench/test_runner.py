"""`python -m bench`: the order, the results, and what a failing measurement does."""

import io
import json
import sys

import pytest
from rich.console import Console

from bench.__main__ import MEASUREMENTS, run


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Runs measurements whose code is given, by name."""
    (tmp_path / "made_up").mkdir()
    monkeypatch.syspath_prepend(tmp_path)

    def go(each=60, together=60, **modules):
        for name, code in modules.items():
            (tmp_path / "made_up" / f"{name}.py").write_text(f"def measure():\n    {code}\n")
        told = io.StringIO()
        results = tmp_path / "results.json"
        names = [f"made_up.{name}" for name in modules]
        code = run(names, results, Console(file=told, width=100), each, together)
        return code, json.loads(results.read_text()), told.getvalue()

    return go


def test_results_are_kept_by_name_and_printed(bench):
    code, results, told = bench(
        one="return {'tasks': 3, 'inner': {'units': 4.0}}",
        two="return {'rows': [{'size': 200, 'usd': 1.5}, {'size': 2_000, 'usd': 2.5}]}",
    )
    assert code == 0
    assert results == {
        "one": {"tasks": 3, "inner": {"units": 4.0}},
        "two": {"rows": [{"size": 200, "usd": 1.5}, {"size": 2_000, "usd": 2.5}]},
    }
    assert "inner.units" in told
    assert "2.500" in told


def test_one_that_fails_is_told_and_the_others_are_made(bench):
    code, results, told = bench(
        broken="raise ValueError('[no] numbers')",
        gone="import os; os._exit(3)",
        one="return {'tasks': 3}",
    )
    assert code == 1
    assert results == {"one": {"tasks": 3}}
    assert "ValueError: [no] numbers" in told
    assert "its process ended with 3" in told
    assert "failed: broken, gone" in told


def test_one_that_takes_too_long_is_given_up(bench):
    code, results, told = bench(each=1, endless="import threading; threading.Event().wait()")
    assert (code, results) == (1, {})
    assert "no result within 1 s" in told


def test_there_is_a_time_for_all_of_them_together(bench):
    code, results, told = bench(together=0, one="return {'tasks': 3}", two="return {'tasks': 3}")
    assert (code, results) == (1, {})
    assert "failed: one, two" in told


@pytest.mark.parametrize("name", MEASUREMENTS)
def test_each_measurement_has_a_module_that_measures(name):
    __import__(f"bench.{name}")
    assert callable(sys.modules[f"bench.{name}"].measure)
