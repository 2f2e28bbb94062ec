"""`minutero jobs new`: what it writes works, and it writes over nothing."""

import subprocess
import sys
from pathlib import Path

import pytest

from minutero_cli.main import run

ROOT = Path(__file__).parents[3]


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A checkout with the folder of jobs in it, and no job."""
    jobs = tmp_path / "functions" / "worker" / "jobs"
    jobs.mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def python(*words, cwd):
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=cwd, capture_output=True, text=True, check=False
    )


def written(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.py"))


def test_the_job_and_its_test_are_written_and_pass(checkout, capsys):
    assert run(["jobs", "new", "send-reminder"]) == 0
    job, test = "functions/worker/jobs/send_reminder.py", "tests/jobs/test_send_reminder.py"
    assert written(checkout) == [job, test]
    told = capsys.readouterr().out
    assert f"python -m pytest {test}" in told
    assert "minutero jobs run send-reminder" in told
    done = python("pytest", "-q", "-p", "no:cacheprovider", "-p", "no:schemathesis", cwd=checkout)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.parametrize("words", [["check", "--no-cache"], ["format", "--check"]])
def test_they_are_as_this_projects_own_code_is(checkout, words):
    run(["jobs", "new", "send-reminder"])
    written_now = written(checkout)
    # The configuration tells our own modules by their files.
    (checkout / "pyproject.toml").write_text((ROOT / "pyproject.toml").read_text())
    for name in ("__init__", "testing"):
        own = checkout / "layers" / "minutero" / "minutero" / f"{name}.py"
        own.parent.mkdir(parents=True, exist_ok=True)
        own.touch()
    done = subprocess.run(
        [Path(sys.executable).with_name("ruff"), *words, *written_now],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr or done.stdout


def test_beside_another_folder_of_jobs_the_tests_are_in_tests(tmp_path, monkeypatch):
    (tmp_path / "jobs").mkdir()
    monkeypatch.chdir(tmp_path)
    assert run(["jobs", "new", "tidy"]) == 0
    assert written(tmp_path) == ["jobs/tidy.py", "tests/test_tidy.py"]


@pytest.mark.parametrize("there", ["functions/worker/jobs/tidy.py", "tests/jobs/test_tidy.py"])
def test_a_file_that_is_there_is_not_written_over_and_nothing_is_left(checkout, capsys, there):
    path = checkout / there
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    assert run(["jobs", "new", "tidy"]) == 1
    assert f"{there} is there already" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert written(checkout) == [there]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("", "the name must be 1 to 128 characters"),
        ("a b", "the name must be 1 to 128 characters"),
        ("../up", "the name must be 1 to 128 characters"),
        ("x" * 129, "the name must be 1 to 128 characters"),
        ("7days", "begin it with a letter"),
        ("class", "begin it with a letter"),
        ("-", "begin it with a letter"),
        ("__init__", "begin it with a letter"),
    ],
)
def test_a_name_that_cannot_be_is_refused_and_writes_nothing(checkout, capsys, name, told):
    assert run(["jobs", "new", "--", name]) == 1
    assert told in capsys.readouterr().err
    assert written(checkout) == []


def test_without_a_folder_of_jobs_it_says_how_to_name_one(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(["jobs", "new", "tidy"]) == 1
    assert "--jobs" in capsys.readouterr().err
