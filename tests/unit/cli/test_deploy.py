"""What `make deploy` says before it builds, and after it has deployed."""

import sys
import tomllib

import pytest

from minutero.aws import deployed_stack
from minutero.aws.deployed_stack import DeployedStack
from minutero.errors import NotFound
from minutero_cli import deploy
from minutero_cli.errors import CommandError
from minutero_cli.local.paths import project_root

OURS = f"python{sys.version_info.major}.{sys.version_info.minor}"
CONFIG = project_root() / "samconfig.toml"


@pytest.fixture
def aws(monkeypatch, tmp_path):
    """This machine has credentials and a region, and no other setting of AWS's."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_PROFILE", "AWS_REGION", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    monkeypatch.setattr(deploy, "check_runtime", lambda _found: None)


@pytest.mark.parametrize("name", ["default", "dev", "prod"])
def test_each_section_is_complete_and_names_one_runtime(name):
    section = deploy.configured(name, CONFIG.read_text("utf-8"))
    assert len(deploy.runtimes(section)) == 1
    told = section["deploy"]["parameters"]
    assert told["stack_name"].startswith("minutero")
    assert told["resolve_s3"]
    assert told["capabilities"] == "CAPABILITY_IAM"


def test_what_is_to_be_kept_is_changed_by_nobody_who_has_not_said_yes():
    for name, section in tomllib.loads(CONFIG.read_text("utf-8")).items():
        if name == "version":
            continue
        told = section["deploy"]["parameters"]
        kept = "RetainData=false" not in told["parameter_overrides"]
        assert told["confirm_changeset"] is kept, name


def test_a_section_that_is_not_there_is_named_with_those_that_are(capsys):
    assert deploy.main(["before", "typo"]) == 1
    error = capsys.readouterr().err
    assert "no [typo]" in error
    assert "default, dev, prod" in error


def test_two_runtimes_are_refused():
    with pytest.raises(CommandError, match=r"names python3\.12, python3\.13"):
        deploy.check_runtime({"python3.12", "python3.13"})
    with pytest.raises(CommandError, match="names none"):
        deploy.check_runtime(set())


def test_a_runtime_that_is_not_here_is_refused_with_one_that_is():
    with pytest.raises(CommandError, match=f"PythonRuntime={OURS}"):
        deploy.check_runtime({"python3.99"})


def test_a_runtime_that_is_on_the_path_and_does_not_run_is_refused(monkeypatch, tmp_path):
    shim = tmp_path / "python3.98"
    shim.write_text("#!/bin/sh\nexit 127\n")
    shim.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(CommandError, match=r"python3\.98, which does not run here"):
        deploy.check_runtime({"python3.98"})


def test_before_the_build_it_says_what_goes_where(aws, capsys):
    assert deploy.main(["before"]) == 0
    assert capsys.readouterr().out == "deploy: stack minutero of [default] to eu-central-1\n"


def test_without_credentials_it_says_how_to_get_some(aws, monkeypatch, capsys):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    assert deploy.main(["before", "dev"]) == 1
    error = capsys.readouterr().err
    assert "aws configure" in error
    assert "make run" in error


def test_without_a_region_it_says_which_variable_names_one(aws, monkeypatch, capsys):
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    assert deploy.main(["before"]) == 1
    assert "AWS_DEFAULT_REGION" in capsys.readouterr().err


def test_a_profile_that_is_not_there_is_one_line(aws, monkeypatch, capsys):
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    assert deploy.main(["before"]) == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "nobody" in error


def test_after_it_says_where_the_api_is_and_what_to_do_next(monkeypatch, capsys):
    outputs = {"ApiUrl": "https://api.example"}
    monkeypatch.setattr(
        deployed_stack, "find_stack", lambda name: DeployedStack(name, outputs, {}, "https://cf")
    )
    assert deploy.main(["after", "prod"]) == 0
    told = capsys.readouterr().out
    assert "stack minutero-prod serves at https://api.example" in told
    assert "minutero doctor --stack minutero-prod" in told


def test_who_said_no_to_the_first_changes_is_not_told_that_it_serves(monkeypatch, capsys):
    monkeypatch.setattr(
        deployed_stack, "find_stack", lambda name: DeployedStack(name, {}, {}, "https://cf")
    )
    assert deploy.main(["after"]) == 1
    assert "is not deployed" in capsys.readouterr().err

    def unknown(name):
        raise NotFound(f"CloudFormation knows no stack {name!r}")

    monkeypatch.setattr(deployed_stack, "find_stack", unknown)
    assert deploy.main(["after"]) == 1
    assert "knows no stack 'minutero'" in capsys.readouterr().err
