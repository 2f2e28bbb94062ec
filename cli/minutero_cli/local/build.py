"""`sam build`, kept by the digest of what went in: nothing changed, nothing built."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from minutero_cli.errors import CommandError
from minutero_cli.local.paths import project_root, python_runtime, tool

INPUTS = ("template.yaml", "layers", "functions", "requirements/sam.txt")
KEPT_BUILDS = 3
BUILD_SECONDS = 600


def tool_environment() -> dict[str, str]:
    """Give the caller's environment, with this Python first: sam wants the runtime's very own."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
        "SAM_CLI_TELEMETRY": "0",
        # Seconds between two looks at a deployment; five if left out.
        "SAM_CLI_POLL_DELAY": "0.2",
        "AWS_DEFAULT_REGION": "us-east-1",
    }


def inputs_digest(root: Path) -> str:
    """Digest everything a build depends on."""
    digest = hashlib.sha256(python_runtime().encode())
    for path in _input_files(root):
        digest.update(f"\0{path.relative_to(root)}\0".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _input_files(root: Path) -> Iterator[Path]:
    for name in INPUTS:
        start = root / name
        found = [start] if start.is_file() else sorted(start.rglob("*"))
        for path in found:
            if path.is_file() and "__pycache__" not in path.parts and path.suffix != ".pyc":
                yield path


def build(root: Path | None = None) -> Path:
    """Build the template unless that was done already; return the folder of the built one."""
    root = root or project_root()
    builds = root / ".minutero" / "builds"
    builds.mkdir(parents=True, exist_ok=True)
    with _alone(builds / "lock"):
        target = builds / inputs_digest(root)
        if not target.is_dir():
            _build_into(root, target)
        target.touch()
        _drop_old(builds)
    return target


@contextmanager
def _alone(lock: Path) -> Iterator[None]:
    with lock.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _build_into(root: Path, target: Path) -> None:
    part = target.with_name("part")
    shutil.rmtree(part, ignore_errors=True)
    command = [
        str(tool("sam")), "build", "--cached", "--parallel",
        "--template-file", str(root / "template.yaml"),
        "--config-env", "local",
        "--build-dir", str(part),
        "--cache-dir", str(target.with_name("cache")),
        "--parameter-overrides", f"PythonRuntime={python_runtime()}",
    ]  # fmt: skip
    done = subprocess.run(  # noqa: S603  # our own environment's executable
        command,
        cwd=root,
        env=tool_environment(),
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
        check=False,
    )
    log = target.with_name("build.log")
    log.write_text(done.stdout + done.stderr)
    if done.returncode:
        raise CommandError(f"sam build failed: {last_words(done.stderr)} (all of it: {log})")
    _compile(part)
    part.rename(target)


def _compile(built: Path) -> None:
    """Compile the layers, as unpacking anew in every worker process leaves old marks untrue."""
    layers = [str(path) for path in sorted(built.glob("*Layer"))]
    subprocess.run(  # noqa: S603  # this very Python
        [sys.executable, "-m", "compileall", "-q", "-j", "0",
         "--invalidation-mode", "unchecked-hash", *layers],
        capture_output=True,
        timeout=BUILD_SECONDS,
        check=False,
    )  # fmt: skip


def _drop_old(builds: Path) -> None:
    kept = [
        path for path in builds.iterdir() if path.is_dir() and path.name not in {"cache", "part"}
    ]
    for path in sorted(kept, key=lambda one: one.stat().st_mtime, reverse=True)[KEPT_BUILDS:]:
        shutil.rmtree(path, ignore_errors=True)


def last_words(output: str) -> str:
    """Return the last line of a tool's output that says something."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith("Error")]
    return (errors or lines or ["it said nothing"])[-1]
