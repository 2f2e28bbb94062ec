"""microburst, a proxy that breaks connections: between the services and MiniStack, on loopback."""

import json
import subprocess
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from minutero_cli.local import server
from minutero_cli.local.paths import ENVIRONMENT_OF_TOOLS, project_root

RULES: list[dict[str, Any]] = [
    {
        "service": "dynamodb",
        "probability": 0.03,
        "error": {"code": "ProvisionedThroughputExceededException", "status": 400},
    },
    {
        "service": "sqs",
        "probability": 0.03,
        "error": {"code": "ThrottlingException", "status": 400},
    },
    {"service": "*", "probability": 0.02, "reset": True},
    # It has taken effect by then.
    {"service": "*", "probability": 0.02, "response": {"abort_bytes": 0}},
    {"service": "*", "probability": 0.02, "latency": {"min": 5, "max": 50}},
]
"""Two of three services' faults, and those of the connection itself. The proxy knows no seed."""

READY_SECONDS = 30


@contextmanager
def between(endpoint: str, home: Path) -> Iterator[str]:
    """The proxy's own endpoint."""
    # JSON is YAML.
    (home / "rules.yml").write_text(json.dumps({"rules": RULES}), "utf-8")
    port = server.free_port()
    tool = project_root() / ENVIRONMENT_OF_TOOLS["ministack"] / "bin" / "microburst"
    command = [str(tool), "--upstream", endpoint, "--host", "127.0.0.1", "--port", str(port)]
    with (home / "microburst.log").open("wb") as log:
        process = subprocess.Popen(
            [*command, "--config", str(home / "rules.yml")], stdout=log, stderr=log
        )
    via = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + READY_SECONDS
        while server.http_status(f"{via}/_microburst/health", timeout=2) != 200:
            assert process.poll() is None, (home / "microburst.log").read_text()
            assert time.monotonic() < deadline, "microburst does not serve"
            time.sleep(0.05)
        yield via
    finally:
        process.terminate()
        process.wait()


def fired(via: str) -> Counter[str]:
    """How often each sort of fault was made; of the last that it remembers."""
    with urllib.request.urlopen(f"{via}/_microburst/fired?limit=10000") as answer:
        told = json.load(answer)
    events = told if isinstance(told, list) else told.get("fired", told.get("events", []))
    return Counter(str(event.get("action")) for event in events)
