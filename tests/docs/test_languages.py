"""The README in its other language says the same: same code, same parts, same links."""

import re

import pytest
from pages import blocks, links, tokens

OTHERS = ["README.es.md"]
COMMENT = re.compile(r"\s*# .*$", re.MULTILINE)


def shown(name):
    """The code of a page; its comments are in the page's language."""
    return [(block.language, COMMENT.sub("", block.text)) for block in blocks(name)]


def parts(name):
    return [token.tag for token in tokens(name) if token.type == "heading_open"]


@pytest.mark.parametrize("name", OTHERS)
def test_the_readmes_show_the_same_code_in_the_same_order(name):
    assert shown(name) == shown("README.md")


@pytest.mark.parametrize("name", OTHERS)
def test_the_readmes_have_the_same_parts(name):
    assert parts(name) == parts("README.md")


@pytest.mark.parametrize("name", OTHERS)
def test_the_readmes_lead_to_the_same_places(name):
    assert set(links(name)) - {"README.md"} == set(links("README.md")) - {name}
