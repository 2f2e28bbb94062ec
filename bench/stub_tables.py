"""What the stub server holds: items by their keys, and what each of DynamoDB's operations makes of them."""

import re
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from minutero.domain.attribute_values import from_item, to_item
from minutero.testing.expressions import Expressions

Item = dict[str, dict[str, Any]]
Request = dict[str, Any]
Answer = dict[str, Any]

KEYS = {
    "Tasks": ("bucket", "sk"),
    "Schedules": ("partition", "name"),
    "Cursors": ("shard",),
    "Runs": ("id",),
}
"""The tables there are, and the names of their keys: all of them text."""

LAST = "\U0010ffff"
COMPARED = re.compile(r""""(\w+)" = (?:(\?)|'([^']*)'|(\d+))""")
REFUSED = "The conditional request failed"


class Refused(Exception):
    """An answer that is no 200: the name of the error, and what goes along with it."""

    def __init__(self, name: str, **more: Any) -> None:
        super().__init__(name)
        self.answer = {"__type": f"com.amazonaws.dynamodb.v20120810#{name}", **more}


class Table:
    """Items by their partition and, within it, in the order of their sort keys ("" where there is none)."""

    def __init__(self, key_names: Sequence[str]) -> None:
        self._key_names = key_names
        self._partitions: dict[str, tuple[list[str], dict[str, Item]]] = {}

    def get(self, key: Item) -> Item | None:
        partition, sort = self._key(key)
        _, items = self._partitions.get(partition, ((), {}))
        return items.get(sort)

    def put(self, key: Item, item: Item | None) -> None:
        """Stores an item, or (None) that there is none."""
        partition, sort = self._key(key)
        order, items = self._partitions.setdefault(partition, ([], {}))
        if item is None:
            if items.pop(sort, None) is not None:
                del order[bisect_left(order, sort)]
            return
        if sort not in items:
            insort(order, sort)
        items[sort] = item

    def look(self, partition: str, low: str, high: str, most: int) -> list[Item]:
        """The first `most` items of a partition from `low` to `high`, both included."""
        order, items = self._partitions.get(partition, ([], {}))
        first, end = bisect_left(order, low), bisect_right(order, high)
        return [items[sort] for sort in order[first : min(end, first + most)]]

    def key_of(self, item: Item) -> Item:
        return {name: item[name] for name in self._key_names}

    def sort_of(self, key: Item) -> str:
        return self._key(key)[1]

    def _key(self, key: Item) -> tuple[str, str]:
        partition, *sort = (str(key[name]["S"]) for name in self._key_names)
        return partition, sort[0] if sort else ""


