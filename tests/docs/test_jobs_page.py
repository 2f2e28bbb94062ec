"""What docs/jobs.md shows can be run as it stands."""

import pytest
from pages import ROOT, blocks, table

from minutero import jobs
from minutero.domain.slot import LEAST_DAYS, MOST_WRITES
from minutero.testing import MemorySlots, MemoryTable, job_run

PAGE = "docs/jobs.md"
JOB, TEST = (block.text for block in blocks(PAGE, "python") if "weekly_bonus" in block.text)


@pytest.fixture
def weekly_bonus():
    names = {}
    exec(JOB, names)
    jobs.registry._jobs.pop("weekly_bonus")
    return names["weekly_bonus"]


def test_the_job_of_the_page_passes_the_test_of_the_page(weekly_bonus):
    names = {}
    exec(TEST, names)
    names["test_the_bonus_is_paid_once"](weekly_bonus)


def calls_of_a_table():
    return [row[1].strip("`") for row in table(PAGE, "The writes")]


@pytest.mark.parametrize("call", calls_of_a_table())
def test_a_write_of_the_page_can_be_made(call):
    wallets = MemoryTable("id")
    if not call.startswith("tx.put"):
        wallets.put(id="ana", coins=1)
    with job_run("pay", MemorySlots(wallets=wallets, log=MemoryTable("id"))).once("w22") as tx:
        tx.put("log", {"id": "a check alone would be nothing"})
        eval(call, {"tx": tx})
    assert tx.applied


def test_the_numbers_told_are_those_of_the_code():
    text = " ".join((ROOT / PAGE).read_text("utf-8").split())
    assert f"A block takes up to {MOST_WRITES} writes and checks" in text
    assert f"{LEAST_DAYS} days is the least" in text
