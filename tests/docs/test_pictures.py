"""The pictures of the command's views are what the command shows, and need nothing from elsewhere."""

import importlib.util
import re
import time
from xml.etree import ElementTree as ET

import pytest
from pages import NAMES, ROOT, links

FOLDER = ROOT / "docs" / "pictures"
SMALL = 60_000
"""Bytes of a picture at most."""


def load():
    spec = importlib.util.spec_from_file_location("draw_pictures", FOLDER / "draw.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


draw = load()


@pytest.fixture
def utc(monkeypatch):
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("name", draw.PICTURES)
def test_each_picture_is_what_the_command_draws(name, utc):
    told = "run `make pictures`: the view has changed since its picture was drawn"
    assert (FOLDER / f"{name}.svg").read_text("utf-8") == draw.svg(name), told


@pytest.mark.parametrize("name", draw.PICTURES)
def test_each_picture_is_small_and_fetches_nothing(name):
    text = (FOLDER / f"{name}.svg").read_text("utf-8")
    assert len(text) < SMALL
    assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert set(re.findall(r"https?://[^\"' )]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "@font-face" not in text


def test_there_is_no_other_picture_and_each_is_shown_on_a_page():
    drawn = {f"{name}.svg" for name in draw.PICTURES}
    assert {path.name for path in FOLDER.glob("*.svg")} == drawn
    shown = {link.rpartition("/")[2] for name in NAMES for link in links(name)}
    assert drawn <= shown
