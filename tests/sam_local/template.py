"""The built template for `sam local`, with what the local stack has made of it."""

from pathlib import Path
from typing import Any

import yaml

from minutero_cli.local.clients import client
from minutero_cli.local.deploy import parameters
from minutero_cli.local.state import State

COLD_START_SECONDS = 60
"""Each call here is a cold start, on a machine that may be busy, and sam counts it against the time-out."""


def read(built: Path) -> dict[str, Any]:
    """sam build writes out every intrinsic function."""
    found: dict[str, Any] = yaml.safe_load((built / "template.yaml").read_text())
    return found


def layers(built: Path) -> list[str]:
    """Logical ids, and folders, of the layers: a later one is put over an earlier one."""
    return [layer["Ref"] for layer in read(built)["Globals"]["Function"]["Layers"]]


def deployed(state: State, function: str) -> dict[str, Any]:
    """Name, time-out and environment of a function as it is deployed; `function` is its logical id."""
    name = state.outputs[f"{function}Name"]
    found: dict[str, Any] = client(state, "lambda").get_function_configuration(FunctionName=name)
    return found


def variables(template: dict[str, Any]) -> set[str]:
    """Names of all variables that a template gives its functions."""
    given = (resource.get("Properties", {}) for resource in template["Resources"].values())
    return {name for one in given for name in one.get("Environment", {}).get("Variables", {})}


def for_sam(built: Path, state: State, endpoint: str) -> dict[str, Any]:
    """The template for sam; `endpoint` is where its functions find AWS.

    References are resolved: sam would make a table's name of its logical id, and finds no function behind the
    API where the function's name is not plain. A variable has to be in the template: sam passes no other on,
    whatever its --env-vars says. The layers are left to the image: sam would put those of a template into one
    at every call, which takes longer than the call.
    """
    made = read(built)
    for name, value in parameters(auth=False).items():
        made["Parameters"][name]["Default"] = value
    for layer in layers(built):
        del made["Resources"][layer]
    for name in ("Layers", "Environment"):
        del made["Globals"]["Function"][name]
    for name, resource in made["Resources"].items():
        given = resource.get("Properties", {})
        if "CodeUri" in given:
            found = deployed(state, name)
            given["CodeUri"] = str(built / given["CodeUri"])
            given["FunctionName"] = found["FunctionName"]
            given["Timeout"] = max(COLD_START_SECONDS, found["Timeout"])
            told = found["Environment"]["Variables"] | {"AWS_ENDPOINT_URL": endpoint}
            given["Environment"] = {"Variables": told}
    return made
