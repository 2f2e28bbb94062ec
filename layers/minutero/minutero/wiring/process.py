"""What a process has one of: its clock, its meter, its threads, its settings; and clients made ready."""

# ruff: noqa: PLC0415 - imports are most of a cold start, so each builder makes those its function needs

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import TYPE_CHECKING

from minutero.aws.clock import SystemClock
from minutero.aws.emf import EmfMeter
from minutero.ports import Answer, Argument, Meter
from minutero.settings import Settings

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

    from minutero.aws.tables import Tables

THREADS = 16
"""Requests a process keeps in flight: a dispatcher's claims and sends, the shards of a list."""

CLOCK = SystemClock()
METER = EmfMeter()
"""What a function counts in one call; `observed` prints it."""


def side_by_side(call: Callable[[Argument], Answer], arguments: Iterable[Argument]) -> list[Answer]:
    """`Parallel` over the process's threads, the caller's among them.

    Each thread takes one call after the other, since to hand each over by itself costs CPU. After a
    failure no more calls are begun; it is raised when those in flight are over.
    """
    todo = list(arguments)
    answers: dict[int, Answer] = {}
    places = iter(range(len(todo)))

    def work() -> None:
        try:
            for at in places:
                answers[at] = call(todo[at])
        finally:
            # Nothing is left, but after a failure.
            deque(places, maxlen=0)

    others = [_threads().submit(work) for _ in range(min(THREADS, len(todo)) - 1)]
    try:
        work()
    finally:
        # One that no thread has come to yet has nothing left to do.
        begun = [other for other in others if not other.cancel()]
        wait(begun)
    for other in begun:
        other.result()
    return [answers[at] for at in range(len(todo))]


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(THREADS)


@cache
def settings_here() -> Settings:
    """What the environment says."""
    return Settings.from_environment(os.environ)


def counted(client: "DynamoDBClient", meter: Meter = METER) -> "DynamoDBClient":
    """The client, with the units of its requests counted."""
    from minutero.aws.consumed_units import count_units

    count_units(client, meter)
    return client


def bound_tables(
    settings: Settings, client: "DynamoDBClient", once: "DynamoDBClient | None" = None
) -> "Tables":
    """The models, bound to the tables that the settings name. `once` as in `aws.tables.Tables`."""
    from minutero.aws.tables import TableNames, bind

    return bind(
        client,
        TableNames(
            settings.tasks_table,
            settings.runs_table,
            settings.cursors_table,
            settings.schedules_table,
        ),
        once,
    )
