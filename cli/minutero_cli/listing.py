"""Lists of the API, page by page, printed as the pages come."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from minutero.domain.instants import DAY, format_instant
from minutero_cli.api_client import Answer, ApiError, path_of
from minutero_cli.columns import Columns
from minutero_cli.terminal import at_terminal, printable_json

PAGE_LIMIT = 500
"""The most the API gives at once."""

Entry = dict[str, Any]


class Reads(Protocol):
    """The part of the API that lists are read by."""

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Answer: ...


def days(start: int, end: int) -> Iterator[tuple[str, str]]:
    """Cut a range into what the API takes at once, 24 hours."""
    for first in range(start, end, DAY):
        yield format_instant(first), format_instant(min(first + DAY, end))


def pages(
    api: Reads, name: str, queries: Iterable[Mapping[str, Any]], limit: int | None = None
) -> Iterator[list[Entry]]:
    """Yield each page of `GET /<name>` for one query after another, `limit` entries in all.

    A page may be empty, and the first one is always there. Raises ApiError.
    """
    left = sys.maxsize if limit is None else limit
    for query in queries:
        token = None
        while left:
            asked = {**query, "limit": min(left, PAGE_LIMIT), "next_token": token}
            body = api.get(path_of(name), asked).body
            page = body.get(name)
            if not isinstance(page, list):
                raise ApiError(f"the answer to GET {path_of(name)} has no list {name!r}")
            yield page
            left -= min(left, len(page))
            token = body.get("next_token")
            if token is None:
                break


def print_pages(
    found: Iterable[list[Entry]], columns: Columns, row: Callable[[Entry], Sequence[str]]
) -> None:
    """Print each entry as a row; at a terminal also how many there are."""
    count = 0
    for page in found:
        columns.print([row(entry) for entry in page])
        sys.stdout.flush()
        count += len(page)
    if at_terminal():
        print(f"{count} in all" if count else "none")


def print_pages_json(found: Iterable[list[Entry]], name: str) -> None:
    """Print all pages as one document of the API's shape, an entry a line."""
    before = f'{{"{name}": ['
    for page in found:  # a refusal of the first page leaves nothing printed
        for entry in page:
            print(before, printable_json(json.dumps(entry)), sep="\n", end="")
            before = ","
        sys.stdout.flush()
    print("" if before == "," else before, '], "next_token": null}', sep="")
