"""What is tested is what runs: one version of each package in the layer and in .venv."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PIN = re.compile(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+")


def pins(path):
    lines = [line.partition("#")[0].strip() for line in (ROOT / path).read_text().splitlines()]
    return {line.lower().replace("_", "-") for line in lines if line}


@pytest.mark.parametrize(
    "path",
    [
        "layers/dependencies/requirements.txt",
        "requirements/dev.txt",
        "requirements/sam.txt",
        "requirements/ministack.txt",
        "requirements/audit.txt",
        "requirements/pip.txt",
        "requirements/lambda.txt",
    ],
)
def test_every_version_is_pinned(path):
    assert pins(path)
    for line in pins(path):
        assert PIN.fullmatch(line), f"{line} is no name==version"


def test_the_layer_and_the_tests_use_the_same_versions():
    assert pins("layers/dependencies/requirements.txt") <= pins("requirements/dev.txt")


def test_the_template_tells_the_version_of_the_project(template):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    assert template["Outputs"]["Version"]["Value"] == project["version"]
