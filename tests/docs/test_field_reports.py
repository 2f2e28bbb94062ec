"""The field reports: each stands in the page, with a test that there is."""

import ast
import json
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest
from pages import ROOT, headings, table, unquoted

PAGE = "docs/field-reports.md"
AREAS = json.loads((ROOT / "tests/cases/field_reports.json").read_text("utf-8"))
"""The ids of all reports, by area."""

MOST_LEFT_OUT = 25
"""So many may have a reason instead of a test."""

SECTIONS = [heading for heading in headings(PAGE) if heading != "Field reports"]
ROWS = [(section, row) for section in SECTIONS for row in table(PAGE, section)]
TEST = re.compile(r"(tests/[\w/]+/test_\w+\.py)::(test_\w+)")


@cache
def defined_in(path):
    tree = ast.parse((ROOT / path).read_text("utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_every_report_is_in_the_page_and_few_are_left_out():
    told = {row[0] for _, row in ROWS}
    assert told == {report for reports in AREAS.values() for report in reports}
    assert sum(row[2].startswith("n/a: ") for _, row in ROWS) <= MOST_LEFT_OUT


def test_a_report_stands_once_and_under_its_area():
    ids = [row[0] for _, row in ROWS]
    assert len(ids) == len(set(ids))
    for section, (report, _, _) in ROWS:
        assert report in {one for area in section.split(" and ") for one in AREAS.get(area, ())}


@pytest.mark.parametrize("row", [row for _, row in ROWS], ids=lambda row: row[0])
def test_a_report_names_tests_that_there_are_or_a_reason(row):
    _, guarded, cell = row
    assert len(guarded) > 10
    if cell.startswith("n/a: "):
        assert len(cell) > 20
        return
    named = unquoted(cell)
    assert named
    for text in named:
        match = TEST.fullmatch(text)
        assert match, text
        assert match[2] in defined_in(match[1]), text


def test_the_tests_named_are_collected():
    """They lie in the folders that pytest is told of."""
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    folders = [ROOT / folder for folder in told["tool"]["pytest"]["ini_options"]["testpaths"]]
    for path in {path for path, _ in TEST.findall((ROOT / PAGE).read_text("utf-8"))}:
        assert any(folder in Path(ROOT / path).parents for folder in folders), path
