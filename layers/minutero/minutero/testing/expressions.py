"""DynamoDB's condition and update expressions over plain items."""

import operator
from collections.abc import Mapping
from typing import Any

from minutero.testing.attribute_path import MISSING, kind_of, look, remove, store
from minutero.testing.conditions import Conditions
from minutero.testing.operands import malformed

CLAUSES = ("SET", "REMOVE", "ADD", "DELETE")


class Expressions(Conditions):
    """The expressions of one write, with their placeholders: conditions and updates."""

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
