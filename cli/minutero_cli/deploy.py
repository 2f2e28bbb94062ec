"""What `make deploy` looks at before `sam build`, and says after `sam deploy`.

    python -m minutero_cli.deploy before|after [ENV]

A build takes a minute or two, and what is missing on this machine should be said ahead of it.
"""

import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from minutero_cli.errors import CommandError
from minutero_cli.local.paths import project_root
from minutero_cli.terminal import print_error

RUNTIME = "PythonRuntime="
COMMAND = ".venv/bin/minutero"


def configured(name: str, text: str) -> Mapping[str, Any]:
    """The section of samconfig.toml. Raises CommandError for one that is not there."""
    sections = {key: one for key, one in tomllib.loads(text).items() if isinstance(one, dict)}
    if name not in sections:
        raise CommandError(
            f"samconfig.toml has no [{name}]; take one of {', '.join(sections)}, as in "
            f"make deploy ENV={next(reversed(sections), 'dev')}, or write one"
        )
    section: Mapping[str, Any] = sections[name]
    return section


def runtimes(section: Mapping[str, Any]) -> set[str]:
    """The interpreters that a section asks for; building and deploying must agree on one."""
    texts = [section[step]["parameters"].get("parameter_overrides", "") for step in section]
    words = [word for text in texts for word in str(text).split()]
    return {word.removeprefix(RUNTIME).strip('"') for word in words if word.startswith(RUNTIME)}


def check_runtime(found: set[str]) -> None:
    """Raises CommandError unless there is one and it runs here: sam builds with that very Python."""
    if len(found) != 1:
        raise CommandError(
            "samconfig.toml must name one PythonRuntime, the same for build and deploy, "
            f"and names {', '.join(sorted(found)) or 'none'}"
        )
    (runtime,) = found
    try:
        # A shim of pyenv is on PATH and runs nothing.
        done = subprocess.run([runtime, "-c", ""], capture_output=True, check=False)  # noqa: S603
        runs = done.returncode == 0
    except OSError:
        runs = False
    if not runs:
        ours = f"python{sys.version_info.major}.{sys.version_info.minor}"
        raise CommandError(
            f"samconfig.toml asks for {runtime}, which does not run here; install it, "
            f"or write PythonRuntime={ours} there, which does"
        )


def check_account() -> str:
    """Tell the region. Raises CommandError without one, or without credentials; asks nobody."""
    import botocore.session  # noqa: PLC0415  # slow to import
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    session = botocore.session.get_session()
    try:
        region = session.get_config_variable("region")
        credentials = session.get_credentials()
    except BotoCoreError as error:
        raise CommandError(f"AWS's settings cannot be read: {error}") from None
    if credentials is None:
        raise CommandError(
            "there are no AWS credentials; run `aws configure` or set AWS_PROFILE. "
            "Without an account, `make run` shows everything on this machine"
        )
    if not region:
        raise CommandError("no region is named; set AWS_DEFAULT_REGION, as to eu-central-1")
    return str(region)


def before(name: str) -> None:
    """Say what will be deployed where. Raises CommandError for what hinders it."""
    section = configured(name, (project_root() / "samconfig.toml").read_text("utf-8"))
    check_runtime(runtimes(section))
    region = check_account()
    print(f"deploy: stack {_stack(section)} of [{name}] to {region}", flush=True)


def after(name: str) -> None:
    """Say where the API is, and what to do next: `sam deploy` ends alike whether the changes were wanted."""
    from minutero.aws.deployed_stack import find_stack  # noqa: PLC0415  # botocore is slow to import
    from minutero.errors import MinuteroError  # noqa: PLC0415

    stack = _stack(configured(name, (project_root() / "samconfig.toml").read_text("utf-8")))
    try:
        url = find_stack(stack).outputs.get("ApiUrl")
    except MinuteroError as error:
        raise CommandError(str(error)) from None
    if url is None:
        raise CommandError(f"stack {stack} is not deployed; the same command asks again")
    print(
        f"deploy: stack {stack} serves at {url}\n"
        f"next:   {COMMAND} doctor --stack {stack}\n"
        f"        {COMMAND} tasks add echo --in 10s --stack {stack}"
    )


def _stack(section: Mapping[str, Any]) -> str:
    return str(section["deploy"]["parameters"]["stack_name"])


def main(arguments: Sequence[str]) -> int:
    """Exit code 1, and one line that says what to do, for what hinders it."""
    step, name = arguments[0], next(iter(arguments[1:]), "") or "default"
    try:
        {"before": before, "after": after}[step](name)
    except CommandError as error:
        print_error(str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
