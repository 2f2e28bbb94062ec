"""MiniStack's process: start it, know it again, end it and no other."""

import os
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path

from minutero_cli.errors import CommandError
from minutero_cli.local.paths import tool
from minutero_cli.local.state import HOST, State

READY_SECONDS = 60
STOP_SECONDS = 20
_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def port_is_free(port: int) -> bool:
    """Tell whether nothing listens on this loopback port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def free_port() -> int:
    """Let the system choose a loopback port that nothing listens on."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def start(home: Path, port: int, *, auth: bool, persist: Path | None) -> State:
    """Start MiniStack detached, on loopback alone, and wait until it serves."""
    scratch = home / "tmp"
    scratch.mkdir(parents=True, exist_ok=True)
    # A clean environment: the functions inherit it, and must not meet the caller's AWS settings.
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(scratch),
        "TMPDIR": str(scratch),
        "LANG": "C.UTF-8",
        "BIND_HOST": HOST,
        "MINISTACK_HOST": HOST,
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
        "AUTH": "true" if auth else "false",
    }
    if persist is not None:
        persist.mkdir(parents=True, exist_ok=True)
        environment |= {
            "PERSIST_STATE": "1",
            "STATE_DIR": str(persist),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(persist / "s3"),
        }
    command = str(tool("ministack"))
    with (home / "ministack.log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603  # our own environment's executable
            [command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=scratch,
            start_new_session=True,
        )
    state = State(
        pid=process.pid,
        started=started_at(process.pid),
        port=port,
        auth=auth,
        persist=str(persist) if persist else None,
    )
    _wait_until_it_serves(state, home / "ministack.log")
    return state


def _wait_until_it_serves(state: State, log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if not is_running(state):
            raise CommandError(f"MiniStack ended at once; its reason is in {log}")
        if http_status(f"{state.endpoint_url}/_ministack/ready", timeout=2) == 200:  # noqa: PLR2004
            return
        time.sleep(0.1)
    stop(state)
    raise CommandError(f"MiniStack did not serve within {READY_SECONDS} s; see {log}")


def http_status(url: str, timeout: float) -> int | None:
    """GET a loopback address and return the status, or None when nobody answers."""
    try:
        with _direct.open(url, timeout=timeout) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return None


def started_at(pid: int) -> str:
    """Say when a process started, so that a reused pid is not taken for it; '' when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return _started_by_ps(pid)
    return "" if fields[0] == "Z" else fields[19]


def _started_by_ps(pid: int) -> str:
    ps = shutil.which("ps")
    if Path("/proc/self/stat").exists() or ps is None:
        return ""
    found = subprocess.run(  # noqa: S603  # a number is its only input
        [ps, "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return found.stdout.strip()


def is_running(state: State) -> bool:
    """Tell whether the very process that was started still runs."""
    return bool(state.started) and started_at(state.pid) == state.started


def stop(state: State) -> None:
    """End the process that was started, gently first (it saves its state), and wait for its end."""
    for signal_, seconds in ((signal.SIGTERM, STOP_SECONDS), (signal.SIGKILL, 5)):
        if not is_running(state):
            break
        with suppress(ProcessLookupError):
            # The process leads its own group, so the functions it started end with it.
            if signal_ == signal.SIGTERM:
                os.kill(state.pid, signal_)
            else:
                os.killpg(state.pid, signal_)
        deadline = time.monotonic() + seconds
        while is_running(state) and time.monotonic() < deadline:
            time.sleep(0.05)
    with suppress(ChildProcessError):
        os.waitpid(state.pid, os.WNOHANG)
