"""What the local stack remembers between two commands."""

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class State:
    """One running stack: its process, and what was last deployed to it."""

    pid: int
    started: str
    port: int
    auth: bool = False
    persist: str | None = None
    stack: str = "minutero"
    deployed: str = ""
    outputs: dict[str, str] = field(default_factory=dict)

    @property
    def endpoint_url(self) -> str:
        """Where every AWS service of the stack answers."""
        return f"http://{HOST}:{self.port}"

    @property
    def api_url(self) -> str:
        """Where the stack's HTTP API answers."""
        return f"{self.endpoint_url}/_aws/execute-api/{self.outputs.get('ApiId', '')}/$default"

    @property
    def environment(self) -> dict[str, str]:
        """The variables with which an AWS client reaches this stack and nothing else."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
        }


def load(home: Path) -> State | None:
    """Read the state kept in `home`; None when there is none that can be read."""
    try:
        return State(**json.loads((home / "state.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None


def save(home: Path, state: State) -> None:
    """Write the state whole or not at all."""
    home.mkdir(parents=True, exist_ok=True)
    part = home / f"state.json.{os.getpid()}"
    part.write_text(json.dumps(asdict(state), indent=1))
    part.replace(home / "state.json")


def forget(home: Path) -> None:
    """Remove the state kept in `home`."""
    (home / "state.json").unlink(missing_ok=True)
