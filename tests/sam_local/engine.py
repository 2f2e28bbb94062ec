"""A container engine: asked over its own socket, so that neither a command nor a library is needed for it."""

import http.client
import ipaddress
import json
import os
import socket
from dataclasses import dataclass
from urllib.parse import quote, urlencode

SECONDS = 10
LONG_SECONDS = 600
"""For pulling and building; a registry that cannot be reached is not waited for that long."""
SYSTEM_SOCKET = "unix:///var/run/docker.sock"


class NoEngine(Exception):
    """There is no container engine, and none can be started; says why."""


class EngineError(Exception):
    """The engine refused something; says what."""


class _Connection(http.client.HTTPConnection):
    def __init__(self, path: str, seconds: float) -> None:
        super().__init__("localhost", timeout=seconds)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


@dataclass(frozen=True)
class Engine:
    """A Docker engine at this address, `unix:///...`: sam mounts folders of this machine, so it is here."""

    host: str

    def answers(self) -> bool:
        try:
            return self._ask("GET", "/_ping")[0] == http.HTTPStatus.OK
        except OSError:
            return False

    def has(self, image: str) -> bool:
        return self._ask("GET", f"/images/{image}/json")[0] == http.HTTPStatus.OK

    def pull(self, image: str) -> bool:
        """Tell whether the image is here now; False when its registry cannot be reached."""
        try:
            if self._ask("GET", f"/distribution/{image}/json")[0] != http.HTTPStatus.OK:
                return False
        except TimeoutError:
            return False
        self._done("POST", "/images/create?" + urlencode({"fromImage": image}))
        return self.has(image)

    def import_files(self, image: str, archive: bytes, environment: dict[str, str]) -> None:
        """Make an image of one layer out of a tar."""
        repository, _, tag = image.partition(":")
        asked = {
            "fromSrc": "-",
            "repo": repository,
            "tag": tag,
            "changes": [f"ENV {name}={value}" for name, value in environment.items()],
        }
        self._done("POST", "/images/create?" + urlencode(asked, doseq=True), archive)

    def build(self, image: str, context: bytes) -> None:
        """Build the Dockerfile of a tar."""
        self._done("POST", "/build?" + urlencode({"t": image, "rm": 1}), context)

    def containers(self, image: str) -> list[str]:
        """Ids of those that run on an image or on one that was built from it."""
        wanted = quote(json.dumps({"ancestor": [image]}))
        found = self._ask("GET", f"/containers/json?all=1&filters={wanted}")[1]
        return [one["Id"] for one in json.loads(found)]

    def remove(self, container: str) -> None:
        self._ask("DELETE", f"/containers/{container}?force=1")

    def images(self, prefix: str) -> list[str]:
        """Names of the images whose name begins so."""
        listed = json.loads(self._ask("GET", "/images/json")[1])
        names = (name for one in listed for name in one["RepoTags"] or ())
        return [name for name in names if name.startswith(prefix)]

    def remove_image(self, image: str) -> None:
        self._ask("DELETE", f"/images/{image}", seconds=LONG_SECONDS)

    def bridge(self) -> tuple[str, str]:
        """This machine's address on the bridge that containers are on, and the bridge's network."""
        status, told = self._ask("GET", "/networks/bridge")
        if status != http.HTTPStatus.OK:
            raise EngineError(f"the engine has no bridge: {told[:200]!r}")
        (config, *_) = json.loads(told)["IPAM"]["Config"]
        network = ipaddress.ip_network(config["Subnet"])
        return config.get("Gateway") or str(network[1]), str(network)

    def _done(self, method: str, path: str, body: bytes | None = None) -> None:
        status, told = self._ask(method, path, body, LONG_SECONDS)
        # A failure on the way comes as a line of a 200.
        lines = [json.loads(line) for line in told.splitlines() if line.startswith(b"{")]
        errors = [line["error"] for line in lines if "error" in line]
        if status != http.HTTPStatus.OK or errors:
            raise EngineError(f"{path.partition('?')[0]}: {errors or told[-500:]!r}")

    def _ask(
        self, method: str, path: str, body: bytes | None = None, seconds: float = SECONDS
    ) -> tuple[int, bytes]:
        connection = _Connection(self.host.removeprefix("unix://"), seconds)
        kind = {"Content-Type": "application/x-tar"} if body is not None else {}
        try:
            connection.request(method, path, body, kind)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()


def running_engine() -> Engine | None:
    """The engine that sam would find: DOCKER_HOST's, else the system's."""
    host = os.environ.get("DOCKER_HOST") or SYSTEM_SOCKET
    engine = Engine(host)
    return engine if host.startswith("unix://") and engine.answers() else None