class Tables:
    """DynamoDB's operations, as methods named like them: what the request says -> what the answer says."""

    def __init__(self) -> None:
        self._tables = {name: Table(keys) for name, keys in KEYS.items()}

    def get_item(self, request: Request) -> Answer:
        item = self._tables[request["TableName"]].get(request["Key"])
        return {} if item is None else {"Item": _projected(request, item)}

    def put_item(self, request: Request) -> Answer:
        return self._write("Put", request)

    def update_item(self, request: Request) -> Answer:
        return self._write("Update", request)

    def delete_item(self, request: Request) -> Answer:
        return self._write("Delete", request)

    def batch_get_item(self, request: Request) -> Answer:
        found = {
            name: [
                _projected(asked, item)
                for key in asked["Keys"]
                if (item := self._tables[name].get(key)) is not None
            ]
            for name, asked in request["RequestItems"].items()
        }
        return {"Responses": found, "UnprocessedKeys": {}}

    def batch_write_item(self, request: Request) -> Answer:
        for name, entries in request["RequestItems"].items():
            table = self._tables[name]
            for entry in entries:
                if "PutRequest" in entry:
                    item = entry["PutRequest"]["Item"]
                    table.put(table.key_of(item), item)
                else:
                    table.put(entry["DeleteRequest"]["Key"], None)
        return {"UnprocessedItems": {}}

    def transact_write_items(self, request: Request) -> Answer:
        writes = [next(iter(entry.items())) for entry in request["TransactItems"]]
        planned = [self._planned(kind, said) for kind, said in writes]
        if not all(holds for holds, *_ in planned):
            reasons = [
                {"Code": "None"} if holds else {"Code": "ConditionalCheckFailed", "Item": item}
                for holds, _, item, _ in planned
            ]
            raise Refused("TransactionCanceledException", CancellationReasons=reasons)
        for (_, said), (_, key, _, after) in zip(writes, planned, strict=True):
            self._tables[said["TableName"]].put(key, after)
        return {}

    def batch_execute_statement(self, request: Request) -> Answer:
        return {"Responses": [self._execute(one) for one in request["Statements"]]}

    def query(self, request: Request) -> Answer:
        table = self._tables[request["TableName"]]
        partition, low, high = _key_condition(request)
        start = request.get("ExclusiveStartKey")
        if start is not None:
            low = max(low, table.sort_of(start) + "\0")
        most = request.get("Limit", 1_000)
        looked_at = table.look(partition, low, high, most)
        passes = _Filter(request)
        found = [_projected(request, item) for item in looked_at if passes(item)]
        answer = {"Items": found, "Count": len(found), "ScannedCount": len(looked_at)}
        # DynamoDB says so too when nothing follows: it has not looked.
        more = {"LastEvaluatedKey": table.key_of(looked_at[-1])} if len(looked_at) == most else {}
        return {**answer, **more}

    def _write(self, kind: str, request: Request) -> Answer:
        holds, key, before, after = self._planned(kind, request)
        if not holds:
            shown = {"Item": before} if before else {}
            raise Refused("ConditionalCheckFailedException", message=REFUSED, **shown)
        self._tables[request["TableName"]].put(key, after)
        wanted = {"ALL_NEW": after, "ALL_OLD": before}.get(request.get("ReturnValues", "NONE"))
        return {"Attributes": wanted} if wanted else {}

    def _planned(self, kind: str, said: Request) -> tuple[bool, Item, Item, Item | None]:
        """(the condition holds, the key, the item before, the item after)."""
        table = self._tables[said["TableName"]]
        key = table.key_of(said["Item"]) if kind == "Put" else said["Key"]
        before = table.get(key) or {}
        expressions = _expressions(said)
        condition = said.get("ConditionExpression")
        holds = condition is None or expressions.holds(condition, from_item(before))
        after: Item | None = before or None
        if kind == "Put":
            after = said["Item"]
        elif kind == "Update":
            plain = from_item(before or key)
            after = to_item(expressions.updated(said["UpdateExpression"], plain))
        elif kind == "Delete":
            after = None
        return holds, key, before, after

    def _execute(self, statement: Request) -> Answer:
        """An UPDATE that sets and compares whole attributes, by `=`: with parameters, texts or numbers."""
        values = iter(statement["Parameters"])
        update, _, conditions = statement["Statement"].partition(" WHERE ")
        _, name, changes = update.split('"', 2)
        changed, wanted = _compared(changes, values), _compared(conditions, values)
        table = self._tables[name]
        key = table.key_of(wanted)
        item = table.get(key)
        if item is None or any(item.get(name) != value for name, value in wanted.items()):
            error = {"Code": "ConditionalCheckFailed", "Message": REFUSED}
            return {"TableName": name, "Error": {**error, **({"Item": item} if item else {})}}
        table.put(key, {**item, **changed})
        return {"TableName": name}


def _compared(text: str, values: Iterator[dict[str, Any]]) -> Item:
    """The attributes that a part of a statement names, and what they are compared with or set to."""
    return {
        name: next(values) if parameter else {"N": number} if number else {"S": quoted}
        for name, parameter, quoted, number in COMPARED.findall(text)
    }


class _Filter:
    """A filter over a page. It is asked once for items that are alike in what it names."""

    def __init__(self, request: Request) -> None:
        self._text = request.get("FilterExpression", "")
        names: Mapping[str, str] = request.get("ExpressionAttributeNames", {})
        self._named = [names[mark] for mark in re.findall(r"#\w+", self._text)]
        self._expressions = _expressions(request)
        self._known: dict[str, bool] = {}

    def __call__(self, item: Item) -> bool:
        if not self._text:
            return True
        part = {name: item[name] for name in self._named if name in item}
        alike = repr(part)
        if alike not in self._known:
            self._known[alike] = self._expressions.holds(self._text, from_item(part))
        return self._known[alike]


def _expressions(said: Request) -> Expressions:
    values = from_item(said.get("ExpressionAttributeValues", {}))
    return Expressions(said.get("ExpressionAttributeNames", {}), values)


def _key_condition(request: Request) -> tuple[str, str, str]:
    """(partition, first sort key, last sort key): `=` on the partition, and a range or a prefix after it."""
    text = request["KeyConditionExpression"]
    values = request["ExpressionAttributeValues"]
    partition, *bounds = (values[mark]["S"] for mark in re.findall(r":\w+", text))
    if "BETWEEN" in text:
        return partition, bounds[0], bounds[1]
    if "begins_with" in text:
        return partition, bounds[0], bounds[0] + LAST
    if ">" in text:
        return partition, bounds[0] + "\0", LAST
    return partition, "", LAST


def _projected(request: Request, item: Item) -> Item:
    text = request.get("ProjectionExpression")
    if text is None:
        return item
    names = request.get("ExpressionAttributeNames", {})
    wanted = (names.get(mark, mark) for mark in re.split(r"\s*,\s*", text))
    return {name: item[name] for name in wanted if name in item}
