"""The package as a user installs it, from a folder that has only what a source distribution needs."""

import os
import shutil
import subprocess
import sys
from importlib.metadata import distributions

import pytest

SOURCES = ["pyproject.toml", "README.md", "layers", "cli"]

A_TEST = """
from pathlib import Path

import minutero

def test_it_greets(minutero_app):
    assert Path(minutero.__file__).is_relative_to({site!r})

    @minutero_app.job("greet")
    def greet(payload, run):
        return "hello"

    minutero_app.put_schedule("weekly", "greet", "cron(0 18 ? * FRI *)")
    minutero_app.advance(days=365)
    assert len(minutero_app.ran("greet")) == 52
"""


@pytest.fixture(scope="module")
def site(root, tmp_path_factory):
    """What `pip install .` puts into an environment, without what it depends on."""
    source, site = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("site")
    for name in SOURCES:
        copy = shutil.copytree if (root / name).is_dir() else shutil.copy
        copy(root / name, source / name)
    offline = ["--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    pip = [sys.executable, "-m", "pip", "install", "-qq", *offline, "--target", site, source]
    subprocess.run(pip, check=True, timeout=120)
    return site


def test_the_installed_package_has_the_plugin_of_pytest(site):
    (package,) = distributions(path=[str(site)])
    (plugin,) = package.entry_points.select(group="pytest11")
    assert (plugin.name, plugin.value) == ("minutero", "minutero.testing.pytest_plugin")


def test_the_installed_package_is_typed(site):
    assert (site / "minutero" / "py.typed").is_file()


def test_a_users_test_has_the_fixture_without_configuration(site, tmp_path):
    (tmp_path / "test_greet.py").write_text(A_TEST.format(site=str(site)))
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:schemathesis"],
        cwd=tmp_path,
        env={**env, "PYTHONPATH": str(site)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
