"""What CloudFormation makes of template.yaml: its roles, rules and mappings are all here."""

import copy
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from samtranslator.translator.transform import transform
from samtranslator.yaml_helper import yaml_parse

TEMPLATE = Path(__file__).parents[1] / "template.yaml"


def translated() -> dict[str, Any]:
    """A copy of one's own."""
    return copy.deepcopy(_translated())


@cache
def _translated() -> dict[str, Any]:
    found = yaml_parse(TEMPLATE.read_text("utf-8"))
    for resource in found["Resources"].values():
        for name in {"CodeUri", "ContentUri"} & set(resource["Properties"]):
            resource["Properties"][name] = "s3://packages/one.zip"  # as after an upload
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        return dict(transform(found, {}, SimpleNamespace(load=dict)))


def of_type(template: dict[str, Any], kind: str) -> dict[str, Any]:
    """Name -> properties of the resources of one type."""
    return {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == kind
    }
