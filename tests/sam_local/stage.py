"""All that is put up around the functions and taken down again, for the command and for the tests."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from minutero_cli.local import LocalStack
from minutero_cli.local.build import build
from minutero_cli.local.paths import project_root
from minutero_cli.local.progress import Step, silent
from tests.sam_local import events, images
from tests.sam_local.containers import in_containers
from tests.sam_local.daemon import container_engine
from tests.sam_local.emulator import UnderEmulator
from tests.sam_local.engine import Engine, NoEngine
from tests.sam_local.functions import PATIENCE_SECONDS, FunctionError, Functions, Told

SIDE_BY_SIDE = 3


@contextmanager
def functions(local: LocalStack, step: Step = silent) -> Iterator[Functions]:
    """The built functions before the local stack, which is brought up and left to the caller.

    In containers where there is an engine or one can be started, else under the emulator.
    """
    with step("Building the functions"):
        built = build()
    with ExitStack() as opened:
        with ThreadPoolExecutor(1) as beside:
            coming = beside.submit(local.up)
            found = _image(opened, built, step)
            state = coming.result()
        events.store_their_tasks(state)
        folder = Path(opened.enter_context(TemporaryDirectory(dir=_cache())))
        if isinstance(found, str):
            where = f"the emulator of Lambda's runtime, since {found}"
            client = images.runtime_client(_cache(), step)
            yield UnderEmulator(where, built, state, client, folder)
        else:
            engine, base, image = found
            where = f"containers of {base}"
            if base != images.REAL:
                where += f", which stands in for {images.REAL}"
            yield opened.enter_context(in_containers(where, engine, image, state, built, folder))


def prepare(step: Step = silent) -> None:
    """Make all that is kept for the next time, and need not be waited for then: build, engine and images."""
    with ExitStack() as opened:
        _image(opened, build(), step)


def _cache() -> Path:
    folder = project_root() / ".minutero" / "sam_local"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _image(opened: ExitStack, built: Path, step: Step) -> tuple[Engine, str, str] | str:
    """The engine, Lambda's image or the stand-in, and that with the layers; or why there is no engine."""
    client = images.runtime_client(_cache(), step)
    try:
        engine = opened.enter_context(container_engine(_cache() / "engine", step))
        base = images.lambda_image(engine, client, step)
    except NoEngine as why:
        return str(why)
    return engine, base, images.with_layers(engine, base, built, step)


def told_by_all(run: Functions) -> dict[str, Told]:
    """What came of each event, by its name. They run side by side; what reads comes after what it reads."""

    def tell(name: str) -> Told:
        return run.invoke(events.FUNCTIONS[name], events.path_of(name))

    *first, last = events.FUNCTIONS
    with ThreadPoolExecutor(SIDE_BY_SIDE) as beside:
        told = dict(zip(first, beside.map(tell, first), strict=True))
    return told | {last: tell(last)}


def add_and_follow(run: Functions) -> dict[str, Any]:
    """A task posted to the API, once it has run: the worker of the local stack runs it."""
    status, added = run.http("POST", "/tasks", {"job": "echo", "payload": "over sam local"})
    if status != HTTPStatus.CREATED:
        raise FunctionError(f"POST /tasks was answered with {status} {added}")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        _, task = run.http("GET", f"/tasks/{added['task_id']}")
        if task["timeline"]["finished_at"]:
            return task
        if time.monotonic() > deadline:
            raise FunctionError(f"the task has not run in {PATIENCE_SECONDS} s: {task}")
        time.sleep(0.2)
