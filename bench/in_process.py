"""A measurement in a process of its own: it finds no warm cache, leaves none behind, and may be given up."""

import importlib
import multiprocessing
import traceback
from multiprocessing.connection import Connection
from typing import Any


class Failed(Exception):
    """A measurement raised, ended its process, or took too long. Its text says which."""


def measured(module: str, seconds: float) -> dict[str, Any]:
    """What `measure()` of the module returns. Raises Failed."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_measure, args=(module, there))
    process.start()
    there.close()
    try:
        if not here.poll(seconds):
            raise Failed(f"no result within {seconds:.0f} s")
        failure, numbers = here.recv()
    except EOFError:
        process.join()
        raise Failed(f"its process ended with {process.exitcode}") from None
    finally:
        here.close()
        process.terminate()
        process.join()
        process.close()
    if failure:
        raise Failed(failure)
    return dict(numbers)


def _measure(module: str, result: Connection) -> None:
    try:
        result.send(("", importlib.import_module(module).measure()))
    except Exception:  # noqa: BLE001 - whatever it was is told, and the other measurements are made
        result.send((traceback.format_exc(), None))
