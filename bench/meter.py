"""Counts the requests of botocore's clients, and reckons what each is billed."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

from bench import units
from bench.units import IN_A_TRANSACTION, INDEXING

KEYS = {
    "tasks": ("bucket", "sk"),
    "schedules": ("partition", "name"),
    "cursors": ("shard",),
    "runs": ("id",),
}
"""Of each table, by what its name begins with."""

READS = {"GetItem", "BatchGetItem", "Query"}
NAMES = re.compile(r"[#:]\w+")
IN_QUOTES = re.compile(r'UPDATE "([^"]+)"')
MOST_READ = 100

Place = tuple[str, tuple[str, ...]]
"""A table's name and an item's key in it."""


class Meter:
    """Listens to a botocore session; `plain` is a DynamoDB client of another one.

    The size of an item is known from the last write to it, and asked for by `plain` after each. `counts` are
    sums by `phase`, which is set from outside, and by name; `told_write_units` is what the database says.
    `metrics` are the names of what the functions told CloudWatch.
    """

    def __init__(self, session: Any, plain: Any) -> None:
        self.phase = ""
        self.counts: Counter[tuple[str, str]] = Counter()
        self.metrics: set[str] = set()
        self._plain = plain
        self._sizes: dict[Place, int] = {}
        self._partitions: set[tuple[str, str]] = set()
        self._lock = Lock()
        session.register("before-parameter-build.dynamodb.*", self._ask)
        session.register("before-parameter-build.sqs.*", self._keep)
        session.register("after-call.dynamodb.*", self._of_dynamodb)
        session.register("after-call.sqs.*", self._of_sqs)

    def total(self, name: str, *phases: str) -> float:
        """Of these phases, or of all."""
        return sum(
            count
            for (phase, one), count in self.counts.items()
            if one == name and (phase in phases or not phases)
        )

    def stored_bytes(self, table: str) -> int:
        """What lies in a table, by what its name begins with."""
        of_it = (size for (name, _), size in self._sizes.items() if name.startswith(table))
        return sum(size + INDEXING for size in of_it if size)

    def add(self, name: str, count: float) -> None:
        """Counts something else under the phase."""
        with self._lock:
            self.counts[self.phase, name] += count  # type: ignore[assignment]  # units may be halves

    def _ask(self, params: dict[str, Any], model: Any, context: dict[str, Any], **_: Any) -> None:
        if "ReturnConsumedCapacity" in model.input_shape.members:
            params["ReturnConsumedCapacity"] = "TOTAL"
        context["bench"] = params

    def _keep(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["bench"] = params

    def _of_sqs(self, parsed: Any, model: Any, context: dict[str, Any], **_: Any) -> None:
        params = context["bench"]
        sent = params.get("Entries", [params])
        texts = [one.get("MessageBody", "") for one in sent]
        texts += [one["Body"] for one in parsed.get("Messages", ())]
        self.add("sqs_requests", units.sqs_requests(texts))
        self.add(model.name, 1)

    def _of_dynamodb(
        self, http_response: Any, parsed: Any, model: Any, context: dict[str, Any], **_: Any
    ) -> None:
        params = context["bench"]
        self.add("dynamodb_requests", 1)
        self.add(model.name, 1)
        if model.name in READS:
            self.add("read_units", self._read(model.name, params))
            return
        each = IN_A_TRANSACTION if model.name == "TransactWriteItems" else 1
        written = dict(_written(model.name, params))
        places = list(written)
        before = [self._sizes.get(place, 0) for place in places]
        after = [units.item_size(item) for item in written.values() if item is not None]
        if http_response.status_code != 200 or len(after) < len(places):
            after = self._look(places)
        self._sizes.update(zip(places, after, strict=True))
        self._partitions |= {(table, key[0]) for table, key in places}
        self.add("write_units", each * sum(map(units.write_units, before, after)))
        told = parsed.get("ConsumedCapacity") or []
        told = [told] if isinstance(told, dict) else told
        self.add("told_write_units", sum(one["CapacityUnits"] for one in told))

    def _read(self, operation: str, params: Any) -> float:
        if operation == "Query":
            sizes = [units.item_size(item) for item in self._scanned(params)]
            return units.query_units(sizes, consistent=params.get("ConsistentRead", False))
        asked = (
            {params["TableName"]: {**params, "Keys": [params["Key"]]}}
            if "Key" in params
            else params["RequestItems"]
        )
        total = 0.0
        for table, one in asked.items():
            sizes = [self._sizes.get(_place(table, key), 0) for key in one["Keys"]]
            total += units.read_units(sizes, consistent=one.get("ConsistentRead", False))
        return total

    def _scanned(self, params: Mapping[str, Any]) -> Sequence[units.Item]:
        """What the query looked at: the same without its filter and its projection."""
        values = params["ExpressionAttributeValues"].values()
        if not any((params["TableName"], one.get("S")) in self._partitions for one in values):
            return []
        condition = params["KeyConditionExpression"]
        used = set(NAMES.findall(condition))
        kept = {
            name: params[name]
            for name in (
                "TableName",
                "KeyConditionExpression",
                "ConsistentRead",
                "Limit",
                "ExclusiveStartKey",
            )
            if name in params
        }
        for part in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
            if found := {
                name: value for name, value in params.get(part, {}).items() if name in used
            }:
                kept[part] = found
        items: Sequence[units.Item] = self._plain.query(**kept)["Items"]
        return items

    def _look(self, places: Sequence[Place]) -> list[int]:
        """The sizes of items as they lie there now."""
        found: dict[Place, int] = {}
        for start in range(0, len(places), MOST_READ):
            asked: dict[str, Any] = {}
            for table, key in places[start : start + MOST_READ]:
                attributes = {
                    name: {"S": text} for name, text in zip(_key_of(table), key, strict=True)
                }
                asked.setdefault(table, {"Keys": [], "ConsistentRead": True})["Keys"].append(
                    attributes
                )
            answer = self._plain.batch_get_item(RequestItems=asked)
            for table, items in answer["Responses"].items():
                found |= {_place(table, item): units.item_size(item) for item in items}
        return [found.get(place, 0) for place in places]


def _written(operation: str, params: Any) -> Iterator[tuple[Place, units.Item | None]]:
    """Each item that is written: where it lies, and itself if the request has the whole of it."""
    match operation:
        case "BatchWriteItem":
            for table, requests in params["RequestItems"].items():
                for request in requests:
                    item = request["PutRequest"]["Item"]
                    yield _place(table, item), item
        case "TransactWriteItems":
            for entry in params["TransactItems"]:
                ((_, one),) = entry.items()
                yield _place(one["TableName"], one.get("Key") or one["Item"]), one.get("Item")
        case "BatchExecuteStatement":
            for statement in params["Statements"]:
                yield _place_of_update(statement), None
        case _:
            item = params.get("Item")
            yield _place(params["TableName"], params.get("Key") or item), item


def _place_of_update(statement: Mapping[str, Any]) -> Place:
    """An UPDATE in PartiQL names its key in its WHERE, and its values by question marks."""
    text = statement["Statement"]
    (table,) = IN_QUOTES.findall(text)
    at = [text[: text.index(f'"{name}" = ?')].count("?") for name in _key_of(table)]
    return table, tuple(statement["Parameters"][one]["S"] for one in at)


def _place(table: str, item: units.Item) -> Place:
    return table, tuple(str(item[name]["S"]) for name in _key_of(table))


def _key_of(table: str) -> tuple[str, ...]:
    return KEYS[table.partition("-")[0]]
