"""Where the project and the local stack's files lie."""

import os
import sys
from pathlib import Path

from minutero_cli.errors import CommandError

ENVIRONMENT_OF_TOOLS = {"sam": ".venv-sam", "ministack": ".venv-ministack"}


def project_root() -> Path:
    """Find the checkout this command was installed from: the folder of template.yaml."""
    root = Path(__file__).resolve().parents[3]
    if not (root / "template.yaml").is_file():
        raise CommandError(
            f"the local stack needs a checkout of the project, and {root} holds no template.yaml"
        )
    return root


def default_home() -> Path:
    """Name the folder of state and logs: MINUTERO_HOME, else .minutero in the checkout."""
    chosen = os.environ.get("MINUTERO_HOME")
    return Path(chosen).resolve() if chosen else project_root() / ".minutero"


def tool(name: str) -> Path:
    """Find the executable `sam` or `ministack` in its own environment."""
    path = project_root() / ENVIRONMENT_OF_TOOLS[name] / "bin" / name
    if not path.is_file():
        raise CommandError(f"{path.parent.parent.name} is not there; make it with: make setup")
    return path


def python_runtime() -> str:
    """Name the Lambda runtime of this very Python, such as python3.11."""
    return f"python{sys.version_info.major}.{sys.version_info.minor}"
