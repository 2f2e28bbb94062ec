"""A stand-in for Lambda's image, made of this very Python: for where the real one cannot be pulled.

It holds the interpreter, its library, what both are linked to, the five commands that sam calls while it
makes its own image of it, and AWS's runtime client. So it takes seconds, where a Debian by debootstrap takes
two minutes. It is no Amazon Linux: what a job needs of the system beyond Python shows only in the real image.
"""

import hashlib
import io
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path

COMMANDS = ("sh", "cp", "mv", "rm", "chmod")
LEFT_OUT = {
    "test", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip", "site-packages", "dist-packages",
}  # fmt: skip
BOOTSTRAP = """#!/bin/sh
export PYTHONPATH="$LAMBDA_TASK_ROOT:/opt/python:/var/runtime"
exec {python} -m awslambdaric "$_HANDLER"
"""
ETC = {
    "etc/passwd": "root:x:0:0:root:/root:/bin/sh\n",
    "etc/group": "root:x:0:\n",
    "etc/nsswitch.conf": "hosts: files dns\n",
}
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "LAMBDA_TASK_ROOT": "/var/task",
    "LAMBDA_RUNTIME_DIR": "/var/runtime",
}
PROMISED = (
    "libdl.so.2", "libgcc_s.so.1", "libm.so.6", "libpthread.so.0", "libresolv.so.2", "librt.so.1",
    "libstdc++.so.6", "libutil.so.1",
)  # fmt: skip
"""What a wheel may count on wherever it is installed: https://peps.python.org/pep-0599/#the-manylinux2014-policy"""
LIBRARY_CACHE = Path("/etc/ld.so.cache")
LIBRARY = re.compile(r"(/\S+) \(0x")


def interpreter() -> Path:
    return Path(sys._base_executable).resolve()


def digest(runtime: Path) -> str:
    """Of all that makes the image; `runtime` is the folder of AWS's runtime client."""
    parts = [sys.version, str(interpreter()), Path(__file__).read_text()]
    parts += sorted(path.name for path in runtime.glob("*.dist-info"))
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]


def archive(runtime: Path) -> bytes:
    """The image's files, as a tar."""
    texts = ETC | {"var/runtime/bootstrap": BOOTSTRAP.format(python=interpreter())}
    held = io.BytesIO()
    # Each file is stored as what it is, never as a link to where it lies on this machine.
    with tarfile.open(fileobj=held, mode="w", dereference=True) as tar:
        for path, text in texts.items():
            add_text(tar, path, text)
        for folder in ("tmp", "var/task", "opt", "root"):
            _add_folder(tar, folder)
        for source, target in _files(runtime):
            tar.add(source, target, recursive=False)
    return held.getvalue()


def _files(runtime: Path) -> Iterator[tuple[Path, str]]:
    """What goes where. Python and all it is linked to stay where they are, since they look there."""
    commands = {name: _command(name) for name in COMMANDS}
    client = list(_below(runtime))
    library = {
        path for name in ("stdlib", "platstdlib") for path in _below(Path(sysconfig.get_path(name)))
    }
    extensions = [path for path in [*library, *client] if ".so" in path.suffixes]
    linked = _libraries([interpreter(), *commands.values(), *extensions])
    for name, path in commands.items():
        yield path, f"bin/{name}"
    for path in client:
        yield path, f"var/runtime/{path.relative_to(runtime)}"
    for path in sorted({interpreter(), *library, *linked, *filter(Path.exists, [LIBRARY_CACHE])}):
        yield path, str(path).lstrip("/")


def _command(name: str) -> Path:
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(f"{name} is not on PATH, and the stand-in image needs it")
    return Path(found)


def _below(folder: Path) -> Iterator[Path]:
    """The files of a library, without its tests and what it compiled for other settings."""
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        if (
            LEFT_OUT.isdisjoint(parts)
            and not path.name.endswith((".opt-1.pyc", ".opt-2.pyc", ".a"))
            and path.is_file()
        ):
            yield path


def _libraries(programs: Iterable[Path]) -> set[Path]:
    told = subprocess.run(["ldd", *map(str, programs)], capture_output=True, text=True, check=False)
    linked = {Path(found) for found in LIBRARY.findall(told.stdout)}
    beside = {path.parent for path in linked if path.name == "libc.so.6"}
    promised = {folder / name for folder in beside for name in PROMISED}
    return linked | {path for path in promised if path.exists()}


def add_text(tar: tarfile.TarFile, path: str, text: str) -> None:
    member = tarfile.TarInfo(path)
    member.size, member.mode = len(text.encode()), 0o755
    tar.addfile(member, io.BytesIO(text.encode()))


def _add_folder(tar: tarfile.TarFile, path: str) -> None:
    member = tarfile.TarInfo(path)
    member.type, member.mode = tarfile.DIRTYPE, 0o1777
    tar.addfile(member)
