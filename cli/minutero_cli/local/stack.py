"""The local stack as one object, for the commands and for tests."""

import json
import shutil
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from minutero_cli.errors import CommandError
from minutero_cli.local import server, state
from minutero_cli.local.build import build
from minutero_cli.local.deploy import deploy
from minutero_cli.local.paths import default_home
from minutero_cli.local.progress import Step, silent
from minutero_cli.local.state import State

DEFAULT_PORT = 4566
ANSWER_SECONDS = 90
SERVER_ERROR, UNAVAILABLE = 500, 503


class LocalStack:
    """MiniStack and the stack deployed to it.

    `home` holds the state and the logs (two stacks with two homes do not meet); `port` None means
    4566, or a free one where that is taken; `auth` makes MiniStack enforce IAM and SigV4; `persist`
    is a folder in which the data outlive the process; `step` shows progress. `built` is a built
    template to deploy instead of the checkout's own, `parameters` are some of its parameters.
    """

    def __init__(
        self,
        home: Path | None = None,
        port: int | None = None,
        *,
        auth: bool = False,
        persist: Path | None = None,
        step: Step = silent,
        built: Path | None = None,
        parameters: Mapping[str, str] | None = None,
    ) -> None:
        self.home = (home or default_home()).resolve()
        self.port = port
        self.auth = auth
        self.persist = persist.resolve() if persist else None
        self._step = step
        self._built = built
        self._parameters = parameters or {}

    def up(self) -> State:
        """Start what does not run, deploy what has changed, and return when the API answers."""
        with self._step("Building the functions"):
            built = self._built or build()
        current = self.status()
        if current is None:
            with self._step("Starting MiniStack"):
                current = server.start(
                    self.home, self._choose_port(), auth=self.auth, persist=self.persist
                )
                state.save(self.home, current)
        self._refuse_other_settings(current)
        wanted = f"{built.name} {dict(sorted(self._parameters.items()))}"
        if current.deployed != wanted:
            with self._step("Deploying the stack"):
                outputs = deploy(current, built, self.home, self._parameters)
                current = replace(current, deployed=wanted, outputs=outputs)
                state.save(self.home, current)
        with self._step("Waiting for the API"):
            self._wait_for_the_api(current)
        return current

    def status(self) -> State | None:
        """Return the running stack, or None."""
        known = state.load(self.home)
        return known if known is not None and server.is_running(known) else None

    def running(self) -> State:
        """Return the running and deployed stack, or raise with what to do."""
        current = self.status()
        if current is None or not current.outputs:
            raise CommandError("the local stack is not running; start it with: minutero local up")
        return current

    def client(self, service: str) -> Any:
        """Make a boto3 client of this service on the running stack."""
        from minutero_cli.local.clients import client  # noqa: PLC0415  # boto3 is slow to import

        return client(self.status() or self.running(), service)

    def tick(self) -> Any:
        """Run one tick now, beside those that the rule fires, and return its answer."""
        event = {
            "version": "0",
            "source": "aws.events",
            "detail-type": "Scheduled Event",
            "time": datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "detail": {},
        }
        return self.invoke("DispatcherFunctionName", event)

    def invoke(self, output: str, event: Any) -> Any:
        """Invoke the function that this output of the stack names, and return its answer."""
        from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415  # slow to import

        name = self.running().outputs[output]
        payload = json.dumps(event).encode()
        try:
            answer = self.client("lambda").invoke(FunctionName=name, Payload=payload)
        except (BotoCoreError, ClientError) as error:
            raise CommandError(
                f"{name} gave no answer: {error}; see: minutero local logs"
            ) from None
        told = json.loads(answer["Payload"].read() or b"null")
        if "FunctionError" in answer:
            why = told.get("errorMessage", told) if isinstance(told, dict) else told
            raise CommandError(f"{name} failed: {why}; see: minutero local logs")
        return told

    def down(self) -> bool:
        """End the stack's process and no other; tell whether one ran."""
        current = self.status()
        if current is not None:
            server.stop(current)
        state.forget(self.home)
        shutil.rmtree(self.home / "tmp", ignore_errors=True)
        return current is not None

    def _choose_port(self) -> int:
        if self.port is None:
            return DEFAULT_PORT if server.port_is_free(DEFAULT_PORT) else server.free_port()
        if not server.port_is_free(self.port):
            raise CommandError(
                f"port {self.port} is taken; choose another with --port, or leave --port out"
            )
        return self.port

    def _refuse_other_settings(self, current: State) -> None:
        other = (self.port not in (None, current.port)) or self.auth != current.auth
        if other or (self.persist is not None and str(self.persist) != current.persist):
            raise CommandError(
                f"the local stack already runs on port {current.port} with other settings;"
                " end it first with: minutero local down"
            )

    def _wait_for_the_api(self, current: State) -> None:
        deadline = time.monotonic() + ANSWER_SECONDS
        status = None
        while time.monotonic() < deadline:
            status = server.http_status(f"{current.api_url}/jobs", timeout=30)
            if status is not None and status < SERVER_ERROR:
                return
            if status != UNAVAILABLE:  # which it is while the worker is starting
                self.invoke("ApiFunctionName", {"rawPath": "/jobs"})  # raises what hinders it
            time.sleep(0.5)
        told = "nothing" if status is None else f"status {status}"
        raise CommandError(f"the API answers {told}; see: minutero local logs")
