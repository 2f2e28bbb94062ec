"""The functions in containers, by `sam local`."""

import json
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from minutero_cli.local.build import tool_environment
from minutero_cli.local.deploy import FOREIGN
from minutero_cli.local.paths import project_root, tool
from minutero_cli.local.server import free_port
from minutero_cli.local.state import HOST, State
from tests.sam_local.engine import Engine
from tests.sam_local.functions import PATIENCE_SECONDS, Told, ask, process, told_by, wait_for
from tests.sam_local.relay import relay
from tests.sam_local.template import for_sam, variables


@dataclass(frozen=True)
class InContainers:
    """`sam local invoke` a call, and one `sam local start-api` for all of HTTP."""

    where: str
    options: list[str]
    environment: Mapping[str, str]
    api: subprocess.Popen[bytes]
    api_log: Path
    api_port: int

    def invoke(self, function: str, event: Path) -> Told:
        done = subprocess.run(
            [*_sam("invoke"), function, "--event", str(event), *self.options],
            env=self.environment,
            cwd=project_root(),
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        return told_by(done.stdout, done.stderr)

    def http(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        wait_for(self.api, self.api_log, self.api_port)
        return ask(method, f"http://{HOST}:{self.api_port}{path}", body)


@contextmanager
def in_containers(
    where: str, engine: Engine, image: str, state: State, built: Path, folder: Path
) -> Iterator[InContainers]:
    """The functions of `built` in containers of this image, which holds the layers; `folder` is for what is
    written on the way.
    """
    with relay(*engine.bridge(), state.port) as endpoint:
        made = for_sam(built, state, endpoint)
        template = folder / "template.json"  # sam reads JSON sooner than YAML
        template.write_text(json.dumps(made))
        options = ["--template", str(template), "--invoke-image", image, "--skip-pull-image"]
        environment = sam_environment(engine, state, endpoint, variables(made))
        environment["TMPDIR"] = str(folder)
        port, log = free_port(), folder / "start-api.log"
        serve = [*_sam("start-api"), *options, "--port", str(port), "--warm-containers", "LAZY"]
        try:
            with process(serve, log, environment, project_root()) as api:
                yield InContainers(where, options, environment, api, log, port)
        finally:
            # What a sam leaves behind that was ended in the midst of a call.
            for container in engine.containers(image):
                engine.remove(container)


def _sam(command: str) -> list[str]:
    return [str(tool("sam")), "local", command]


def sam_environment(
    engine: Engine, state: State, endpoint: str, told: Iterable[str]
) -> dict[str, str]:
    """What sam runs in: it asks AWS for its account, and reaches the stack as its containers do.

    `told` names the variables that the template gives the functions: sam's own value of one would go before
    the template's (https://github.com/aws/aws-sam-cli/issues/7317).
    """
    environment = tool_environment()
    # Not kept, what sam compiles is compiled at each call: 1,000 modules.
    for name in (*FOREIGN, "PYTHONDONTWRITEBYTECODE", *told):
        environment.pop(name, None)
    return {
        **environment,
        **state.environment,
        "AWS_ENDPOINT_URL": endpoint,
        "DOCKER_HOST": engine.host,
        "NO_PROXY": "*",
    }
