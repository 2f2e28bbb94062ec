"""What `sam build` makes, and that it runs by itself, as on Lambda."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FUNCTIONS = [
    "ApiFunction",
    "DispatcherFunction",
    "WorkerFunction",
    "DeadLetterFunction",
    "AuditorFunction",
]
# Lambda's own search path, with sockets refused: importing must reach for nothing.
PROBE = """
import socket, sys
def refused(*args, **kwargs):
    raise AssertionError("a socket was opened while importing")
socket.socket.connect = refused
socket.create_connection = refused
socket.getaddrinfo = refused
import app
assert callable(app.handler)
import botocore.client
made = [o for o in __import__("gc").get_objects() if isinstance(o, botocore.client.BaseClient)]
assert not made, f"clients made while importing: {made}"
outside = [
    name for name, module in sys.modules.items()
    if "site-packages" in (getattr(module, "__file__", None) or "")
]
assert not outside, f"imported from outside the build: {outside}"
"""


def search_path(built: Path, function: str) -> str:
    return os.pathsep.join(
        str(built / folder)
        for folder in (function, "MinuteroLayer/python", "DependenciesLayer/python")
    )


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_built_handler_imports_from_the_build_alone(built, function, tmp_path):
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROBE],
        cwd=tmp_path,
        env={"PYTHONPATH": search_path(built, function), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


def test_the_probe_would_see_a_client(built, tmp_path):
    """An app.py that makes a client while it is imported is refused."""
    (tmp_path / "app.py").write_text(
        "import boto3\n"
        "keys = dict(aws_access_key_id='a', aws_secret_access_key='b', region_name='us-east-1')\n"
        "kept = boto3.client('sqs', **keys)\n"
        "def handler(event, context): ...\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROBE],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{tmp_path}{os.pathsep}{search_path(built, 'ApiFunction')}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "clients made while importing" in done.stderr


def test_the_layer_ships_the_package_and_nothing_beside_it(built):
    shipped = {path.name for path in (built / "MinuteroLayer/python").iterdir()}
    assert shipped - {"__pycache__"} == {"minutero", "requirements.txt"}
    inside = {path.name for path in (built / "MinuteroLayer").rglob("*")}
    assert not [name for name in inside if name.startswith("test_")]
    assert "minutero_cli" not in inside
    assert (built / "MinuteroLayer/python/minutero/py.typed").is_file()


def test_the_dependency_layer_holds_no_tool(built):
    shipped = {path.name for path in (built / "DependenciesLayer/python").iterdir()}
    assert {"boto3", "aws_lambda_powertools", "pynamodb", "pydantic", "tzdata"} <= shipped
    assert not shipped & {"typer", "rich", "pytest", "moto", "minutero_cli", "minutero"}


def test_the_layers_fit_into_a_function(built):
    """Lambda refuses a function that is larger than 250 MB with its layers unpacked."""
    size = sum(path.stat().st_size for path in built.rglob("*") if path.is_file())
    assert size < 150_000_000


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_is_its_own_files_alone(built, function):
    shipped = {path.name for path in (built / function).iterdir()}
    assert shipped - {"__pycache__"} <= {"app.py", "jobs", "requirements.txt"}
