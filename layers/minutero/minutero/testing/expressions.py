"""DynamoDB's condition and update expressions over plain items.

The language: https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.html
Not known here: reserved words, which DynamoDB refuses where they stand without a `#` before them.
"""

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from minutero.errors import InvalidInput
from minutero.testing.attribute_path import MISSING, Path, kind_of, look, remove, store

TOKEN = re.compile(r"\s*(<>|<=|>=|[=<>(),+\-]|\[\d+\]|\.|[#:]?\w+)")
COMPARES: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
CLAUSES = ("SET", "REMOVE", "ADD", "DELETE")


class Expressions:
    """The expressions of one write, with their placeholders."""

    def __init__(self, names: Mapping[str, str], values: Mapping[str, Any]) -> None:
        self._names = names
        self._values = values
        self._used: set[str] = set()
        self._tokens: list[str] = []
        self._item: Mapping[str, Any] = {}

    def holds(self, condition: str, item: Mapping[str, Any]) -> bool:
        """Whether an item ({}: none) fulfils a condition. Raises InvalidInput for one that is malformed."""
        self._begin(condition, item)
        held = self._either()
        self._end(condition)
        return held

    def updated(self, update: str, item: Mapping[str, Any]) -> dict[str, Any]:
        """A changed copy of an item; all values are taken from the item as it was. Raises InvalidInput."""
        self._begin(update, item)
        after = dict(item)
        while self._tokens:
            clause = self._next().upper()
            if clause not in CLAUSES:
                raise malformed(f"{clause} begins no clause of {update!r}")
            self._change(clause, after)
            while self._took(","):
                self._change(clause, after)
        return after

    def check_used(self) -> None:
        """DynamoDB refuses placeholders that no expression uses."""
        if unused := {*self._names, *self._values} - self._used:
            raise malformed(f"no expression uses {', '.join(sorted(unused))}")

    # --- tokens

    def _begin(self, text: str, item: Mapping[str, Any]) -> None:
        self._item = item
        self._tokens, at = [], 0
        while text[at:].strip():
            found = TOKEN.match(text, at)
            if found is None:
                raise malformed(f"{text!r} cannot be read from {text[at:]!r} on")
            self._tokens.append(found[1])
            at = found.end()

    def _end(self, text: str) -> None:
        if self._tokens:
            raise malformed(f"{text!r} ends before {self._tokens[0]!r}")

    def _next(self) -> str:
        if not self._tokens:
            raise malformed("an expression ends too soon")
        return self._tokens.pop(0)

    def _took(self, *wanted: str) -> bool:
        if self._tokens and self._tokens[0].upper() in wanted:
            self._tokens.pop(0)
            return True
        return False

    def _want(self, token: str) -> None:
        if not self._took(token):
            raise malformed(f"{token} is missing")

    # --- conditions

    def _either(self) -> bool:
        held = self._both()
        while self._took("OR"):
            held = self._both() or held
        return held

    def _both(self) -> bool:
        held = self._unless()
        while self._took("AND"):
            held = self._unless() and held
        return held

    def _unless(self) -> bool:
        if self._took("NOT"):
            return not self._unless()
        if self._took("("):
            held = self._either()
            self._want(")")
            return held
        if len(self._tokens) > 1 and self._tokens[1] == "(" and self._tokens[0].lower() != "size":
            return self._function(self._next().lower())
        return self._compared(self._operand())

    def _function(self, name: str) -> bool:
        self._want("(")
        value = look(self._item, self._path())
        if name in ("attribute_exists", "attribute_not_exists"):
            self._want(")")
            return (value is MISSING) == (name == "attribute_not_exists")
        self._want(",")
        other = self._operand()
        self._want(")")
        match name:
            case "attribute_type":
                return bool(kind_of(value) == other)
            case "begins_with":
                return kind_of(value) == kind_of(other) == "S" and value.startswith(other)
            case "contains":
                return kind_of(value) in ("S", "L", "SS", "NS", "BS") and other in value
        raise malformed(f"{name} is no function of conditions")

    def _compared(self, left: Any) -> bool:
        if self._took("BETWEEN"):
            low = self._operand()
            self._want("AND")
            high = self._operand()
            return _ordered("<=", low, left) and _ordered("<=", left, high)
        if self._took("IN"):
            self._want("(")
            members = [self._operand()]
            while self._took(","):
                members.append(self._operand())
            self._want(")")
            return any(_same(left, one) for one in members)
        sign = self._next()
        right = self._operand()
        if sign in ("=", "<>"):
            return _same(left, right) == (sign == "=")
        if sign not in COMPARES:
            raise malformed(f"{sign!r} compares nothing")
        return _ordered(sign, left, right)

    # --- operands

    def _operand(self) -> Any:
        """The value of a placeholder, a path, or the size of one."""
        if self._tokens[:2] and self._tokens[0].lower() == "size" and self._tokens[1:2] == ["("]:
            self._next()
            self._want("(")
            value = look(self._item, self._path())
            self._want(")")
            return MISSING if kind_of(value) in ("", "N", "BOOL", "NULL") else len(value)
        if self._tokens and self._tokens[0][0] == ":":
            return self._value()
        return look(self._item, self._path())

    def _value(self) -> Any:
        name = self._next()
        if name not in self._values:
            raise malformed(f"{name} has no value")
        self._used.add(name)
        return self._values[name]

    def _path(self) -> Path:
        path: list[str | int] = [self._name()]
        while self._tokens and (self._tokens[0] == "." or self._tokens[0][0] == "["):
            step = self._next()
            path.append(self._name() if step == "." else int(step[1:-1]))
        return path

    def _name(self) -> str:
        token = self._next()
        if token[0] == "#":
            self._used.add(token)
            if token not in self._names:
                raise malformed(f"{token} has no name")
            return self._names[token]
        if not token[0].isalpha() and token[0] != "_":
            raise malformed(f"{token!r} is no name of an attribute")
        return token

    # --- updates

    def _change(self, clause: str, after: dict[str, Any]) -> None:
        path = self._path()
        if clause == "REMOVE":
            remove(after, path)
        elif clause == "SET":
            self._want("=")
            store(after, path, self._sum())
        else:
            before, value = look(self._item, path), self._value()
            left = _added(before, value) if clause == "ADD" else _taken(before, value)
            if left is MISSING:
                remove(after, path)
            else:
                store(after, path, left)

    def _sum(self) -> Any:
        value = self._term()
        for sign, works in (("+", operator.add), ("-", operator.sub)):
            if self._took(sign):
                other = self._term()
                if kind_of(value) != "N" or kind_of(other) != "N":
                    raise malformed(f"{sign} takes two numbers")
                return works(value, other)
        return value

    def _term(self) -> Any:
        name = self._tokens[0].lower() if self._tokens[1:2] == ["("] else ""
        if name not in ("if_not_exists", "list_append"):
            return _there(self._operand())
        self._next()
        self._want("(")
        first = self._term_or_nothing()
        self._want(",")
        second = self._term()
        self._want(")")
        if name == "if_not_exists":
            return second if first is MISSING else first
        return [*_there(first), *second]

    def _term_or_nothing(self) -> Any:
        return self._term() if self._tokens[1:2] == ["("] else self._operand()


def _there(value: Any) -> Any:
    if value is MISSING:
        raise malformed("an update takes the value of an attribute that is not there")
    return value


def _same(left: Any, right: Any) -> bool:
    return kind_of(left) == kind_of(right) != "" and left == right


def _ordered(sign: str, left: Any, right: Any) -> bool:
    return kind_of(left) == kind_of(right) in ("S", "N", "B") and COMPARES[sign](left, right)


def _added(before: Any, value: Any) -> Any:
    if before is MISSING and kind_of(value) in ("N", "SS", "NS", "BS"):
        return value
    if kind_of(before) == kind_of(value) == "N":
        return before + value
    if kind_of(before) == kind_of(value) in ("SS", "NS", "BS"):
        return before | value
    raise malformed("ADD takes a number to a number, or a set to a set")


def _taken(before: Any, value: Any) -> Any:
    if before is not MISSING and kind_of(before) != kind_of(value):
        raise malformed("DELETE takes a set from a set")
    return MISSING if before is MISSING or not before - value else before - value


def malformed(what: str) -> InvalidInput:
    """The refusal of an expression, as of everything that DynamoDB would never take."""
    return InvalidInput(
        "refused_writes", f"DynamoDB never takes these writes, and made none: {what}"
    )
