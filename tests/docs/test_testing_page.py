"""What docs/testing.md shows is a test that passes, and what it lists is what there is."""

import re
import shutil

from pages import ROOT, blocks, table, unquoted

from minutero.client import Client
from minutero.domain.instants import MINUTE
from minutero.domain.timing import Timing
from minutero.testing import CrashPoint, MinuteroApp
from minutero.testing.app import BEGIN
from minutero.testing.clockwork import VISIBILITY

pytest_plugins = ["pytester"]

PAGE = "docs/testing.md"


def test_the_examples_are_tests_that_pass(pytester, monkeypatch):
    """The page's, and the README's, which loads the jobs of this repository."""
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    jobs = "functions/worker/jobs"
    shutil.copytree(ROOT / jobs, pytester.path / jobs)
    found = [*blocks(PAGE, "python"), *blocks("README.md", "python")]
    text = "\n\n".join(
        one.text for one in found if "minutero_app" in one.text or "@job" in one.text
    )
    pytester.makepyfile(text)
    wanted = len(re.findall(r"^def test_", text, re.MULTILINE)) - 1 + len(CrashPoint)
    assert wanted == 5 + len(CrashPoint)
    pytester.runpytest_subprocess("-W", "error", "-p", "minutero").assert_outcomes(passed=wanted)


def test_each_call_that_is_not_the_clients_is_listed_and_no_other():
    own = {name for name in vars(MinuteroApp) if not name.startswith("_")}
    listed = [name for row in table(PAGE, "What there is") for name in unquoted(row[0])]
    assert {name.partition("(")[0] for name in listed} == own - vars(Client).keys()


def test_each_point_of_a_crash_is_listed():
    listed = [unquoted(row[0])[0] for row in table(PAGE, "What there is", 1)]
    assert listed == [f"CrashPoint.{point.name}" for point in CrashPoint]


def test_the_times_told_are_those_of_the_code():
    text = " ".join((ROOT / PAGE).read_text("utf-8").split())
    assert f"it begins on {BEGIN:%Y-%m-%d} at 0:00 UTC" in text
    again = VISIBILITY * Timing().worker_timeout // MINUTE
    assert f"delivers the message again: {again} minutes after" in text
