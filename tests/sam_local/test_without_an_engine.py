"""Where no container engine can be had, that is said, and the functions run under Lambda's emulator."""

import fcntl
import os
import shutil
from contextlib import contextmanager

import pytest

from minutero_cli.local.progress import silent
from tests.sam_local import daemon, events, stage
from tests.sam_local.engine import NoEngine


@pytest.fixture
def nobodys_engine(monkeypatch, tmp_path):
    """No engine, on a machine of its own: the tests before may have this one's."""
    monkeypatch.setattr(daemon, "MACHINE", tmp_path)
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody")


@pytest.fixture
def unprivileged(nobodys_engine, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)


def why(folder):
    with pytest.raises(NoEngine) as told, daemon.container_engine(folder, silent):
        pass
    return str(told.value)


def test_only_root_can_start_an_engine(unprivileged, tmp_path):
    assert "only root can start one" in why(tmp_path)


def test_an_engine_is_fetched_from_debian_alone(nobodys_engine, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "no apt-get" in why(tmp_path)


@pytest.fixture
def dockerd_ends(nobodys_engine, monkeypatch, tmp_path):
    fake = tmp_path / "bin" / "dockerd"
    fake.parent.mkdir()
    fake.write_text("#!/bin/sh\necho 'failed to mount cgroups' >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", str(fake.parent), prepend=os.pathsep)


def test_a_dockerd_that_ends_is_quoted(dockerd_ends, tmp_path):
    assert why(tmp_path / "engine").endswith("failed to mount cgroups")


def test_two_checkouts_have_the_engine_one_after_the_other(dockerd_ends, tmp_path):
    told = []
    with (tmp_path / "minutero-engine.lock").open("w") as anothers:
        fcntl.flock(anothers, fcntl.LOCK_EX)

        @contextmanager
        def step(text):
            told.append(text)
            fcntl.flock(anothers, fcntl.LOCK_UN)
            yield

        with pytest.raises(NoEngine), daemon.container_engine(tmp_path / "checkout", step):
            pass
    assert told == ["Waiting for another run that has the engine", "Starting a container engine"]


@pytest.mark.stack
def test_the_functions_run_under_the_emulator_and_it_says_why(run, local, unprivileged):
    with stage.functions(local) as emulated:
        assert "only root can start one" in emulated.where
        status, told = emulated.http("GET", "/jobs")
        assert status == 200
        assert "echo" in told["jobs"]
        told = emulated.invoke("AuditorFunction", events.path_of("eventbridge_audit"))
    assert told.answer["tally"]["claimed"] == 0
    assert '"message":"audit"' in told.logs
