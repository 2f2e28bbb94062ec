"""The worker in a process of its own, for one call: its event on stdin, its answer into a file.

    python worker_process.py ANSWER SECONDS < EVENT

The jobs are those that a process does not survive.
"""

import json
import os
import resource
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path

from app import handler  # the worker's, found by PYTHONPATH
from minutero import job


@job("quick")
def quick(payload, run):
    return payload


@job("exits")
def exits(payload, run):
    os._exit(3)


@job("is_killed")
def is_killed(payload, run):
    """As by the kernel when memory is short."""
    os.kill(os.getpid(), signal.SIGKILL)


@job("blocks")
def blocks(payload, run):
    """It lets nothing out, and mutes the process first."""
    sys.stdout.close()
    sys.stderr.close()
    while True:
        with suppress(BaseException):
            threading.Event().wait()


@job("leaks")
def leaks(payload, run):
    """Takes more memory than there is."""
    _, most = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 30, most))
    try:
        kept = []
        while True:
            kept.append(bytearray(1 << 26))
    finally:
        del kept
        resource.setrlimit(resource.RLIMIT_AS, (most, most))


class Context:
    aws_request_id = "6bc28136-xmpl-4365-b021-0ce6b2e64ab0"
    function_name = "minutero-worker"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:minutero-worker"

    def get_remaining_time_in_millis(self):
        """The process ends itself a second before."""
        return int(sys.argv[2]) * 1000


Path(sys.argv[1]).write_text(json.dumps(handler(json.load(sys.stdin), Context())))
