"""The command as a process: what it imports, and how it ends when nobody reads on."""

import os
import subprocess
import sys
from importlib.metadata import version

import pytest

from minutero_cli.main import COMMANDS, run

MANY_JOBS = """
from minutero_cli.api_client import Answer, Api
Api.get = lambda *_: Answer(200, '{"jobs": ["%s"]}' % ("x" * 1_000_000))
"""


SLOW = {"boto3", "botocore", "pynamodb", "pydantic", "aws_lambda_powertools", "zoneinfo"}
"""What takes longer to import than all the rest of a command."""


def started(words, before="", **how):
    """Run the command as the shell does, after `before`."""
    code = f"{before}\nfrom minutero_cli.main import main\nmain({words!r})"
    environment = {**os.environ, "MINUTERO_API_URL": "http://127.0.0.1:1"}
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        **how,
    )


def test_help_imports_no_group_and_nothing_slow():
    code = """
import sys
from minutero_cli.main import run
assert run(["--help"]) == 0
print(*sys.modules, file=sys.stderr)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ran.stderr.split())
    assert not loaded & {"minutero", "urllib.request", "rich", "asyncio", *SLOW}
    assert not loaded & {module.partition(":")[0] for module, _ in COMMANDS.values()}
    for name, (_, line) in COMMANDS.items():
        assert f"  {name}" in ran.stdout
        assert line in ran.stdout


def test_version_is_that_of_the_package_and_ends_well(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"minutero {version('minutero')}\n"


@pytest.mark.parametrize("words", [["tasks"], ["tasks", "import"], ["tasks", "export"]])
def test_the_help_of_a_command_imports_nothing_slow(words):
    code = f"""
import sys
from minutero_cli.main import run
assert run({[*words, "--help"]!r}) == 0
print(*sys.modules, file=sys.stderr)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    typers_own = {"pydantic", "zoneinfo"}  # it reads options by them
    assert not set(ran.stderr.split()) & {"rich", *SLOW} - typers_own


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(capsys, name):
    assert run([name, "--help"]) == 0
    assert "Usage: minutero " + name in capsys.readouterr().out


@pytest.mark.parametrize(("words", "before"), [(["--help"], ""), (["jobs", "list"], MANY_JOBS)])
def test_a_pipe_that_nobody_reads_any_more_is_no_traceback(words, before):
    reads, writes = os.pipe()
    os.close(reads)
    ran = started(words, before, stdout=writes)
    os.close(writes)
    assert ran.stderr == ""
    assert ran.returncode == 141


def test_ctrl_c_is_no_traceback(api, monkeypatch, capsys):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(api, "open", interrupt)
    assert run(["tasks", "list"]) == 130
    assert capsys.readouterr() == ("", "")


def test_what_the_terminals_encoding_does_not_have_is_escaped():
    before = MANY_JOBS.replace("x", "é").replace("1_000_000", "1")
    before = "import sys\nsys.stdout.reconfigure(encoding='ascii')" + before
    ran = started(["jobs", "list"], before, stdout=subprocess.PIPE)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "\\xe9\n", "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["task", "list"], "Did you mean 'tasks'"),
        (["tasks", "lst"], "Did you mean 'list'"),
        (["nothing"], "see minutero --help"),
        (["tasks", "cancel"], "see minutero tasks cancel --help"),
        (["tasks", "list", "--nothing"], "see minutero tasks list --help"),
    ],
)
def test_bad_usage_is_one_line_that_says_where_to_look(capsys, words, told):
    assert run(words) == 2
    error = capsys.readouterr().err
    assert told in error
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize("words", [[], ["tasks"], ["dead"], ["jobs"]])
def test_a_group_alone_shows_its_help(capsys, words):
    assert run(words) == 2
    assert capsys.readouterr().err.startswith(" ".join(["Usage: minutero", *words]))
