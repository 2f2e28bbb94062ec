"""The page on cost is held against a new count of its cheapest columns."""

import re

import pytest

from bench import cost
from bench.ledger import Ledger
from bench.prices import PRICES
from minutero_cli.local.scratch import folder, ministack

COUNTED = 1_000_000
"""The volume that is counted anew: the quickest."""

HALF_A_CENT = 0.005


def cells(name, row):
    """What a table of the page says in this row."""
    text = cost.PAGE.read_text("utf-8")
    (made,) = re.findall(rf"<!-- made: {name} -->\n(.*?)<!-- end -->", text, re.DOTALL)
    (line,) = [line for line in made.splitlines() if line.startswith(f"| {row} |")]
    return [float(cell.replace(",", "")) for cell in line.strip("| ").split(" | ")[1:]]


@pytest.fixture(scope="module")
def told():
    """Of an idle month, and of a million."""
    with folder() as home, ministack(home) as endpoint:
        ours = cost.million(Ledger(endpoint), COUNTED)["ours"]
        return {"idle": cost.idle(endpoint), "million": ours}


@pytest.mark.stack
def test_the_page_says_what_an_idle_month_costs_now(told):
    for line, name in cost.LINES.items():
        assert cells("month", name)[0] == pytest.approx(
            told["idle"].get(line, 0), rel=0.02, abs=0.01
        )
    assert cells("month", r"**all of it**")[0] == pytest.approx(told["idle"]["total"], rel=0.02)


@pytest.mark.stack
def test_the_page_says_what_a_million_costs_now(told):
    at = cost.VOLUMES.index(COUNTED)
    for line, name in cost.LINES.items():
        # What a row and a line of the log weigh differs by some bytes from run to run.
        now = told["million"].get(line, 0)
        assert cells("million", name)[at] == pytest.approx(now, rel=0.05, abs=0.02)


@pytest.mark.parametrize("name", [*cost.LINES.values(), "**all of it**"])
def test_each_cell_of_a_month_is_the_idle_month_and_its_share_of_a_million(name):
    line = {name: line for line, name in cost.LINES.items()}.get(name, "total")
    idle, *months = cells("month", name)
    for volume, million, told in zip(cost.VOLUMES, cells("million", name), months, strict=True):
        reckoned = cost.month({line: idle}, {line: million}, line, volume)
        rounded = HALF_A_CENT * (2 + volume / 1e6)
        assert told == pytest.approx(reckoned, rel=0.002, abs=rounded)


def test_every_line_of_the_bill_is_on_the_page():
    lines = {line for line, _ in PRICES.values()}
    assert lines == set(cost.LINES) | {"scheduler"}


def test_a_volume_is_measured_as_densely_as_its_tasks_come():
    assert cost.way_of(10_000).tasks == 10
    assert cost.way_of(100_000_000).tasks == round(100_000_000 / (30 * 24 * 60) / 8)


def test_the_readme_says_what_the_page_says():
    text = " ".join((cost.ROOT / "README.md").read_text("utf-8").split())
    idle, _, million, *_ = cells("month", "**all of it**")
    assert f"costs about {idle:.0f} dollars a month" in text
    assert f"a million small tasks a month about {million:.0f}" in text
