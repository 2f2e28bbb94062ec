"""One build and one translation for all of these tests."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cfnlint.decode import decode
from samtranslator.translator.transform import transform

from minutero_cli.local.build import build

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
    found, _ = decode(str(ROOT / "template.yaml"))
    for resource in found["Resources"].values():
        for name in {"CodeUri", "ContentUri"} & set(resource["Properties"]):
            resource["Properties"][name] = "s3://packages/one.zip"  # as after an upload
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        return dict(transform(found, {}, SimpleNamespace(load=dict)))


@pytest.fixture(scope="session")
def built() -> Path:
    """The folder that `sam build` made: one folder a function and a layer."""
    return build(ROOT)
