"""An engine of our own, where none runs: Debian's dockerd, unpacked into a folder of this checkout.

Nothing is installed: packages of the system would start a service and write rules into the firewall. The
images stay in the folder, so the next start finds them. All dockerds of a machine have one bridge, docker0,
and the first that ends takes it from the others: so one runs at a time, whatever its checkout.
"""

import fcntl
import os
import platform
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from minutero_cli.local.progress import Step
from tests.sam_local.engine import Engine, NoEngine, running_engine

PACKAGE = "docker.io"
PROGRAMS = ("usr/bin", "usr/sbin", "usr/libexec/docker")
LIBRARIES = ("usr/lib/*-linux-gnu", "lib/*-linux-gnu")
BRIDGE = Path("/sys/class/net/docker0")
MACHINE = Path("/run")
"""Where the lock of the machine's one engine of ours is, and its process id."""
SIOCSIFFLAGS, SIOCBRDELBR = 0x8914, 0x89A1
"""Of linux/sockios.h."""
READY_SECONDS = 60
STOP_SECONDS = 30


@contextmanager
def container_engine(folder: Path, step: Step) -> Iterator[Engine]:
    """The engine that runs, else one of our own for the while. Raises NoEngine, which says why."""
    there = running_engine()
    if there is not None:
        yield there
        return
    _refuse_without_rights()
    folder.mkdir(parents=True, exist_ok=True)
    with (MACHINE / "minutero-engine.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with step("Waiting for another run that has the engine"):
                fcntl.flock(lock, fcntl.LOCK_EX)
        environment = _programs(folder / "programs", step)
        with _daemon(folder, environment, step) as own:
            yield own


def _refuse_without_rights() -> None:
    if platform.system() != "Linux":
        raise NoEngine(f"no container engine runs, and none can be started on {platform.system()}")
    if os.geteuid() != 0:
        raise NoEngine("no container engine runs, and only root can start one")


def _programs(folder: Path, step: Step) -> dict[str, str]:
    """The environment in which dockerd finds itself and its parts."""
    if shutil.which("dockerd"):
        return dict(os.environ)
    if not (folder / "complete").exists():
        with step("Fetching a container engine"):
            _fetch(folder)
        (folder / "complete").touch()
    paths = [str(folder / name) for name in PROGRAMS]
    libraries = [str(path) for pattern in LIBRARIES for path in folder.glob(pattern)]
    return {
        **os.environ,
        "PATH": os.pathsep.join([*paths, os.environ.get("PATH", os.defpath)]),
        "LD_LIBRARY_PATH": os.pathsep.join(libraries),
    }


def _fetch(folder: Path) -> None:
    """Unpack Debian's package and those it needs and that are not here."""
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise NoEngine("no container engine runs, and there is no apt-get to fetch Debian's with")
    shutil.rmtree(folder, ignore_errors=True)
    archives = folder / "archives"
    archives.mkdir(parents=True)
    try:
        _download(archives)
    except NoEngine:
        _run("apt-get", "update", "-qq", cwd=archives)  # the lists are old, or there are none
        _download(archives)
    unpacking = [
        subprocess.Popen(["dpkg-deb", "-x", str(package), str(folder)])
        for package in archives.glob("*.deb")
    ]
    codes = [process.wait() for process in unpacking]
    if any(codes):
        raise NoEngine(f"the packages of {PACKAGE} could not be unpacked into {folder}")
    shutil.rmtree(archives)


def _download(archives: Path) -> None:
    planned = _run("apt-get", "install", "-s", "--no-install-recommends", PACKAGE, cwd=archives)
    missing = re.findall(r"^Inst (\S+)", planned, re.MULTILINE)
    # apt's own user may not write here, and it says so in a warning; root downloads.
    _run("apt-get", "download", "-qq", "-o", "APT::Sandbox::User=root", *missing, cwd=archives)


def _run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode:
        raise NoEngine(
            f"no container engine runs; '{' '.join(command[:3])}': {done.stderr.strip()[-300:]}"
        )
    return done.stdout


@contextmanager
def _daemon(folder: Path, environment: dict[str, str], step: Step) -> Iterator[Engine]:
    pid = MACHINE / "minutero-engine.pid"
    _end_left_over(pid)
    # A path of a socket has 107 characters at most, and the checkout may lie deep.
    state = Path(tempfile.mkdtemp(prefix="minutero-engine-"))
    engine = Engine(f"unix://{state}/docker.sock")
    log = folder / "log"
    bridge_was_there = BRIDGE.exists()
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["dockerd", "--host", engine.host, "--data-root", str(folder / "data"),
             "--exec-root", str(state / "exec"), "--pidfile", str(pid),
             # Containers need only this machine, so its firewall and routes stay as they are.
             "--iptables=false", "--ip6tables=false", "--ip-forward=false"],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment,
            start_new_session=True,  # Ctrl-C is ours to handle: the containers are ended first
        )  # fmt: skip
    try:
        with step("Starting a container engine"):
            _wait(process, engine, log)
        yield engine
    finally:
        _end(process)
        if not bridge_was_there:
            _remove_bridge()
        _unmount(state)
        shutil.rmtree(state, ignore_errors=True)


def _wait(process: subprocess.Popen[bytes], engine: Engine, log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while not engine.answers():
        if process.poll() is not None or time.monotonic() > deadline:
            raise NoEngine(f"dockerd does not start here: {_last_line(log)}")
        time.sleep(0.1)


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").strip().splitlines()
    return lines[-1][-300:] if lines else "it said nothing"


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _end_left_over(file: Path) -> None:
    """End the dockerd of a run that was killed: the bridge is this one's. The lock is held."""
    try:
        pid = int(file.read_text())
        ours = str(file).encode() in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return
    deadline = time.monotonic() + STOP_SECONDS
    while ours and Path(f"/proc/{pid}").exists() and time.monotonic() < deadline:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        time.sleep(0.2)


def _unmount(state: Path) -> None:
    mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
    for mount in sorted((one for one in mounts if one.startswith(f"{state}/")), reverse=True):
        subprocess.run(["umount", "-l", mount], capture_output=True, check=False)


def _remove_bridge() -> None:
    """dockerd leaves its bridge behind, with an address on it."""
    name = BRIDGE.name.encode()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket, suppress(OSError):
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh", name, 0))  # down
        fcntl.ioctl(any_socket, SIOCBRDELBR, name)
