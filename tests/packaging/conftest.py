"""One build and one translation for all of these tests."""

import sys
from pathlib import Path
from typing import Any

import pytest
from cfnlint.decode import decode

from minutero_cli.local.build import build

# The folders of tests are no packages; what they share lies above them.
sys.path.insert(0, str(Path(__file__).parents[1]))

import translation

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    """template.yaml with its intrinsic functions written out."""
    found, problems = decode(str(ROOT / "template.yaml"))
    assert not problems
    return dict(found)


@pytest.fixture(scope="session")
def translated() -> dict[str, Any]:
    """What CloudFormation makes of template.yaml: its roles, rules and mappings are all here."""
    return translation.translated()


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder that `sam build` made: one folder a function and a layer."""
    return build(ROOT)
