"""What the functions import and how large their layers are, as they are built.

Each function is imported by fresh processes that see the built folders alone, as on Lambda. Its first call
opens its clients as well.
"""

import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

from minutero_cli.local.build import build

ROUNDS = 5
FUNCTIONS = {
    "api": "ApiFunction",
    "dispatcher": "DispatcherFunction",
    "worker": "WorkerFunction",
    "auditor": "AuditorFunction",
    "dead_letter": "DeadLetterFunction",
}
LAYERS = ("DependenciesLayer", "MinuteroLayer")
MEGABYTE = 1024 * 1024
IMPORT = """
import time
begun = time.process_time()
import app
imported = time.process_time()
from minutero import wiring
{opens}
print(imported - begun, time.process_time() - imported)
"""
OPENS = {"worker": "app.load_jobs(); wiring.worker(app.registry)"}
TABLES = ("TASKS_TABLE", "SCHEDULES_TABLE", "CURSORS_TABLE", "RUNS_TABLE")
QUEUES = ("TASKS_QUEUE_URL", "DEAD_LETTER_QUEUE_URL")
OTHERS = ("WORKER_FUNCTION", "DISPATCHER_FUNCTION")


def measure(rounds: int = ROUNDS) -> dict[str, Any]:
    """Milliseconds of CPU, medians; megabytes."""
    built = build()
    return {
        "functions": [function(built, name, rounds) for name in FUNCTIONS],
        "layers": [layer(built / name) for name in LAYERS],
    }


def function(built: Path, name: str, rounds: int) -> dict[str, Any]:
    """CPU of importing `app.py`, and of putting together what its first call needs."""
    taken = [_import(built, name) for _ in range(rounds)]
    imports, opens = (median(of_one) * 1000 for of_one in zip(*taken, strict=True))
    return {"function": name, "import_ms": imports, "open_ms": opens}


def _import(built: Path, name: str) -> tuple[float, float]:
    folder = built / FUNCTIONS[name]
    code = IMPORT.format(opens=OPENS.get(name, f"wiring.{name}()"))
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "PYTHONPATH": os.pathsep.join(
            [str(folder), *(str(built / one / "python") for one in LAYERS)]
        ),
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        **{f"MINUTERO_{name}": "https://sqs.invalid/queue" for name in (*TABLES, *QUEUES, *OTHERS)},
    }
    # -S: without this environment's own packages.
    done = subprocess.run(  # noqa: S603 - this very Python
        [sys.executable, "-S", "-c", code],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    imported, opened = done.stdout.split()
    return float(imported), float(opened)


def layer(folder: Path) -> dict[str, Any]:
    """Sizes of what is uploaded: without what the local build has compiled."""
    files = [
        path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    ]
    return {
        "layer": folder.name,
        "files": len(files),
        "unzipped_mb": sum(path.stat().st_size for path in files) / MEGABYTE,
        "zipped_mb": zipped(files, folder) / MEGABYTE,
    }


def zipped(files: Iterable[Path], folder: Path) -> int:
    """Bytes of an archive of them."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as target:
        for path in files:
            target.write(path, path.relative_to(folder))
    return archive.tell()


if __name__ == "__main__":
    print(json.dumps(measure(), indent=1))
