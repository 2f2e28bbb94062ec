"""The image that the functions run in: Lambda's own or a stand-in, and the layers on it."""

import hashlib
import io
import platform
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from minutero_cli.errors import CommandError
from minutero_cli.local.paths import project_root, python_runtime
from minutero_cli.local.progress import Step
from tests.sam_local import stand_in
from tests.sam_local.engine import Engine, NoEngine
from tests.sam_local.template import layers

REAL = f"public.ecr.aws/lambda/{python_runtime().replace('python', 'python:')}-x86_64"
CLIENT = "requirements/lambda.txt"
STAND_IN = "minutero/stand-in"
FUNCTIONS = "minutero/functions"


def runtime_client(cache: Path, step: Step) -> Path:
    """The folder of AWS's runtime client, which Lambda's image has and this Python has not."""
    wanted = project_root() / CLIENT
    version = hashlib.sha256(wanted.read_bytes() + python_runtime().encode()).hexdigest()[:12]
    folder = cache / f"client-{version}"
    if not folder.is_dir():
        with step("Fetching Lambda's runtime client"):
            part = folder.with_name("client-part")
            shutil.rmtree(part, ignore_errors=True)
            done = subprocess.run(
                [sys.executable, "-m", "pip", "install", "-qq", "--no-deps",
                 "--target", str(part), "-r", str(wanted)],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            if done.returncode:
                raise CommandError(f"{CLIENT} cannot be installed: {done.stderr.strip()[-300:]}")
            part.rename(folder)
    return folder


def lambda_image(engine: Engine, client: Path, step: Step) -> str:
    """The name of Lambda's image, else of the stand-in. Raises NoEngine where that cannot be made."""
    if engine.has(REAL):
        return REAL
    with step("Asking for Lambda's own image"):
        if engine.pull(REAL):
            return REAL
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        raise NoEngine(f"{REAL} cannot be pulled, and a stand-in is made on x86_64 Linux alone")
    name = f"{STAND_IN}:{stand_in.digest(client)}"
    if not engine.has(name):
        with step("It cannot be had; making a stand-in of this Python"):
            for old in engine.images(f"{STAND_IN}:"):
                engine.remove_image(old)
            engine.import_files(name, stand_in.archive(client), stand_in.ENVIRONMENT)
    return name


def with_layers(engine: Engine, base: str, built: Path, step: Step) -> str:
    """The name of the image with the layers in /opt, made as sam makes it, but once.

    sam names what it makes of an image by the repository alone, so each has a repository of its own.
    """
    digest = hashlib.sha256(f"{base} {built.name}".encode()).hexdigest()[:12]
    name = f"{FUNCTIONS}-{digest}"
    if not engine.has(name):
        with step("Putting the layers into the image"):
            for old in engine.images(f"{FUNCTIONS}-"):
                engine.remove_image(old)
            engine.build(name, _context(base, built))
    return name


def _context(base: str, built: Path) -> bytes:
    lines = [f"FROM {base}", *(f"COPY {layer} /opt" for layer in layers(built))]
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w", dereference=True) as tar:
        stand_in.add_text(tar, "Dockerfile", "\n".join(lines))
        for layer in layers(built):
            tar.add(built / layer, layer)
    return held.getvalue()
