"""The functions under AWS's emulator of Lambda's runtime, without containers; sam's package holds it."""

import json
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minutero_cli.local.paths import tool
from minutero_cli.local.server import free_port
from minutero_cli.local.state import HOST, State
from tests.sam_local import events
from tests.sam_local.functions import Told, ask_text, process, told_by, wait_for
from tests.sam_local.template import deployed, layers

CALL = "2015-03-31/functions/function/invocations"


@dataclass(frozen=True)
class UnderEmulator:
    """A process a call: the emulator takes one call at a time, and a second one ends it.

    `client` is the folder of AWS's runtime client, `folder` one for what is written on the way.
    """

    where: str
    built: Path
    state: State
    client: Path
    folder: Path

    def invoke(self, function: str, event: Path) -> Told:
        port = free_port()
        command = [
            str(_emulator()), "--log-level", "error",
            "--runtime-interface-emulator-address", f"{HOST}:{port}",
            "--runtime-api-address", f"{HOST}:{free_port()}",
            # Without this environment's packages: what a layer lacks shows.
            sys._base_executable, "-S", "-m", "awslambdaric", "app.handler",
        ]  # fmt: skip
        log = self.folder / f"emulator-{port}.log"
        with process(command, log, self._environment(function), self.built / function) as started:
            wait_for(started, log, port)
            _, answer = ask_text("POST", f"http://{HOST}:{port}/{CALL}", event.read_text())
        logs = log.read_text()
        log.unlink()
        return told_by(answer, logs)

    def http(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """As API Gateway's event, since nothing serves in front of the function here."""
        request = events.read("http_post_tasks") | {"rawPath": path, "body": json.dumps(body)}
        request["requestContext"]["http"] |= {"method": method, "path": path}
        if body is None:
            del request["body"]
        written = self.folder / "request.json"
        written.write_text(json.dumps(request))
        answer = self.invoke("ApiFunction", written).answer
        return answer["statusCode"], json.loads(answer["body"])

    def _environment(self, function: str) -> dict[str, str]:
        found = deployed(self.state, function)
        upon = [self.built / layer / "python" for layer in reversed(layers(self.built))]
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "PYTHONPATH": os.pathsep.join(map(str, (self.built / function, *upon, self.client))),
            "LAMBDA_TASK_ROOT": str(self.built / function),
            "AWS_LAMBDA_FUNCTION_NAME": found["FunctionName"],
            "AWS_LAMBDA_FUNCTION_TIMEOUT": str(found["Timeout"]),
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(found["MemorySize"]),
            **found["Environment"]["Variables"],
            **self.state.environment,
        }


def _emulator() -> Path:
    name = f"aws-lambda-rie-{'x86_64' if platform.machine() == 'x86_64' else 'arm64'}"
    return next(tool("sam").parents[1].glob(f"lib/python*/site-packages/samcli/local/rapid/{name}"))
