"""The floor of a measurement of CPU: a run's requests, made again by a bare client with nothing around."""

import gc
import importlib.util
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Any

from botocore import xform_name

FUNCTIONS = Path(__file__).parents[1] / "functions"

Call = tuple[str, dict[str, Any]]
"""An operation, and what the client was told."""


@contextmanager
def recorded(client: Any, *operations: str) -> Iterator[list[Call]]:
    """The calls of these operations that a client makes within the block."""
    calls: list[Call] = []

    def note(params: dict[str, Any], model: Any, **_: Any) -> None:
        calls.append((model.name, dict(params)))

    events = [f"provide-client-params.*.{operation}" for operation in operations]
    for event in events:
        client.meta.events.register(event, note)
    try:
        yield calls
    finally:
        for event in events:
            client.meta.events.unregister(event, note)


def make_again(client: Any, calls: Sequence[Call]) -> None:
    """One after the other, in one thread; the answers are dropped."""
    methods = {name: getattr(client, xform_name(name)) for name, _ in calls}
    for name, parameters in calls:
        methods[name](**parameters)


def beside(rounds: int, ours: Callable[[], float], floor: Callable[[], float]) -> dict[str, float]:
    """What each of two works took, medians of rounds in which they take turns; the first warms up."""
    taken = [(ours(), floor()) for _ in range(rounds + 1)][1:]
    cpu, least = (median(of_one) for of_one in zip(*taken, strict=True))
    return {
        "cpu_us_per_task": cpu,
        "floor_cpu_us_per_task": least,
        "ratio_to_floor": cpu / least,
    }


def cpu_us(work: Callable[[], object]) -> float:
    """Microseconds of CPU, those of all threads and of the system's calls."""
    gc.collect()
    begun = time.process_time()
    work()
    return (time.process_time() - begun) * 1e6


def load_function(name: str) -> ModuleType:
    """`functions/<name>/app.py`, as Lambda imports it. Its folder must be on the path if it has modules."""
    spec = importlib.util.spec_from_file_location(f"{name}_app", FUNCTIONS / name / "app.py")
    if spec is None or spec.loader is None:
        raise ImportError(f"functions/{name}/app.py is not there")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
